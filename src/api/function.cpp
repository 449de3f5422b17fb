// Functions: tracing, calls, and what they report about themselves.
#include <fmt/format.h>

#include <algorithm>

#include "api/explain.hpp"
#include "api/layout.hpp"
#include "api/saved.hpp"
#include "api/source.hpp"
#include "api/specialize.hpp"
#include "base/check.hpp"
#include "report/file.hpp"
#include "smelt/compile.hpp"

namespace smelt {

namespace detail {

struct FunctionState {
  AnyFunction::Trace trace;  // empty for a program in text
  Build build;
  Specializer specials;
};

struct BoundState {
  SpecialPtr special;
  std::vector<Array> arguments, outputs;
  std::vector<std::shared_ptr<Data>> numbers;
  BoundCall call;
};

namespace {

std::shared_ptr<FunctionState> own(FunctionState* state) { return std::shared_ptr<FunctionState>(state); }

FunctionState& state_of(const Handle<FunctionState>& state) {
  if (!state) throw UserError("this function was moved from\nhelp: call the one that it was moved to");
  return *state;
}

bool is_unevaluated(const Array& array) {
  return !array.node()->data() && array.node()->type.kind != Type::Kind::Literal;
}

// A number of the caller as an array that changes from call to call.
std::shared_ptr<Data> number_data(const Literal& literal) {
  const DType dtype = std::holds_alternative<double>(literal)    ? DType::F64
                      : std::holds_alternative<int64_t>(literal) ? DType::I64
                                                                 : DType::Bool;
  auto data = std::make_shared<Data>();
  data->tensor = Tensor::empty(dtype, {});
  Scalar value;
  if (const auto* f = std::get_if<double>(&literal))
    value = Scalar::of_float(DType::F64, *f);
  else if (const auto* i = std::get_if<int64_t>(&literal))
    value = Scalar::of_int(DType::I64, *i);
  else
    value = Scalar::of_bool(std::get<bool>(literal));
  store_scalar(value, data->tensor.data);
  return data;
}

Arguments arguments_of(const std::vector<Array>& arrays, const std::vector<int>& lists) {
  Arguments arguments;
  arguments.lists = lists;
  arguments.arrays.reserve(arrays.size());
  for (const Array& array : arrays) {
    if (const Data* data = array.node()->data()) {
      arguments.arrays.push_back(data);
      continue;
    }
    arguments.owned.push_back(number_data(array.node()->type.literal));
    arguments.arrays.push_back(arguments.owned.back().get());
    arguments.weak.resize(arrays.size());
    arguments.weak[arguments.arrays.size() - 1] = !is_bool(arguments.arrays.back()->tensor.dtype);
  }
  return arguments;
}

// Copies; none where an argument stands for others of its type: its elements are one, as of those
// that are made for compiling alone.
std::vector<Tensor> host_inputs(const Special& special, const Arguments& arguments) {
  const auto stands_in = [](const Data* data) {
    const Tensor& t = data->tensor;
    return t.count() > 1 && std::all_of(t.strides.begin(), t.strides.end(), [](int64_t s) { return s == 0; });
  };
  if (std::any_of(arguments.arrays.begin(), arguments.arrays.end(), stands_in)) return {};
  std::vector<const Data*> all = arguments.arrays;
  for (const Array& array : special.captured) all.push_back(array.node()->data());
  std::vector<Tensor> tensors;
  tensors.reserve(all.size());
  for (const Data* data : all) {
    Tensor tensor = data->tensor;
    if (tensors.size() < special.types.size())
      static_cast<TensorView&>(tensor) = in_order(special.types[tensors.size()].layout, tensor);
    tensors.push_back(data->device.is_gpu() ? to_host(machine_of(data->device), tensor) : contiguous_copy(tensor));
  }
  return tensors;
}

// Whether the call becomes part of an expression.
bool check_arguments(const std::vector<Array>& arrays, const std::vector<int>& lists, const Naming& naming) {
  bool unevaluated = false;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].defined()) node_of(arrays[i], naming.argument(i, lists));
    unevaluated |= is_unevaluated(arrays[i]);
  }
  return unevaluated;
}

void check_evaluated(const std::vector<Array>& arrays, const std::vector<int>& lists, const Naming& naming,
                     const char* asked_by) {
  if (!check_arguments(arrays, lists, naming)) return;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (is_unevaluated(arrays[i]))
      throw UserError(fmt::format("{}: {}, {}, is not evaluated yet\nhelp: call eval(x) first", asked_by,
                                  naming.argument(i, lists), arrays[i].str()));
}

std::vector<Array> trace_checked(const AnyFunction::Trace& trace, const std::vector<Array>& arguments,
                                 const std::vector<int>& lists) {
  std::vector<Array> results = trace(arguments, lists);
  if (results.empty()) throw UserError("the function returns no array\nhelp: return at least one");
  for (size_t i = 0; i < results.size(); ++i) node_of(results[i], fmt::format("result {} of the function", i));
  return results;
}

