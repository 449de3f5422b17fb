// Expressions and accesses.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/llvm_types.hpp"
#include "kernel/offset.hpp"
#include "kernel/text.hpp"

namespace smelt::emit::c_like {

void PhasePrinter::push() { scopes_.emplace_back(); }

void PhasePrinter::pop() {
  for (const ExprId id : scopes_.back()) known_[static_cast<size_t>(id)].reset();
  scopes_.pop_back();
}

// A local was assigned, or an array stored to: what was computed from it is computed again.
void PhasePrinter::forget(int resource) {
  for (auto& scope : scopes_)
    std::erase_if(scope, [&](ExprId id) {
      const auto& depends = uses_.dependencies_of(id);
      if (!std::binary_search(depends.begin(), depends.end(), resource)) return false;
      known_[static_cast<size_t>(id)].reset();
      return true;
    });
}

// What an expression is called: a name, or its text when that is short or used once. Depth first
// with a stack of its own, since chains of thousands of operations are ordinary.
std::string PhasePrinter::value(ExprId root) {
  std::vector<ExprId> waiting{root};
  while (!waiting.empty()) {
    const ExprId id = waiting.back();
    const Expr& e = kernel_.at(id);
    auto& known = known_[static_cast<size_t>(id)];
    if (known) {
      waiting.pop_back();
      continue;
    }
    const size_t depth = waiting.size();
    if (!early_.count(id) && !bits_at_hand(e))
      for_each_operand(e, [&](ExprId operand) {
        if (!known_[static_cast<size_t>(operand)]) waiting.push_back(operand);
      });
    if (waiting.size() > depth) continue;
    waiting.pop_back();
    const auto early = early_.find(id);
    std::string text = early != early_.end() ? early->second : compute(id);
    const bool leaf = e.is<Const>() || e.is<ReadLocal>() || early != early_.end();
    // All threads shuffle, whatever condition the value is used under.
    const bool shuffle = is_shuffle(e);
    const auto label = kernel_.labels.find(id);
    if (!leaf &&
        (shuffle || uses_.uses[static_cast<size_t>(id)] > 1 || text.size() > 60 || label != kernel_.labels.end())) {
      const std::string name = fmt::format("e{}", names_++);
      const std::string comment = label == kernel_.labels.end() ? "" : "  // " + comment_text(label->second);
      line("const {} {} = {};{}", type_of(e.dtype), name, text, comment);
      text = name;
    }
    known = text;
    scopes_.back().push_back(id);
  }
  return *known_[static_cast<size_t>(root)];
}

std::string PhasePrinter::compute(ExprId id) {
  const Expr& e = kernel_.at(id);
  const auto dtype = [&](ExprId id) { return kernel_.at(id).dtype; };
  return e.match(
      [&](const Const& c) { return literal(c.value); }, [&](const ReadLocal& read) { return read_local(read.local); },
      [&](const IndexValue& index) { return fmt::format("({}){}", as_.wide, integer(index.value)); },
      [&](const Cast& made) {
        const auto* index = kernel_.at(made.x).get_if<IndexValue>();
        // A position that fits an int converts faster than the i64 that it stands for.
        if (index && !function_.wide && is_float(e.dtype))
          return fmt::format("({}){}", type_of(e.dtype), integer(index->value));
        const Expr& from = kernel_.at(made.x);
        const auto* rounded = from.get_if<Apply>();
        const bool nearest = rounded && rounded->op == Op::Round && from.dtype == DType::F32 && as_.nearest_int;
        if (nearest && is_int(e.dtype) && size_of(e.dtype) <= 4 && !made.wrap)
          return as_.nearest_int(used_, known(rounded->args[0]), e.dtype);
        if (const auto bits = bits_at_hand(e)) return convert(*bits);
        return cast(as_, used_, known(made.x), dtype(made.x), e.dtype, made.wrap);
      },
      [&](const Bitcast& made) { return bitcast(as_, known(made.x), dtype(made.x), e.dtype); },
      [&](const Raw& made) {
        SMELT_CHECK(!is_shuffle(e) || (team_.threads == 32 && vector_.one_step && !vector_.checked),
                    "a shuffle where not all threads of a warp are");
        if (is_shuffle(e) && !as_.warps) return from_thread(e.dtype, texts(made.args));
        return raw(as_, used_, made.op, dtype(made.args[0]), e.dtype, texts(made.args));
      },
      [&](const Load&) { return load(id); }, [&](const Random& made) { return random(made, texts(made.args)); },
      [&](const Apply& made) {
        if (std::string text = compare_positions(made); !text.empty()) return text;
        return apply(made.op, dtype(made.args.back()), texts(made.args));
      });
}

// Whether it is a position: it depends on a loop.
static bool steps(const IntExpr& e) {
  return e.any_symbol([](Symbol s) { return !s.is_size(); });
}

// Positions that fit an int are compared as such; empty for everything else.
std::string PhasePrinter::compare_positions(const Apply& e) {
  if (function_.wide || e.op < Op::Eq || e.op > Op::Ge || e.args.size() != 2) return "";
  std::vector<std::string> sides;
  for (const ExprId id : e.args) {
    const Expr& side = kernel_.at(id);
    if (side.dtype != DType::I64) return "";
    const auto* index = side.get_if<IndexValue>();
    const auto* constant = side.get_if<Const>();
    if (index && steps(index->value))
      sides.push_back(integer(index->value));
    else if (constant && std::abs(constant->value.i) <= INT32_MAX)
      sides.push_back(integer(IntExpr(constant->value.i)));
    else
      return "";
  }
  return apply(e.op, DType::I32, sides);
}

std::string PhasePrinter::read_local(LocalId id) {
  const kernel::LocalUses& local = uses_.local(id);
  const int slots = slots_[static_cast<size_t>(id)];
  // Inside the loops that assign it, its lanes; elsewhere the team's value, if it has one.
  if (!slots || !vector_.loop) return fmt::format("v{}", id);
  if (local.combined && !local.per_column && !local.vectors.count(vector_.loop)) return fmt::format("v{}", id);
  // All lanes of a group have the value of its first one.
  if (vector_.grouped) return fmt::format("a{}[u * {}]", id, vector_.lanes);
  if (!local.used_outside || looped_) return fmt::format("a{}[n]", id);
  const bool own_edge = own_edges_[static_cast<size_t>(id)];
  if (own_edge && vector_.edge) return fmt::format("a{}[{}]", id, slots - 1);
  const int lanes = slots - own_edge;
  return lanes == 1 ? fmt::format("a{}[0]", id) : fmt::format("a{}[n & {}]", id, lanes - 1);
}

PhasePrinter::Place PhasePrinter::place(const Access& access) {
  Place p;
  const auto array = static_cast<size_t>(access.array);
  if (access.scratch) {
    p.dtype = kernel_.buffers[array].dtype;
    p.base = fmt::format("b{}", access.array);
    if (kernel_.buffers[array].swizzled) p.row = *kernel_.buffers[array].dims.back().constant();
  } else {
    p.dtype = kernel_.params[array].dtype;
    p.base = kernel::param_name(kernel_, access.array);
    p.param = access.array;
  }
  p.offset = flat_offset(kernel_, access);
  return p;
}

// Where a thread keeps what only it reads: in registers by the number of the lane, or in shared
// memory by lane and thread.
std::string PhasePrinter::private_element(const Access& access) {
  if (is_fragment(access.array)) return fmt::format("k{}[2 * n + {}]", access.array, integer(access.index[1]));
  const kernel::ScratchUses& info = uses_.buffers[static_cast<size_t>(access.array)];
  if (in_registers_[static_cast<size_t>(access.array)]) return fmt::format("k{}[n]", access.array);
  const kernel::ScratchBuffer& buffer = kernel_.buffers[static_cast<size_t>(access.array)];
  IntExpr outer = 0;
  for (size_t d = 0; d < buffer.dims.size(); ++d)
    if (d != info.axis) outer = outer * buffer.dims[d] + access.index[d];
  const int threads = std::min(team_.threads, team_.workgroup);
  // Lane after lane, so that the threads of a warp touch different banks.
  const std::string group = vector_.edge ? fmt::format("b{}_groups - 1", access.array) : "group";
  return fmt::format("b{0}[(({1} * b{0}_groups + {4}) * {2} + l) * {3} + tw]", access.array, integer(outer),
                     vector_.lanes, threads, group);
}

std::string PhasePrinter::element(const Access& access) {
  if (access.scratch && is_private(access.array)) return private_element(access);
  if (!access.scratch) {
    const Param& param = kernel_.params[static_cast<size_t>(access.array)];
    if (param.kind == ParamKind::Scalar) return kernel::param_name(kernel_, access.array);
  }
  const Place p = place(access);
  return fmt::format("{}[{}]", p.base, offset_text(p, p.offset));
}

std::string PhasePrinter::offset_text(const Place& place, const IntExpr& offset) {
  return place.row ? fmt::format("{}<{}>({})", used_("swizzled"), place.row, integer(offset)) : integer(offset);
}

std::string PhasePrinter::load(ExprId id) {
  const Load& e = load_at(id);
  const DType memory = kernel_.dtype_of(e.access);
  if (e.access.scratch) {
    // Kept values are as they were in registers.
    const std::string text = element(e.access);
    return e.mask == kNoExpr ? text : fmt::format("({} ? {} : {})", known(e.mask), text, known(e.other));
  }
  // A scalar was converted where it came in.
  const bool scalar = kernel_.params[static_cast<size_t>(e.access.array)].kind == ParamKind::Scalar;
  const std::string text = scalar ? element(e.access) : from_memory(memory, element_or_lane(id));
  return e.mask == kNoExpr ? text : fmt::format("({} ? {} : {})", known(e.mask), text, known(e.other));
}

}  // namespace smelt::emit::c_like
