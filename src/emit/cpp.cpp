#include "emit/cpp.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/cpp_phase.hpp"
#include "emit/cpp_text.hpp"
#include "emit/llvm_types.hpp"
#include "kernel/offset.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Assign;
using kernel::Combine;
using kernel::Expr;
using kernel::Let;
using kernel::LocalId;
using kernel::Loop;
using kernel::LoopKind;
using kernel::ParamKind;
using kernel::Stmt;
using kernel::Store;

std::string cpp_integer(const IntExpr& e, const std::function<std::string(Symbol)>& name_of) {
  const auto inner = [&](const IntExpr& x) { return cpp_integer(x, name_of); };
  const auto atom = [&](const IntExpr::Atom& a) -> std::string {
    const auto divisor = [&] {
      return a.b.constant() ? inner(a.b) : fmt::format("larger<long long>({}, 1)", inner(a.b));
    };
    switch (a.kind) {
      case AtomKind::Symbol: return name_of(*a.symbol);
      case AtomKind::FloorDiv: return fmt::format("floor_div({}, {})", inner(a.a), divisor());
      case AtomKind::Mod: return fmt::format("floor_mod({}, {})", inner(a.a), divisor());
      case AtomKind::Min: return fmt::format("smaller<long long>({}, {})", inner(a.a), inner(a.b));
      case AtomKind::Max: return fmt::format("larger<long long>({}, {})", inner(a.a), inner(a.b));
    }
    return "";
  };
  std::string text;
  for (const IntExpr::Term& term : e.terms()) {
    std::string part;
    for (const IntExpr::AtomPtr& a : term.atoms) part += (part.empty() ? "" : " * ") + atom(*a);
    if (part.empty() || term.coefficient != 1)
      part = fmt::format("{}{}{}LL", part, part.empty() ? "" : " * ", term.coefficient);
    text += (text.empty() ? "" : " + ") + part;
  }
  if (text.empty()) return "0LL";
  const bool simple = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_L") == std::string::npos;
  return simple ? text : "(" + text + ")";
}

namespace cpp {
namespace {

[[noreturn]] void cannot(const std::string& what) {
  throw UserError(
      fmt::format("smelt emit --as cpp cannot print {} yet\nhelp: compile the program with smelt instead", what));
}

bool is_vector(const Loop& s) { return s.kind == LoopKind::Vector && s.lanes > 1; }

bool is_simple(const Stmt& s) { return s.is<Let>() || s.is<Assign>() || s.is<Store>(); }

bool all_simple(const std::vector<Stmt>& body) { return std::all_of(body.begin(), body.end(), is_simple); }

void find_stores(const std::vector<Stmt>& body, std::vector<bool>& stored) {
  for_each_stmt(body, [&](const Stmt& s) {
    if (const auto* store = s.get_if<Store>(); store && !store->access.scratch)
      stored[static_cast<size_t>(store->access.array)] = true;
  });
}

// As emit/llvm_phase.cpp has them: small ones on the stack.
constexpr int64_t kMostStackBytes = 4096;
IntExpr bytes_of(const kernel::ScratchBuffer& buffer) {
  return ceildiv(count(buffer.dims) * size_of(buffer.dtype), 64) * 64;
}

}  // namespace

PhasePrinter::PhasePrinter(const kernel::Kernel& kernel, int phase)
    : kernel_(kernel),
      phase_(phase),
      places_(kernel.locals.size()),
      stored_(kernel.params.size()),
      uses_(kernel.exprs.size()) {}

std::string PhasePrinter::print() {
  const std::vector<Stmt>& body = kernel_.phases[static_cast<size_t>(phase_)].body;
  find_stores(body, stored_);
  for (const Expr& e : kernel_.exprs) for_each_operand(e, [&](ExprId id) { ++uses_[static_cast<size_t>(id)]; });
  find_places(body, nullptr);
  declare_places();
  declare_buffers();
  statements(body);
  return fmt::format("{} {{\n{}}}\n", signature(), out_);
}

std::string PhasePrinter::signature() const {
  std::string text = fmt::format("static void {}_p{}(int64_t begin, int64_t end", kernel_.name, phase_);
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const kernel::Param& p = kernel_.params[i];
    if (p.kind == ParamKind::Size)
      text += fmt::format(", [[maybe_unused]] int64_t s{}", i);
    else
      text +=
          fmt::format(", [[maybe_unused]] {}{}* __restrict p{}", stored_[i] ? "" : "const ", memory_type(p.dtype), i);
  }
  return text + ", [[maybe_unused]] char* scratch)";
}

