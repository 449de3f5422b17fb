#include "check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "frontends/language.hpp"
#include "run.hpp"
#include "smelt/error.hpp"

namespace smelt::testing {

namespace {
constexpr unsigned char kGuard = 0xA5;
constexpr size_t kGuardBytes = 256;
}  // namespace

Guarded::Guarded(DType dtype, const Dims& dims, int offset) {
  view_.dtype = dtype;
  view_.dims = dims;
  view_.strides = contiguous_strides(dims);
  bytes_.assign(static_cast<size_t>(view_.bytes()) + 2 * kGuardBytes + 256, kGuard);
  auto address = reinterpret_cast<uintptr_t>(bytes_.data()) + kGuardBytes;
  address = (address + 63) / 64 * 64 + static_cast<uintptr_t>(offset * size_of(dtype));
  view_.data = reinterpret_cast<void*>(address);
}

bool Guarded::intact() const {
  const auto* begin = static_cast<const unsigned char*>(view_.data);
  const unsigned char* end = begin + view_.bytes();
  for (const unsigned char& byte : bytes_)
    if ((&byte < begin || &byte >= end) && byte != kGuard) return false;
  return true;
}

namespace {

// Memory of the GPU that holds `bytes` from the host, so that what is `aligned_at` bytes in is
// `offset` bytes past an aligned address.
struct OnDevice {
  Tensor block;
  char* data = nullptr;

  OnDevice(const Machine& device, const char* from, int64_t bytes, int64_t aligned_at, int64_t offset)
      : block(device_empty(device, DType::U8, {bytes + 512})) {
    data = static_cast<char*>(block.data) + (256 - aligned_at % 256) % 256 + offset;
    device.gpu->upload(reinterpret_cast<uint64_t>(data), from, bytes, device.gpu->stream());
  }
};

}  // namespace

void run_guarded(const Executable& executable, const std::vector<TensorView>& inputs,
                 const std::vector<Guarded>& outputs) {
  std::vector<TensorView> targets;
  for (const Guarded& output : outputs) targets.push_back(output.view());
  const Machine& device = executable.device();
  if (!device.gpu) return executable.run_into(inputs, targets);
  std::vector<OnDevice> memory;
  std::vector<TensorView> there, views;
  for (size_t i = 0; i < inputs.size(); ++i) {
    there.push_back(inputs[i]);
    if (inputs[i].dims.empty()) continue;
    const Tensor copy = contiguous_copy(inputs[i]);
    memory.emplace_back(device, static_cast<const char*>(copy.data), copy.bytes(), 0,
                        static_cast<int64_t>((i + outputs.size()) % 2) * size_of(copy.dtype));
    there.back().data = memory.back().data;
    there.back().strides = copy.strides;
  }
  const size_t first = memory.size();
  const auto in_place = [&](const TensorView& input, size_t o) {
    return input.count() > 0 && !input.dims.empty() && input.data == targets[o].data;
  };
  for (const TensorView& target : targets) {
    const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(target.data) % 64);
    memory.emplace_back(device, static_cast<const char*>(target.data) - Guarded::kAround,
                        target.bytes() + 2 * Guarded::kAround, Guarded::kAround, offset);
    views.push_back(target);
    views.back().data = memory.back().data + Guarded::kAround;
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t o = 0; o < targets.size(); ++o)
      if (in_place(inputs[i], o)) there[i] = views[o];
  const BoundCall call = executable.bind(there, views);
  call.run();
  call.synchronize();
  for (size_t o = 0; o < targets.size(); ++o)
    device.gpu->download(static_cast<char*>(targets[o].data) - Guarded::kAround,
                         reinterpret_cast<uint64_t>(memory[first + o].data), targets[o].bytes() + 2 * Guarded::kAround,
                         device.gpu->stream());
}

std::string differences(const TensorView& got, const Bounded& expected, Coverage* coverage) {
  for (int64_t i = 0, n = got.count(); i < n; ++i) {
    const double allowed = expected.error[static_cast<size_t>(i)];
    if (coverage) {
      ++coverage->elements;
      coverage->exact += allowed == 0;
      coverage->undecidable += std::isinf(allowed);
    }
    if (!expected.decided(i)) continue;
    const Scalar g = load_scalar(got.dtype, static_cast<const char*>(got.data) + i * size_of(got.dtype));
    bool same = expected.allows(i, g);
    // A bool is stored as 0 or 1.
    if (is_bool(got.dtype)) same = same && static_cast<const unsigned char*>(got.data)[i] <= 1;
    if (!same)
      return fmt::format("element {} of {}{} is {}, not {}{}\n", i, name_of(got.dtype), str(got.dims), g.str(),
                         expected.at(i).str(), allowed > 0 ? fmt::format(" within {:.3g}", allowed) : "");
  }
  return {};
}

