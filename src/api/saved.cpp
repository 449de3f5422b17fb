#include "api/saved.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "graph/build_detail.hpp"
#include "graph/save.hpp"
#include "report/file.hpp"
#include "smelt/version.hpp"

namespace smelt::detail {

namespace {

constexpr std::string_view kMagic = "smelt-saved-2\n";
constexpr int64_t kMostBytes = int64_t{16} << 30;
constexpr size_t kFrame = kMagic.size() + 16;  // the magic, the length of the contents, the checksum after them

std::string framed(const std::string& contents) {
  ByteWriter length, sum;
  length.number(contents.size());
  std::string bytes = std::string(kMagic) + length.bytes() + contents;
  sum.number(checksum(bytes));
  return bytes + sum.bytes();
}

// The contents. Throws UserError.
std::string_view unframed(const std::string& path, std::string_view bytes) {
  const auto fail = [&](const std::string& why) {
    throw UserError(fmt::format("{} {}\nhelp: save the function again", path, why));
  };
  const std::string_view kind = kMagic.substr(0, kMagic.find_last_of('-') + 1);
  if (!bytes.starts_with(kind.substr(0, bytes.size()))) fail("is no saved function of smelt");
  if (bytes.size() < kFrame) fail("is cut short");
  if (!bytes.starts_with(kMagic))
    fail("has a form that this version of smelt (" + std::string(version()) + ") does not read");
  const uint64_t length = ByteReader(bytes.substr(kMagic.size())).word();
  if (length > bytes.size() - kFrame) fail("is cut short");
  if (length < bytes.size() - kFrame) fail("is damaged: it is longer than it says");
  if (ByteReader(bytes.substr(bytes.size() - 8)).word() != checksum(bytes.substr(0, bytes.size() - 8)))
    fail("is damaged: its checksum is wrong");
  return bytes.substr(kMagic.size() + 8, length);
}

void write(ByteWriter& out, const std::vector<InputType>& types) {
  out.list(types, [&](const InputType& type) {
    out.text(type.name);
    out.number(type.dtype);
    smelt::write(out, type.shape);
    out.number(type.weak);
    out.list(type.layout.order, [&](int axis) { out.number(axis); });
    out.list(type.layout.strides, [&](int64_t stride) { out.number(stride); });
  });
}

std::vector<InputType> read_types(ByteReader& in) {
  std::vector<InputType> types;
  in.list([&] {
    InputType type;
    type.name = in.text();
    type.dtype = in.one_of(DType::F64);
    type.shape = read_shape(in);
    type.weak = in.word() != 0;
    in.list([&] { type.layout.order.push_back(in.number<int>()); });
    in.list([&] { type.layout.strides.push_back(in.number<int64_t>()); });
    std::vector<int> axes = type.layout.order;
    std::sort(axes.begin(), axes.end());
    for (size_t d = 0; d < axes.size(); ++d)
      if (axes.size() != type.shape.size() || axes[d] != static_cast<int>(d)) throw DamagedBytes();
    types.push_back(std::move(type));
  });
  return types;
}

void write(ByteWriter& out, const Array& captured) {
  const Array rows = captured.to(Device::cpu()).copy();
  const Tensor& tensor = rows.node()->data()->tensor;
  out.number(tensor.dtype);
  out.list(tensor.dims, [&](int64_t size) { out.number(size); });
  out.text({static_cast<const char*>(tensor.data), static_cast<size_t>(tensor.bytes())});
}

Array read_captured(ByteReader& in) {
  const DType dtype = in.one_of(DType::F64);
  Dims dims;
  in.list([&] { dims.push_back(in.number<int64_t>()); });
  const std::string_view bytes = in.text();
  for (const int64_t size : dims)
    if (size < 0) throw DamagedBytes();
  if (element_count(dims) * size_of(dtype) != static_cast<int64_t>(bytes.size())) throw DamagedBytes();
  const Tensor tensor = Tensor::empty(dtype, dims);
  if (!bytes.empty()) std::memcpy(tensor.data, bytes.data(), bytes.size());
  return Array(make_node(Data{tensor, Device::cpu(), true}));
}

void write_program(ByteWriter& out, const Special& special, const std::string& graph) {
  out.text(graph);
  write(out, special.types);
  out.list(special.lists, [&](int count) { out.number(count); });
  out.list(special.captured, [&](const Array& array) { write(out, array); });
  out.list(special.number_uses, [&](const NumberUse& use) {
    out.number(use.argument);
    out.number(use.dtype);
  });
  smelt::write(out, special.sizes);
  smelt::write(out, special.short_sizes);
  out.list(special.not_short, [&](const auto& axis) {
    out.number(axis.first);
    out.number(axis.second);
  });
  out.text(special.facts.types);
  out.text(special.facts.exact);
  out.number(special.fuse);
  out.number(special.threads);
}

// The arguments that calls are checked for are those that the program has, and after them are the
// captured arrays.
void check_types(const Special& special, const std::vector<InputType>& types, const std::vector<Array>& captured) {
  const Graph& graph = special.program;
  if (types.size() + captured.size() != graph.inputs.size()) throw DamagedBytes();
  for (size_t i = 0; i < types.size(); ++i) {
    const smelt::Node& input = graph.at(graph.inputs[i]);
    const std::vector<int>& order = types[i].layout.order;
    bool same = input.dtype == types[i].dtype && input.shape.size() == types[i].shape.size() &&
                input.steps == types[i].layout.strides;
    for (size_t d = 0; same && d < input.shape.size(); ++d)
      same = input.shape[d] == types[i].shape[order.empty() ? d : static_cast<size_t>(order[d])];
    if (!same) throw DamagedBytes();
  }
  for (const Symbol symbol : graph.size_symbols())
    if (!special.sizes.count(symbol)) throw DamagedBytes();
}

}  // namespace

std::string bytes_of_function(const std::string& name, const std::vector<SpecialPtr>& specials, bool declared,
                              const std::vector<std::string>& targets, const std::vector<SavedParameter>& parameters,
                              int results) {
  std::vector<std::string> graphs;
  for (const SpecialPtr& special : specials) {
    ByteWriter bytes;
    smelt::write(bytes, special->program);
    graphs.push_back(bytes.bytes());
  }
  ByteWriter out;
  out.text(version());
  out.text(name);
  out.list(parameters, [&](const SavedParameter& parameter) {
    out.text(parameter.name);
    out.number(parameter.list);
  });
  out.number(results);
  out.number(declared);
  out.number(specials.size());
  for (size_t i = 0; i < specials.size(); ++i) write_program(out, *specials[i], graphs[i]);

  // One for each device that there are executables for, or those that were asked for, with all
  // programs.
  std::vector<std::string> names = targets;
  if (targets.empty())
    for (const SpecialPtr& special : specials)
      if (std::find(names.begin(), names.end(), special->device.name()) == names.end())
        names.push_back(special->device.name());
  out.number(names.size());
  for (const std::string& target : names) {
    const Machine* own = nullptr;
    if (targets.empty())
      for (const SpecialPtr& special : specials)
        if (special->device.name() == target) own = &special->executable.device();
    Saver saver(own ? *own : machine_for_target(target));
    std::vector<std::optional<Settled>> settled(specials.size());
    for (size_t i = 0; i < specials.size(); ++i) {
      const Special& special = *specials[i];
      const bool is_own = special.device.name() == target;
      if (targets.empty() && !is_own) continue;
      CompileOptions options;
      options.program = name;
      options.fuse = special.fuse;
      options.threads = special.threads;
      options.sizes = special.sizes;
      // As it will be read, so that what is made of it is what will be looked for.
      ByteReader bytes(graphs[i]);
      settled[i] = saver.add(read_graph(bytes), options,
                             is_own ? std::make_shared<const Settled>(special.executable.settled()) : nullptr);
    }
    smelt::write(out, saver.target(target));
    for (const auto& one : settled) {
      out.number(one.has_value());
      if (one) smelt::write(out, *one);
    }
  }
  return framed(out.bytes());
}

std::shared_ptr<const SavedFile> SavedFile::read(const std::string& path) {
  const std::string bytes = report::read_text(path, kMostBytes);
  auto file = std::make_shared<SavedFile>();
  file->path_ = path;
  const std::string_view contents = unframed(path, bytes);
  try {
    file->parse(contents);
  } catch (const DamagedBytes& e) {
    throw UserError(fmt::format("{} is damaged: {}\nhelp: save the function again", path, e.what()));
  }
  file->check_here();
  return file;
}

void SavedFile::parse(std::string_view contents) {
  ByteReader in(contents);
  if (const std::string_view made = in.text(); made != version())
    throw UserError(fmt::format("{} was saved by smelt {}, and this is {}\nhelp: save the function again with this one",
                                path_, made, version()));
  name_ = in.text();
  in.list([&] {
    std::string name(in.text());
    parameters_.push_back({std::move(name), in.word() != 0});
  });
  results_ = in.number<int>();
  declared_ = in.word() != 0;
  in.list([&] {
    Program program;
    program.graph = in.text();
    program.types = read_types(in);
    in.list([&] { program.lists.push_back(in.number<int>()); });
    in.list([&] { program.captured.push_back(read_captured(in)); });
    in.list([&] {
      const auto argument = in.number<size_t>();
      if (argument >= program.types.size()) throw DamagedBytes();
      program.number_uses.push_back({argument, in.one_of(DType::F64)});
    });
    program.sizes = read_sizes(in);
    program.short_sizes = read_sizes(in);
    in.list([&] {
      const auto argument = in.number<size_t>();
      const auto axis = in.number<size_t>();
      if (argument >= program.types.size() || axis >= program.types[argument].shape.size()) throw DamagedBytes();
      program.not_short.emplace_back(argument, axis);
    });
    program.facts.types = in.text();
    program.facts.exact = in.text();
    program.fuse = in.word() != 0;
    program.threads = in.number<int>();
    programs_.push_back(std::move(program));
  });
  in.list([&] {
    Target target{read_target(in), {}};
    for (size_t i = 0; i < programs_.size(); ++i)
      target.settled.push_back(in.word() ? std::optional(read_settled(in)) : std::nullopt);
    targets_.push_back(std::move(target));
  });
  if (!in.done()) throw DamagedBytes();
}

// Those of the CPU first: a driver of GPUs is opened only where that matters.
void SavedFile::check_here() const {
  std::string why;
  for (const bool gpu : {false, true})
    for (const Target& target : targets_) {
      if (target.target.is_gpu != gpu) continue;
      const std::string reason = why_not_here(target.target, machine_of(gpu ? Device::cuda() : Device::cpu()));
      if (reason.empty()) return;
      why += fmt::format("\n  {}: {}", target.target.name, reason);
    }
  throw UserError(
      fmt::format("{} has no code for this machine{}\nhelp: save the function again with a target that this "
                  "machine has: save(path, {{\"x86-64-v2\"}}), say",
                  path_, why));
}

std::string SavedFile::describe() const {
  std::vector<std::string> texts;
  for (const Program& program : programs_) {
    std::vector<std::string> types;
    for (const InputType& type : program.types)
      types.push_back((type.weak ? "a number of " : "") + smelt::describe(type.dtype, type.shape));
    texts.push_back(types.empty() ? "no arguments" : fmt::format("{}", fmt::join(types, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

const SavedFile::Target& SavedFile::target_for(const Device& on) const {
  const Machine& machine = machine_of(on);
  const Target* best = nullptr;
  std::string why;
  for (const Target& target : targets_) {
    const std::string reason = why_not_here(target.target, machine);
    if (!reason.empty()) why += fmt::format("\n  {}: {}", target.target.name, reason);
    if (reason.empty() && (!best || rank_of(target.target) > rank_of(best->target))) best = &target;
  }
  if (best) return *best;
  throw UserError(
      fmt::format("{} has no code for {}{}\nhelp: call it with arrays on a device that it has code for, or "
                  "name that device: Options::device",
                  path_, on.name(), why));
}

std::shared_ptr<Special> SavedFile::special_of(const Program& program, const Device& on) const {
  auto special = std::make_shared<Special>();
  ByteReader bytes(program.graph);
  special->program = read_graph(bytes);
  special->types = program.types;
  special->pattern = Pattern(program.types, special->device.is_gpu(), declared_, true);
  special->lists = program.lists;
  special->device = on;
  special->number_uses = program.number_uses;
  special->sizes = program.sizes;
  special->short_sizes = program.short_sizes;
  special->not_short = program.not_short;
  special->facts = program.facts;
  check_types(*special, program.types, program.captured);
  return special;
}

std::vector<std::shared_ptr<Special>> SavedFile::specials(const Device& on) const {
  const Target& target = target_for(on);
  std::vector<std::shared_ptr<Special>> result;
  try {
    for (size_t i = 0; i < programs_.size(); ++i)
      result.push_back(target.settled[i] ? special_of(programs_[i], on) : nullptr);
  } catch (const DamagedBytes& e) {
    throw UserError(fmt::format("{} is damaged: {}\nhelp: save the function again", path_, e.what()));
  }
  return result;
}

void SavedFile::compile(size_t i, Special& special, const Options& options) const {
  const Program& program = programs_[i];
  const Device& on = special.device;
  const Target& target = target_for(on);
  CompileOptions o;
  o.program = options.name;
  o.fuse = program.fuse;
  o.threads = program.threads;
  o.run_threads = on.is_gpu() ? 0 : options.threads > 0 ? options.threads : machine_of(on).facts.threads;
  o.sizes = program.sizes;
  o.settled = std::make_shared<const Settled>(*target.settled[i]);
  try {
    special.executable = smelt::compile(special.program, machine_with_code(target.target, machine_of(on)), o);
  } catch (const UserError&) {
    throw;
  } catch (const std::exception& e) {
    // Contents that no save() wrote, under a right checksum.
    throw UserError(fmt::format("{} is damaged: {}\nhelp: save the function again", path_, e.what()));
  }
  std::vector<Array> captured;
  for (const Array& array : program.captured) captured.push_back(array.ndim() > 0 ? array.to(on) : array);
  special.captured = std::move(captured);
  special.facts.reason = fmt::format("{} has it, for {}", path_, target.target.name);
  special.facts.kernels = static_cast<int>(special.executable.plan().groups.size());
  special.facts.compile_ms = special.executable.compile_ms();
}

}  // namespace smelt::detail