void PhasePrinter::find_places(const std::vector<Stmt>& body, const Loop* vector) {
  for (const Stmt& s : body) {
    const auto* loop = s.get_if<Loop>();
    if (const auto* inside = body_of(s)) find_places(*inside, loop && is_vector(*loop) ? loop : vector);
    const bool assigns = s.is<Assign>();
    const bool long_lived = assigns || (s.is<Let>() && vector && !all_simple(vector->body));
    if (!long_lived) continue;
    const LocalId local = *given_by(s);
    Place& place = places_[static_cast<size_t>(local)];
    if (assigns) place.uniform = true;
    if (!vector) continue;
    SMELT_CHECK(place.lanes == 0 || place.lanes == vector->lanes, "local {} has {} lanes, and {}", local, place.lanes,
                vector->lanes);
    place.lanes = vector->lanes;
  }
}

void PhasePrinter::declare_places() {
  for (size_t id = 0; id < places_.size(); ++id) {
    const std::string type = type_of(kernel_.locals[id].dtype);
    if (places_[id].uniform) line("[[maybe_unused]] {} v{} = 0;", type, id);
    if (places_[id].lanes) line("alignas(64) {} lane{}[{}] = {{}};", type, id, places_[id].lanes);
  }
}

void PhasePrinter::declare_buffers() {
  IntExpr offset;
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const kernel::ScratchBuffer& buffer = kernel_.buffers[i];
    const std::string type = memory_type(buffer.dtype);
    const IntExpr bytes = bytes_of(buffer);
    if (bytes.constant().value_or(INT64_MAX) <= kMostStackBytes) {
      line("[[maybe_unused]] alignas(64) {} b{}[{}];", type, i, *bytes.constant() / size_of(buffer.dtype));
      continue;
    }
    line("[[maybe_unused]] {0}* const b{1} = reinterpret_cast<{0}*>(scratch + {2});", type, i, integer(offset));
    offset = offset + bytes;
  }
}

void PhasePrinter::statements(const std::vector<Stmt>& body) {
  for (const Stmt& s : body) statement(s);
}

// What is known of the statement before stays so unless it may have changed.
void PhasePrinter::forget_what_changes(const Stmt& s) {
  const auto local = given_by(s);
  const auto* store = s.get_if<Store>();
  const auto changes = [&](const Expr& e) {
    const auto* read = e.get_if<kernel::ReadLocal>();
    const auto* load = e.get_if<kernel::Load>();
    const auto names = [&](Symbol symbol) { return local && symbol == Symbol::local(*local); };
    return (read && local == read->local) || any_index(e, [&](const IntExpr& i) { return i.any_symbol(names); }) ||
           (load && store && load->access.scratch == store->access.scratch &&
            load->access.array == store->access.array);
  };
  std::erase_if(known_, [&](const auto& known) { return any_below(kernel_, {known.first}, changes); });
}

void PhasePrinter::statement(const Stmt& s) {
  if (!in_lane_) known_.clear();
  s.match([&](const Loop& made) { loop(made); }, [&](const Let& made) { let(made); },
          [&](const Assign& made) { assign(made); }, [&](const Combine& made) { combine(made); },
          [](const kernel::Alloc&) {},  // its memory is there from the start
          [&](const Store& made) { store(made); }, [&](const kernel::Turn& made) { turn(made); },
          [&](const kernel::TileProduct& made) { tile_product(made); },
          [](const kernel::Matrix&) { throw InternalError("a CPU has no matrix units"); },
          [](const kernel::Barrier&) { throw InternalError("a CPU has no barriers"); },
          [](const kernel::Prefetch&) {},  // the caches of other machines are others
          [&](const kernel::If& made) { conditional(made); }, [&](const kernel::Each& made) { each(made); },
          [](const kernel::Scan&) { cannot("a statement of this program"); });
}