std::string describe(const Program& program) {
  std::string text = fmt::format("seed {}\n{}", program.seed, program.text());
  for (const SizeBinding& sizes : program.sizes) {
    if (sizes.empty()) continue;
    text += "# with";
    for (const auto& [name, value] : sizes) text += fmt::format(" {}={}", name, value);
    text += "\n";
  }
  return text;
}

namespace {

// One way of compiling: for each of the program's sizes, runs and compares.
struct Way {
  bool fuse;
  int threads;
  plan::Tuning tuning = {};
  std::string text() const {
    const std::string tuned = tuning == plan::Tuning{} ? "" : ", tuned " + schedule::text_of(tuning);
    return fmt::format("{}, {} threads{}", fuse ? "fused" : "unfused", threads, tuned);
  }
};

// Puts as many outputs as may be in place of inputs there: `views` then are those outputs, which
// hold the inputs. Returns whether there are any.
bool put_in_place(const Executable& executable, std::vector<TensorView>& views,
                  const std::vector<TensorView>& outputs) {
  std::set<size_t> inputs, taken;
  for (const InPlaceArrays& p : executable.in_place()) {
    if (views[p.input].count() == 0 || inputs.count(p.input) || !taken.insert(p.output).second) continue;
    inputs.insert(p.input);
    const Tensor copy = contiguous_copy(views[p.input]);
    std::memcpy(outputs[p.output].data, copy.data, static_cast<size_t>(copy.bytes()));
    views[p.input] = outputs[p.output];
  }
  return !inputs.empty();
}

// Every output of every call with one number of threads, which any other
// makes.
using Results = std::map<std::pair<size_t, size_t>, Tensor>;

// But for the payload of a NaN.
bool same_bits(const Tensor& a, const Tensor& b) {
  const auto size = static_cast<size_t>(size_of(a.dtype));
  for (size_t i = 0; i < static_cast<size_t>(a.count()); ++i) {
    const char* const x = static_cast<const char*>(a.data) + i * size;
    const char* const y = static_cast<const char*>(b.data) + i * size;
    if (std::memcmp(x, y, size) == 0) continue;
    if (!std::isnan(load_scalar(a.dtype, x).as_double()) || !std::isnan(load_scalar(b.dtype, y).as_double()))
      return false;
  }
  return true;
}

// Other schedules than a CPU's own choice, of every kind that it has.
plan::Tuning any_tuning(uint64_t seed) {
  const plan::Tuning all[] = {{.merged = true},
                              {.turned = true},
                              {.split = true},
                              {.lanes = 4},
                              {.tile = 32},
                              {.lanes = 8, .merged = true},
                              {.turned = true, .split = true},
                              {.lanes = 64},
                              {.tile = 256},
                              {.lanes = 32, .turned = true},
                              {.unroll = 16, .tile = 64},
                              {.lanes = 16, .tile = 128, .split = true}};
  return all[seed % std::size(all)];
}

std::string check_way(const Program& program, const Graph& graph, const Machine& device, const Way& way,
                      const std::vector<std::vector<Tensor>>& inputs, const std::vector<std::vector<Bounded>>& expected,
                      const std::vector<std::string>& errors, Coverage* coverage, Results* results = nullptr) {
  CompileOptions options;
  options.fuse = way.fuse;
  options.threads = way.threads;
  options.tuning = way.tuning;
  // Estimates at hand may be those of a call, or none.
  if (program.seed % 2) options.sizes = program.sizes[0];
  const Executable executable = compile(graph, device, options);
  if (coverage && executable.compile_ms() / static_cast<double>(executable.kernels().size()) > coverage->slowest_ms) {
    coverage->slowest_ms = executable.compile_ms() / static_cast<double>(executable.kernels().size());
    coverage->slowest = program.seed;
  }
  if (coverage) coverage->kernels += static_cast<int64_t>(executable.kernels().size());
  for (const kernel::Kernel& k : executable.kernels()) {
    if (!k.undone.empty())
      return fmt::format("{} could not be proved and was undone\n{}", k.undone[0], kernel::print(k));
    if (k.clamped && coverage) ++coverage->clamped;
    if (k.clamped && std::getenv("SMELT_SHOW_CLAMPED")) fmt::print("{}{}", program.text(), kernel::print(k));
  }
  for (size_t call = 0; call < program.sizes.size(); ++call) {
    std::vector<TensorView> views(inputs[call].begin(), inputs[call].end());
    std::vector<Guarded> memory;
    std::vector<TensorView> outputs;
    std::string error;
    try {
      const std::vector<Dims> dims = executable.output_dims(views);
      for (size_t o = 0; o < dims.size(); ++o)
        memory.emplace_back(graph.at(graph.outputs[o]).dtype, dims[o], static_cast<int>((program.seed + o) % 2));
      for (const Guarded& m : memory) outputs.push_back(m.view());
      run_guarded(executable, views, memory);
      if (coverage) ++coverage->runs;
    } catch (const UserError& e) {
      error = e.what();
    }
    const std::string where = fmt::format("call {} {}: ", call, way.text());
    if (error.empty() != errors[call].empty())
      return fmt::format("{}the reference says '{}', the executable '{}'\n", where, errors[call], error);
    if (!error.empty()) continue;
    const auto complaint = [&]() -> std::string {
      if (const std::string fault = fault_of_device(); !fault.empty()) return fault + "\n";
      for (size_t o = 0; o < outputs.size(); ++o) {
        const std::string difference = differences(outputs[o], expected[call][o], coverage);
        if (!difference.empty()) return fmt::format("output {}: {}", o, difference);
        if (!memory[o].intact()) return fmt::format("output {}: bytes around it were written\n", o);
        if (!results) continue;
        const auto [known, first] = results->try_emplace({call, o}, contiguous_copy(outputs[o]));
        if (!first && !same_bits(contiguous_copy(outputs[o]), known->second))
          return fmt::format("output {}: other bits than by fewer threads\n", o);
      }
      return {};
    };
    if (const std::string found = complaint(); !found.empty()) return where + found;
    if (!put_in_place(executable, views, outputs)) continue;
    run_guarded(executable, views, memory);
    if (coverage) ++coverage->in_place;
    if (const std::string found = complaint(); !found.empty()) return where + "in place: " + found;
  }
  return {};
}

}  // namespace