// The program that a C++ function writes down when it is called with parameters instead of data.
Build build_of(AnyFunction::Trace trace, bool captures) {
  return [trace = std::move(trace), captures](const std::vector<InputType>& types, const std::vector<int>& lists) {
    const std::vector<Array> placeholders = placeholders_for(types);
    const std::vector<Array> results = trace_checked(trace, placeholders, lists);
    const Needed needed = needed_by(results);
    if (!captures && !needed.data.empty())
      throw UserError(
          fmt::format("the function uses an array that is not among its arguments, {}\nhelp: pass it as an "
                      "argument",
                      describe(*needed.data.front())));
    Traced traced;
    std::vector<InputType> captured;
    for (const NodePtr& node : needed.data) {
      captured.push_back({fmt::format("captured{}", captured.size()), node->type.dtype, node->type.shape});
      traced.captured.emplace_back(node);
    }
    traced.graph = build_graph(needed, results, placeholders, types, captured);
    return traced;
  };
}

}  // namespace

AnyFunction::AnyFunction(Trace trace, Options options, std::string kinds)
    : state_(own(new FunctionState{trace, build_of(trace, options.captures),
                                   Specializer(std::move(options), false, std::move(kinds))})) {}
AnyFunction::AnyFunction(Build build, bool declared, Options options, std::string kinds)
    : state_(own(
          new FunctionState{nullptr, std::move(build), Specializer(std::move(options), declared, std::move(kinds))})) {}

std::vector<Array> AnyFunction::call(const std::vector<Array>& arrays, const std::vector<int>& lists) const {
  const Naming& naming = state_of(state_).specials.naming();
  if (!state_->trace)
    check_evaluated(arrays, lists, naming,
                    state_->build ? "a program in text" : "a function that was loaded from a file");
  if (check_arguments(arrays, lists, naming)) return trace_checked(state_->trace, arrays, lists);
  const Arguments arguments = arguments_of(arrays, lists);
  // A function of empty lists may return no arrays.
  const bool some_empty = std::find(lists.begin(), lists.end(), 0) != lists.end();
  if (some_empty && state_->trace &&
      state_->trace(placeholders_for(exact_types(arguments, naming, Device::cpu())), lists).empty())
    return {};
  return run(*state_of(state_).specials.find(arguments, state_->build), arguments);
}

std::vector<Array> AnyFunction::call(const std::vector<Array>& arrays, const std::vector<int>& lists,
                                     const Allocate& allocate) const {
  check_evaluated(arrays, lists, state_of(state_).specials.naming(), "a call with an allocator");
  const Arguments arguments = arguments_of(arrays, lists);
  const SpecialPtr special = state_of(state_).specials.find(arguments, state_->build);
  const std::vector<TensorView> inputs = views_of(*special, arguments);
  const std::vector<Dims> dims = special->executable.output_dims(inputs);
  const Graph& graph = special->executable.graph();
  std::vector<Array> outputs;
  outputs.reserve(dims.size());
  for (size_t o = 0; o < dims.size(); ++o) outputs.push_back(allocate(graph.at(graph.outputs[o]).dtype, dims[o]));
  if (special->device.is_gpu())
    run_into(*special, arguments, outputs);
  else
    special->executable.run_into(inputs, output_views(*special, outputs));
  return outputs;
}

void AnyFunction::call_into(const std::vector<Array>& outputs, const std::vector<Array>& arrays,
                            const std::vector<int>& lists) const {
  check_evaluated(arrays, lists, state_of(state_).specials.naming(), "into()");
  const Arguments arguments = arguments_of(arrays, lists);
  run_into(*state_of(state_).specials.find(arguments, state_->build), arguments, outputs);
}

Handle<BoundState> AnyFunction::bind(const std::vector<Array>* outputs, const std::vector<Array>& arrays,
                                     const std::vector<int>& lists) const {
  check_evaluated(arrays, lists, state_of(state_).specials.naming(), "bind()");
  const Arguments arguments = arguments_of(arrays, lists);
  auto bound = std::make_shared<BoundState>();
  bound->special = state_of(state_).specials.find(arguments, state_->build);
  bound->arguments = arrays;
  bound->numbers = arguments.owned;
  const Special& special = *bound->special;
  const std::vector<TensorView> inputs = views_of(special, arguments);
  if (special.device.is_gpu())
    for (const Data* data : arguments.arrays)
      if (!data->device.is_gpu() && !data->tensor.dims.empty())
        throw UserError(
            fmt::format("bind(): the function runs on {}, and an argument is in host memory\nhelp: move it with "
                        "to(Device)",
                        special.device.name()));
  if (outputs) {
    bound->outputs = *outputs;
  } else {
    const Graph& graph = special.executable.graph();
    const std::vector<Dims> dims = special.executable.output_dims(inputs);
    for (size_t o = 0; o < dims.size(); ++o) {
      const DType dtype = graph.at(graph.outputs[o]).dtype;
      const bool gpu = special.device.is_gpu();
      bound->outputs.emplace_back(
          make_node(Data{gpu ? device_empty(machine_of(special.device), dtype, dims[o]) : Tensor::empty(dtype, dims[o]),
                         special.device}));
    }
  }
  const std::vector<TensorView> targets = output_views(special, bound->outputs);
  for (const Array& output : bound->outputs)
    if (output.device().is_gpu() != special.device.is_gpu())
      throw UserError(
          fmt::format("bind(): an output is on {}, but the function runs on {}\nhelp: move it with to(Device)",
                      output.device().name(), special.device.name()));
  bound->call = special.executable.bind(inputs, targets);
  return bound;
}