void PhasePrinter::conditional(const kernel::If& s) {
  open("");
  const std::string condition = value(s.condition);
  open(fmt::format("if ({})", condition));
  maybe(s.body);
  close();
  close();
}

// A body that may not run: what differed before it may differ after it.
void PhasePrinter::maybe(const std::vector<Stmt>& body) {
  const std::vector<Place> before = places_;
  vector_ ? lane_runs(body) : statements(body);
  for (size_t id = 0; id < places_.size(); ++id) places_[id].differs = places_[id].differs || before[id].differs;
}

void PhasePrinter::each(const kernel::Each& s) {
  open(fmt::format("for (long long {0} = 0; {0} < {1}; ++{0})", symbol(s.var), integer(s.extent)));
  open(fmt::format("if ({})", value(s.condition)));
  maybe(s.body);
  close();
  close();
}

void PhasePrinter::loop(const Loop& s) {
  if (s.kind == LoopKind::Grid) return count_loop(s, "begin", "end");
  is_vector(s) ? vector_loop(s) : count_loop(s, "0", integer(s.extent));
}

void PhasePrinter::count_loop(const Loop& s, const std::string& begin, const std::string& end) {
  const std::string var = symbol(s.var);
  differ_where_assigned(s.body, vector_ != nullptr);  // by an iteration before
  open(fmt::format("for (long long {0} = {1}; {0} < {2}; ++{0})", var, begin, end));
  maybe(s.body);
  close();
}

void PhasePrinter::vector_loop(const Loop& s) {
  SMELT_CHECK(!vector_, "Vector loop {} stands inside another", s.var);
  const std::string var = symbol(s.var);
  const std::string extent = integer(s.extent);
  vector_ = &s;
  differ_where_assigned(s.body, true);
  open("");
  line("const long long count_{} = {};", var, extent);
  line("long long first_{} = 0;", var);
  const auto count = s.extent.constant();
  const auto chunks = [&](const std::vector<Stmt>& body, const std::string& end) {
    open(fmt::format("for (; first_{0} + {1} <= {2}; first_{0} += {1})", var, s.lanes, end));
    lane_limit_ = std::to_string(s.lanes);
    lane_runs(body);
    close();
  };
  const auto rest = [&](const std::string& head, const std::string& end) {
    open(fmt::format("{0} (first_{1} < {2})", head, var, end));
    line("const int left_{0} = static_cast<int>(smaller<long long>({1}, {2} - first_{0}));", var, s.lanes, end);
    lane_limit_ = fmt::format("left_{}", var);
    lane_runs(s.body);
    line("first_{0} += left_{0};", var);
    close();
  };
  const std::string end = "count_" + var;
  if (s.interior && (!count || *count >= s.lanes)) {
    std::string holds;
    for (const IntExpr& h : s.interior->holds)
      holds += fmt::format("{}({}) >= 0", holds.empty() ? "" : " && ", integer(h));
    open(holds.empty() ? "" : fmt::format("if ({})", holds));
    line("const long long inner_{} = {};", var, integer(s.interior->first));
    rest("while", "inner_" + var);
    chunks(s.interior->body, integer(s.interior->last));
    close();
    rest("while", end);
  } else {
    if (!count || *count >= s.lanes) chunks(s.body, end);
    if (!count || *count % s.lanes) rest("if", end);
  }
  close();
  vector_ = nullptr;
}

// What the Vector loops of a body give a value has one in each lane, until it is combined, or
// assigned elsewhere.
void PhasePrinter::differ_where_assigned(const std::vector<Stmt>& body, bool in_vector) {
  for (const Stmt& s : body) {
    const auto* loop = s.get_if<Loop>();
    if (const auto* inside = body_of(s)) differ_where_assigned(*inside, in_vector || (loop && is_vector(*loop)));
    const auto local = given_by(s);
    if (in_vector && local) places_[static_cast<size_t>(*local)].differs = true;
  }
}

// Runs of simple statements are loops over the lanes; what is between them goes on for all
// lanes together.
void PhasePrinter::lane_runs(const std::vector<Stmt>& body) {
  const std::string var = symbol(vector_->var);
  for (size_t i = 0; i < body.size();) {
    if (!is_simple(body[i])) {
      statement(body[i++]);
      continue;
    }
    line("SMELT_INDEPENDENT");
    open(fmt::format("for (int l = 0; l < {}; ++l)", lane_limit_));
    line("[[maybe_unused]] const long long {0} = first_{0} + l;", var);
    in_lane_ = true;
    known_.clear();
    for (; i < body.size() && is_simple(body[i]); ++i) {
      statement(body[i]);
      forget_what_changes(body[i]);
    }
    known_.clear();
    in_lane_ = false;
    close();
  }
}