std::string check(const Program& program, const Machine& device, Coverage* coverage) {
  try {
    const Graph graph = lang::parse_program(program.text(), "random.smelt");
    std::vector<std::vector<Tensor>> inputs;
    std::vector<std::vector<Bounded>> expected;
    std::vector<std::string> errors;
    for (const SizeBinding& sizes : program.sizes) {
      inputs.push_back(random_inputs(program, graph, sizes));
      expected.emplace_back();
      errors.emplace_back();
      try {
        expected.back() = interpret_bounded(graph, {inputs.back().begin(), inputs.back().end()}, device.is_gpu);
      } catch (const UserError& e) {
        errors.back() = e.what();
      }
    }
    Results results;
    const bool again = program.seed % 4 == 1 && !device.is_gpu;  // with other threads
    std::string complaint = check_way(program, graph, device, {true, 1 + static_cast<int>(program.seed % 3)}, inputs,
                                      expected, errors, coverage, again ? &results : nullptr);
    if (complaint.empty() && again)
      complaint = check_way(program, graph, device, {true, 16}, inputs, expected, errors, coverage, &results);
    if (complaint.empty() && program.seed % 4 == 0)
      complaint = check_way(program, graph, device, {false, 2}, inputs, expected, errors, coverage);
    if (complaint.empty() && program.seed % 4 == 2 && !device.is_gpu)
      complaint = check_way(program, graph, device, {true, 2, any_tuning(program.seed / 4)}, inputs, expected, errors,
                            coverage);
    return complaint;
  } catch (const std::exception& e) {
    return fmt::format("{}\n", e.what());
  }
}

std::string shrunk(const Program& program, const Machine& device) {
  Program best = program;
  // A single output, the earliest that fails.
  for (const Statement& s : program.statements) {
    if (s.defines()) continue;
    Program one = program;
    one.outputs = {s.name};
    if (!check(one, device).empty()) {
      best = one;
      break;
    }
  }
  // Then single size bindings, and every name replaced by an earlier one where that still fails.
  for (size_t call = 0; best.sizes.size() > 1 && call < best.sizes.size(); ++call) {
    Program one = best;
    one.sizes = {best.sizes[call]};
    if (!check(one, device).empty()) best = one;
  }
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t s = 0; s < best.statements.size() && !smaller; ++s) {
      const std::string name = best.statements[s].name;
      std::vector<std::string> others;
      for (const InputSpec& input : best.inputs) others.push_back(input.name);
      for (size_t p = 0; p < s; ++p) others.push_back(best.statements[p].name);
      for (const std::string& other : others) {
        Program next = best;
        next.statements.erase(next.statements.begin() + static_cast<long>(s));
        bool used = false;
        for (Statement& t : next.statements)
          for (size_t at = t.expression.find(name); at != std::string::npos; at = t.expression.find(name, at + 1)) {
            const size_t end = at + name.size();
            if (end < t.expression.size() && std::isdigit(static_cast<unsigned char>(t.expression[end]))) continue;
            t.expression.replace(at, name.size(), other);
            used = true;
          }
        if (!used || next.text().size() >= best.text().size()) continue;
        try {
          lang::parse_program(next.text(), "random.smelt");
        } catch (const UserError&) {
          continue;
        }
        if (check(next, device).empty()) continue;
        best = next;
        smaller = true;
        break;
      }
    }
  }
  return fmt::format("smaller:\n{}{}", describe(best), check(best, device));
}

}  // namespace smelt::testing