Explanation AnyFunction::explain(const std::vector<Array>& arrays, const std::vector<int>& lists) const {
  check_evaluated(arrays, lists, state_of(state_).specials.naming(), "explain()");
  const Arguments arguments = arguments_of(arrays, lists);
  bool compiled = false;
  const SpecialPtr special = state_of(state_).specials.find(arguments, state_->build, &compiled);
  std::vector<Dims> dims;
  for (const TensorView& view : views_of(*special, arguments)) dims.push_back(view.dims);
  Explanation e =
      explain_special(*special, bind_sizes(special->executable.graph(), dims), state_of(state_).specials.options().name,
                      [special, arrays, lists] { return host_inputs(*special, arguments_of(arrays, lists)); });
  e.compiled_now = compiled;
  return e;
}

Explanation AnyFunction::explain_last() const {
  const SpecialPtr special = state_of(state_).specials.latest();
  if (!special)
    throw UserError("explain(): nothing is compiled yet\nhelp: call the function first, or explain(arguments)");
  return explain_special(*special, special->sizes, state_of(state_).specials.options().name);
}

void AnyFunction::expect_kernels(int count) const {
  const std::vector<SpecialPtr> specials = state_of(state_).specials.all();
  if (specials.empty())
    throw UserError(fmt::format("expect_kernels({}): nothing is compiled yet\nhelp: call the function first", count));
  for (const SpecialPtr& special : specials)
    check_kernels(explain_special(*special, special->sizes, state_of(state_).specials.options().name), count);
}

std::vector<Specialization> AnyFunction::specializations() const {
  std::vector<Specialization> result;
  for (const SpecialPtr& special : state_of(state_).specials.all()) result.push_back(special->facts);
  return result;
}

std::string AnyFunction::source(const std::string& target, const std::vector<Array>& arrays,
                                const std::vector<int>& lists, const SourceOptions& options) const {
  check_evaluated(arrays, lists, state_of(state_).specials.naming(), "source()");
  const SpecialPtr special = state_of(state_).specials.find(arguments_of(arrays, lists), state_->build);
  return source_of(*special, target, options);
}

void AnyFunction::save(const std::string& path, const std::vector<std::string>& targets,
                       const std::vector<SavedParameter>& parameters, int results) const {
  const Specializer& specials = state_of(state_).specials;
  const std::vector<SpecialPtr> all = specials.all();
  if (all.empty())
    throw UserError("save(): nothing is compiled yet\nhelp: call the function first, or explain(arguments)");
  if (specials.saved())
    throw UserError("save(): a function that was loaded from a file cannot be saved\nhelp: copy the file");
  std::vector<SavedParameter> named = parameters;
  const std::vector<std::string>& names = specials.naming().parameters;
  for (size_t p = 0; p < names.size(); ++p) named[p].name = names[p];
  report::StagedFile file(path);
  file.write(bytes_of_function(specials.options().name, all, specials.declared(), targets, named, results));
  file.commit();
}

AnyFunction AnyFunction::load(const std::string& path, const Options& options, std::vector<SavedParameter>* parameters,
                              int* results) {
  const std::shared_ptr<const SavedFile> file = SavedFile::read(path);
  *parameters = file->parameters();
  *results = file->results();
  Options named = options;
  if (named.name == Options{}.name) named.name = file->name();
  AnyFunction loaded;
  Naming naming;
  for (const SavedParameter& parameter : *parameters) {
    naming.kinds += parameter.list ? 'l' : 'a';
    if (!parameter.name.empty()) naming.parameters.push_back(parameter.name);
  }
  loaded.state_ = own(new FunctionState{nullptr, nullptr, Specializer(std::move(named), std::move(naming), file)});
  return loaded;
}

int AnyFunction::compile_count() const { return state_of(state_).specials.compile_count(); }

}  // namespace detail

static detail::BoundState& bound_state(const detail::Handle<detail::BoundState>& state) {
  if (!state) throw UserError("this bound call was moved from\nhelp: use the one that it was moved to");
  return *state;
}

void Bound::operator()() const { bound_state(state_).call.run(); }
void Bound::synchronize() const { bound_state(state_).call.synchronize(); }
const std::vector<Array>& Bound::outputs() const { return bound_state(state_).outputs; }

}  // namespace smelt