void PhasePrinter::let(const Let& s) {
  const std::string x = value(s.value);
  const Place& place = places_[static_cast<size_t>(s.local)];
  if (place.lanes && vector_)
    line("lane{}[l] = {};", s.local, x);
  else if (place.uniform)
    line("v{} = {};", s.local, x);
  else
    line("[[maybe_unused]] const {} v{} = {};", type_of(kernel_.locals[static_cast<size_t>(s.local)].dtype), s.local,
         x);
}

void PhasePrinter::assign(const Assign& s) {
  const std::string x = value(s.value);
  const Place& place = places_[static_cast<size_t>(s.local)];
  if (vector_) return line("lane{}[l] = {};", s.local, x);
  line("v{} = {};", s.local, x);
  if (place.lanes) line("for (int l = 0; l < {0}; ++l) lane{1}[l] = v{1};", place.lanes, s.local);
  places_[static_cast<size_t>(s.local)].differs = false;
}

void PhasePrinter::store(const Store& s) {
  const kernel::Access& a = s.access;
  const DType dtype = kernel_.dtype_of(a);
  if (s.mask != kernel::kNoExpr) {
    const std::string mask = value(s.mask);
    open(fmt::format("if ({})", mask));
    // What is computed under the mask is known there only.
    const std::map<ExprId, std::string> outside = known_;
    const std::string x = value(s.value);
    line("{} = {};", element(a), c_like::to_memory(dtype, x));
    known_ = outside;
    return close();
  }
  const std::string x = value(s.value);
  line("{} = {};", element(a), c_like::to_memory(dtype, x));
}

// Halves again and again: lane i meets lane i + n/2. The same order as compiled kernels have.
void PhasePrinter::reduce_lanes(Op op, DType dtype, const std::string& array, int lanes) {
  for (int half = lanes / 2; half >= 1; half /= 2) {
    const std::string low = array + "[l]", high = fmt::format("{}[l + {}]", array, half);
    const std::string both =
        op == Op::Max || op == Op::Min ? maximum(low, high, dtype, op == Op::Min) : apply(op, dtype, {low, high});
    line("for (int l = 0; l < {}; ++l) {} = {};", half, low, both);
  }
}

void PhasePrinter::combine(const Combine& s) {
  const int lanes = places_[static_cast<size_t>(s.local)].lanes;
  if (!lanes) return;  // its loop had one lane
  const auto dtype = [&](LocalId id) { return kernel_.locals[static_cast<size_t>(id)].dtype; };
  const auto settle = [&](LocalId id, const std::string& x) {
    line("v{} = {};", id, x);
    line("for (int l = 0; l < {0}; ++l) lane{1}[l] = v{1};", lanes, id);
    places_[static_cast<size_t>(id)].differs = false;
  };
  open("");
  line("{} part[{}];", type_of(dtype(s.local)), lanes);
  line("for (int l = 0; l < {}; ++l) part[l] = lane{}[l];", lanes, s.local);
  reduce_lanes(s.op, dtype(s.local), "part", lanes);
  if (s.index_local >= 0) {
    // The smallest index among the lanes that hold the result; where it is NaN, among those that
    // hold NaN.
    const std::string t = type_of(dtype(s.index_local));
    line("{} where[{}];", t, lanes);
    line(
        "for (int l = 0; l < {0}; ++l) where[l] = lane{1}[l] == part[0] || lane{1}[l] != lane{1}[l] ? lane{2}[l] : "
        "std::numeric_limits<{3}>::max();",
        lanes, s.local, s.index_local, t);
    reduce_lanes(Op::Min, dtype(s.index_local), "where", lanes);
    settle(s.index_local, "where[0]");
  }
  settle(s.local, "part[0]");
  close();
}

// ---- expressions

// Depth first with a stack of its own: chains of thousands of operations are ordinary. What is long
// or used more than once gets a name.
std::string PhasePrinter::value(ExprId root) {
  std::vector<ExprId> waiting{root};
  while (!waiting.empty()) {
    const ExprId id = waiting.back();
    if (known_.count(id)) {
      waiting.pop_back();
      continue;
    }
    const Expr& e = kernel_.at(id);
    const size_t depth = waiting.size();
    for_each_operand(e, [&](ExprId operand) {
      if (!known_.count(operand)) waiting.push_back(operand);
    });
    if (waiting.size() > depth) continue;
    waiting.pop_back();
    std::string text = compute(e);
    const bool leaf = e.is<kernel::Const>() || e.is<kernel::ReadLocal>();
    if (!leaf && (uses_[static_cast<size_t>(id)] > 1 || text.size() > 60)) {
      const std::string name = fmt::format("e{}", names_++);
      const auto label = kernel_.labels.find(id);
      line("const {} {} = {};{}", type_of(e.dtype), name, text,
           label == kernel_.labels.end() ? "" : "  // " + comment_text(label->second));
      text = name;
    }
    known_[id] = text;
  }
  return known_.at(root);
}

std::string PhasePrinter::compute(const Expr& e) {
  const auto texts = [&](const std::vector<ExprId>& args) {
    std::vector<std::string> texts;
    for (const ExprId id : args) texts.push_back(known_.at(id));
    return texts;
  };
  const auto dtype_of = [&](ExprId id) { return kernel_.at(id).dtype; };
  return e.match(
      [](const kernel::Const& c) { return literal(c.value); },
      [&](const kernel::ReadLocal& read) { return read_local(read.local); },
      [&](const kernel::IndexValue& index) { return fmt::format("static_cast<long long>({})", integer(index.value)); },
      [&](const kernel::Cast& made) { return cast(known_.at(made.x), dtype_of(made.x), e.dtype, made.wrap); },
      [&](const kernel::Bitcast& made) { return bitcast(known_.at(made.x), dtype_of(made.x), e.dtype); },
      [&](const kernel::Raw& made) { return raw(made.op, dtype_of(made.args[0]), e.dtype, texts(made.args)); },
      [&](const kernel::Apply& made) { return apply(made.op, dtype_of(made.args.back()), texts(made.args)); },
      [&](const kernel::Load& made) { return load(made); },
      [](const kernel::Random&) -> std::string { cannot("an expression of this program"); });
}

std::string PhasePrinter::load(const kernel::Load& e) {
  const kernel::Access& a = e.access;
  const DType dtype = kernel_.dtype_of(a);
  const std::string x = c_like::from_memory(dtype, element(a));
  if (e.mask == kernel::kNoExpr) return x;
  return fmt::format("({} ? {} : {})", known_.at(e.mask), x, known_.at(e.other));
}

std::string PhasePrinter::read_local(LocalId id) const {
  const Place& place = places_[static_cast<size_t>(id)];
  const bool in_lanes =
      in_lane_ && place.lanes > 0 && place.lanes == vector_->lanes && (place.differs || !place.uniform);
  return in_lanes ? fmt::format("lane{}[l]", id) : fmt::format("v{}", id);
}

std::string PhasePrinter::element(const kernel::Access& access) {
  return fmt::format("{}{}[{}]", access.scratch ? "b" : "p", access.array, integer(flat_offset(kernel_, access)));
}

std::string PhasePrinter::integer(const IntExpr& e) const {
  return cpp_integer(e, [this](Symbol s) { return symbol(s); });
}

std::string PhasePrinter::symbol(Symbol symbol) const {
  if (symbol.is_local()) return read_local(symbol.local_id());
  for (size_t i = 0; i < kernel_.params.size(); ++i)
    if (kernel_.params[i].symbol == symbol) return fmt::format("s{}", i);
  SMELT_CHECK(!symbol.is_size(), "the size {} is no parameter of the kernel", symbol);
  return symbol.name();
}

}  // namespace cpp

std::string emit_cpp(const kernel::Kernel& kernel) {
  std::string text;
  for (size_t p = 0; p < kernel.phases.size(); ++p)
    text += cpp::PhasePrinter(kernel, static_cast<int>(p)).print() + "\n";
  return text;
}

}  // namespace smelt::emit
