// Statements of the whole team: what every thread computes alike, and how threads meet.
#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"
#include "kernel/text.hpp"

namespace smelt::emit::c_like {

void PhasePrinter::statements(std::span<const Stmt> body) {
  for (size_t i = 0; i < body.size();) {
    std::vector<const Combine*> combines;
    for (; i < body.size() && body[i].is<Combine>(); ++i) combines.push_back(body[i].get_if<Combine>());
    if (!combines.empty()) {
      combine(combines);
      continue;
    }
    statement(body[i++]);
  }
}

void PhasePrinter::statement(const Stmt& s) {
  s.match([&](const Loop& made) { loop(made); }, [&](const Let& made) { let(made); },
          [&](const Assign& made) { assign(made); }, [&](const Combine& made) { combine({&made}); },
          [](const Scan&) { throw InternalError("a scan outside of the body of a Vector loop"); },
          [](const Alloc&) {},  // its memory is there from the start
          [&](const Store& made) { store(made); }, [&](const Barrier&) { barrier(); },
          [](const Prefetch&) { throw InternalError("a GPU does not prefetch"); },
          [](const kernel::TileProduct&) { throw InternalError("a GPU multiplies tiles in other steps"); },
          [](const Turn&) { throw InternalError("a GPU does not turn scratch"); },
          [&](const kernel::Matrix& made) { matrix(made); }, [&](const If& made) { conditional(made); },
          [&](const Each& made) { each(made); });
}

void PhasePrinter::conditional(const If& s) {
  open(fmt::format("if ({})", value(s.condition)));
  push();
  ++apart_;
  statements(s.body);
  --apart_;
  pop();
  close();
}

void PhasePrinter::loop(const Loop& s) {
  switch (s.kind) {
    case LoopKind::Grid: return grid(s);
    case LoopKind::Vector: return vector_loop(s);
    case LoopKind::Thread:
    case LoopKind::Serial: return s.stages ? pipeline(s) : count_loop(s, "");
    case LoopKind::Unrolled: return count_loop(s, "#pragma unroll");
  }
}

void PhasePrinter::grid(const Loop& s) {
  const std::string type = index_type(), workgroup = function_.part ? "workgroup" : std::string(as_.workgroup);
  if (phase_.last) {
    line("const {} g = 0;", type);
  } else if (phase_.counter >= 0) {
    SMELT_CHECK(team_.iterations() == 1 && team_.cluster() == 1 && !function_.part,
                "iterations in order, several to a workgroup");
    statics_ += "  __shared__ unsigned turn;\n";
    const Param& words = kernel_.params[static_cast<size_t>(phase_.counter)];
    line("if (threadIdx.x == 0) turn = (unsigned)atomicAdd({} + {}, 1ull);",
         kernel::param_name(kernel_, phase_.counter), integer(count(words.dims) - 1));
    line("__syncthreads();");
    line("const {0} g = ({0})turn;", type);
  } else if (team_.iterations() > 1) {
    std::string team = fmt::format("(int)({} / {})", as_.thread, team_.threads);
    // The compiler does not see that all threads of a warp have the same, and would gather them
    // again for every shuffle.
    if (team_.threads == 32 && shuffles_) team = fmt::format("__shfl_sync(0xffffffffu, {}, 0)", team);
    line("const {0} g = ({0}){2} * {1} + {3};", type, team_.iterations(), workgroup, team);
  } else if (team_.cluster() > 1) {
    line("const {0} g = ({0})({2} / {1});", type, team_.cluster(), workgroup);
  } else {
    line("const {0} g = ({0}){1};", type, workgroup);
  }
  symbols_[s.var] = "g";
  if (team_.iterations() > 1) line("if (g >= {}) return;", integer(s.extent));
  takes_boxes_ ? grid_with_boxes(s.body) : statements(s.body);
}

void PhasePrinter::let(const Let& s) {
  const std::string text = value(s.value);
  if (slots_[static_cast<size_t>(s.local)] && vector_.loop)
    line("a{}[n] = {};", s.local, text);
  else
    line("const {} v{} = {};", type_of(kernel_.locals[static_cast<size_t>(s.local)].dtype), s.local, text);
  forget(s.local);
}

// The larger (smaller) of an accumulator and an element as it is in memory, as an operator that the
// compiler sees through and joins with the next one: no operand of it is the negative of something
// (ptx_text.hpp). Empty where it is not that.
std::string PhasePrinter::plain_extreme(const Assign& s) {
  const Expr& e = kernel_.at(s.value);
  const auto* extreme = e.get_if<Apply>();
  if (!vector_.loop || !extreme || (extreme->op != Op::Max && extreme->op != Op::Min) || !is_int(e.dtype) ||
      size_of(e.dtype) > (is_signed_int(e.dtype) ? 4 : 2))
    return "";
  const auto* read = kernel_.at(extreme->args[0]).get_if<ReadLocal>();
  if (!read || read->local != s.local) return "";
  ExprId element = extreme->args[1];
  for (const auto* cast = kernel_.at(element).get_if<Cast>(); cast && is_int(kernel_.at(cast->x).dtype);
       cast = kernel_.at(element).get_if<Cast>())
    element = cast->x;
  if (!kernel_.at(element).is<Load>()) return "";
  return fmt::format("{}({}, {})", used_(extreme->op == Op::Max ? "maximum_of_small" : "minimum_of_small"),
                     read_local(s.local), value(extreme->args[1]));
}

void PhasePrinter::assign(const Assign& s) {
  std::string text = plain_extreme(s);
  if (text.empty()) text = value(s.value);
  const int slots = slots_[static_cast<size_t>(s.local)];
  if (vector_.loop) {
    line("{} = {};", read_local(s.local), text);
  } else {
    line("v{} = {};", s.local, text);
    if (looped_ && slots > 0)
      line("for (int n = 0; n < {}; ++n) a{}[n] = v{};", slots, s.local, s.local);
    else
      for (int i = 0; i < slots; ++i) line("a{}[{}] = v{};", s.local, i, s.local);
  }
  forget(s.local);
}

void PhasePrinter::store(const Store& s) {
  const bool lanes = vector_.loop != nullptr;
  std::string text = value(s.value);
  const std::string mask = s.mask == kNoExpr ? "" : value(s.mask);
  if (s.access.scratch && of_warps_.count(s.access.array)) return hold_half(s, text);
  const auto wide = wide_stores_.find(&s);
  if (wide != wide_stores_.end()) {
    line("{} = {};", wide->second.first, to_memory(wide->second.second, text));
    return;
  }
  if (!s.access.scratch) text = to_memory(kernel_.params[static_cast<size_t>(s.access.array)].dtype, text);
  std::string condition = lanes ? "" : "t == 0";
  if (!mask.empty()) condition += (condition.empty() ? "" : " && ") + mask;
  const bool reports = lanes && !s.access.scratch && s.access.array == kernel_.error_param && !mask.empty();
  // Branches between loads would keep the compiler from making these together.
  if (reports)
    line("failed = {} ? {} : failed;", condition, text), reports_ = true;
  else if (s.atomic)
    join(s, condition, text);
  else
    line("{}{} = {};", condition.empty() ? "" : fmt::format("if ({}) ", condition), element(s.access), text);
  forget(uses_.resource(s.access));
}

// Iterations whose loads are made together first, then those that are left.
bool PhasePrinter::batched_loop(const Loop& s) {
  if (!vector_.loop || accesses_of(s).batch.iterations == 1) return false;
  const int steps = accesses_of(s).batch.iterations;
  const std::vector<ExprId>& loads = accesses_of(s).batch.loads;
  const std::string name = fmt::format("s{}", names_++), step = fmt::format("s{}", names_++), type = index_type();
  const std::string extent = fmt::format("n{}", names_++);
  line("const {} {} = {};", type, extent, integer(s.extent));
  line("{} {} = 0;", type, name);
  push();
  ++serial_depth_;
  symbols_[s.var] = step;
  const auto each_step = [&](const auto& fill) {
    line("#pragma unroll");
    open(fmt::format("for (int k = 0; k < {}; ++k)", steps));
    line("const {} {} = {} + k;", type, step, name);
    push();
    fill();
    pop();
    close();
  };
  open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", name, steps, extent));
  for (const ExprId id : loads) line("{} ld{}[{}];", memory_type(kernel_.dtype_of(load_at(id).access)), id, steps);
  each_step([&] {
    line("const {} i = i0; (void)i;", type);
    line("const int n = 0; (void)n;");
    for (const ExprId id : loads) {
      const Place p = place(load_at(id).access);
      const std::string inside = load_at(id).mask == kNoExpr ? "" : value(load_at(id).mask) + " ? ";
      line("ld{}[k] = {}{}({} + {}){};", id, inside, used_("fetched"), p.base, integer(p.offset),
           inside.empty() ? "" : fmt::format(" : ({})0", memory_type(p.dtype)));
    }
  });
  for (const ExprId id : loads)
    early_[id] = from_memory(kernel_.dtype_of(load_at(id).access), fmt::format("ld{}[k]", id));
  each_step([&] { nested_body(s, {accesses_of(s).batch.block}); });
  for (const ExprId id : loads) early_.erase(id);
  close();
  symbols_[s.var] = name;
  open(fmt::format("for (; {0} < {1}; ++{0})", name, extent));
  push();
  nested_body(s, accesses_of(s).blocks);
  pop();
  close();
  --serial_depth_;
  pop();
  return true;
}

void PhasePrinter::count_loop(const Loop& s, const char* pragma) {
  if (batched_loop(s)) return;
  const std::string name = fmt::format("s{}", names_++);
  const std::string extent = integer(s.extent);
  if (*pragma) line("{}", pragma);
  open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", index_type(), name, extent));
  symbols_[s.var] = name;
  push();
  ++serial_depth_;
  const bool apart = !is_alike(s.extent);
  apart_ += apart;
  if (vector_.loop)
    nested_body(s, accesses_of(s).blocks);
  else
    statements(s.body);
  apart_ -= apart;
  --serial_depth_;
  pop();
  close();
}

void PhasePrinter::barrier() {
  if (takes_boxes_) return line("{}<{}>();", used_("team_barrier"), team_.threads);
  if (team_.threads > 1)
    line("{}", as_.warps && team_.threads <= 32 ? fmt::format("__syncwarp({});", threads_that_meet()) : as_.barrier);
}

bool PhasePrinter::is_alike(const IntExpr& extent) const {
  return !extent.any_symbol([](Symbol s) { return !s.is_size(); });
}

std::string PhasePrinter::threads_that_meet() const {
  return team_.threads < 32 && (team_.iterations() == 1 || apart_ > 0) ? "team" : "0xffffffffu";
}

// ---- reductions over the threads of the team

// With the other threads of the warp that are `from`, `from` / 2, ... `to` away.
void PhasePrinter::shuffle(const Partial& p, int from, int to) {
  for (int d = from; d >= to; d /= 2) {
    const bool is_bool = p.t == DType::Bool || size_of(p.t) < 4;
    const std::string mask = threads_that_meet();
    auto other = [&](const std::string& x, const std::string& type) {
      return is_bool && type == p.type ? fmt::format("({})__shfl_xor_sync({}, (int){}, {})", type, mask, x, d)
                                       : fmt::format("__shfl_xor_sync({}, {}, {})", mask, x, d);
    };
    combine_step(p, other(p.value, p.type), p.index.empty() ? "" : other(p.index, p.index_type));
  }
}

// Before values are handed to every workgroup of a team, `count` of each of the parts to each.
PhasePrinter::Exchange PhasePrinter::start_exchange(const std::vector<Partial>& parts, int count) {
  const bool cluster = team_.cluster() > 1;
  // Inside a loop the last iteration's values may still be read.
  if (serial_depth_ > 0) line("{}();", cluster ? used_("cluster_barrier") : "__syncthreads");
  if (cluster && !cluster_used_) line("{}();  // for all workgroups to have begun", used_("cluster_wait"));
  cluster_used_ = cluster;
  bool mail = cluster && function_.counted_stores && serial_depth_ == 0;
  int bytes = 0;  // that each workgroup gets
  for (const Partial& p : parts) {
    mail = mail && size_of(p.t) >= 4;
    bytes += count * (size_of(p.t) + p.index_bytes);
  }
  const int box = parts[0].shared;
  if (mail) {
    statics_ += fmt::format("  __shared__ __align__(8) unsigned long long box{};\n", box);
    boxes_ += fmt::format("  if (threadIdx.x == 0) {}(&box{}, {});\n", used_("expect_mail"), box, bytes);
  }
  return {cluster, mail, box};
}

// A thread that is one of the first as many as workgroups hands `value` to the one of its number.
void PhasePrinter::hand_over(const Exchange& exchange, const std::string& number, const std::string& place,
                             const std::string& value) {
  if (exchange.mail)
    line("{}(&{}, &box{}, {}, {});", used_("send_mail"), place, exchange.box, number, value);
  else
    line("{}(&{}, {}, {});", used_("cluster_write"), place, number, value);
}

void PhasePrinter::end_exchange(const Exchange& exchange) {
  if (exchange.mail)
    line("{}(&box{});", used_("wait_for_mail"), exchange.box);
  else
    line("{}();", exchange.cluster ? used_("cluster_barrier") : "__syncthreads");
}

// The warps of a workgroup, then those of a cluster.
void PhasePrinter::combine_warps(const std::vector<Partial>& parts) {
  const int warps = std::min(team_.threads, team_.workgroup) / 32;
  const int count = warps * team_.cluster();  // partial results that meet
  if (count > 1) {
    const Exchange exchange = start_exchange(parts, count);
    // Each warp hands its result to every workgroup, so that after one barrier everyone reads what
    // is near.
    for (const Partial& p : parts) {
      const auto share = [&](const std::string& type, const char* which, const std::string& value) {
        statics_ += fmt::format("  __shared__ {} red{}{}[{}];\n", type, p.shared, which, count);
        if (!exchange.cluster)
          return line("if ((threadIdx.x & 31) == 0) red{}{}[threadIdx.x >> 5] = {};", p.shared, which, value);
        open(fmt::format("if ((threadIdx.x & 31) < {})", team_.cluster()));
        hand_over(
            exchange, "threadIdx.x & 31",
            fmt::format("red{}{}[blockIdx.x % {} * {} + (threadIdx.x >> 5)]", p.shared, which, team_.cluster(), warps),
            value);
        close();
      };
      share(p.type, "", p.value);
      if (!p.index.empty()) share(p.index_type, "i", p.index);
    }
    end_exchange(exchange);
    for (const Partial& p : parts) {
      const int id = p.shared;
      auto at = [&](const char* which, int k) {
        return fmt::format("red{}{}[(threadIdx.x & {}) + {}]", id, which, std::min(count, 32) - 1, 32 * k);
      };
      line("{} = {};", p.value, at("", 0));
      if (!p.index.empty()) line("{} = {};", p.index, at("i", 0));
      for (int k = 1; k < count / 32; ++k) combine_step(p, at("", k), p.index.empty() ? "" : at("i", k));
      shuffle(p, std::min(count, 32) / 2);
    }
  }
}

void PhasePrinter::combine_step(const Partial& p, const std::string& other, const std::string& other_index) {
  if (p.s->index_local < 0) {
    // Named first: a choice between the two would evaluate `other`, which may be a shuffle, in some
    // threads only.
    line("{{ const {} x = {}; {} = {}; }}", p.type, other, p.value, apply(p.s->op, p.t, {p.value, "x"}));
    return;
  }
  line("{{ const {} x = {}; const {} j = {};", p.type, other, p.index_type, other_index);
  const std::string better = p.s->op == Op::Max ? ">" : "<";
  const std::string nan = is_float(p.t) ? fmt::format(" || (x != x && {0} == {0})", p.value) : "";
  const std::string tie =
      is_float(p.t) ? fmt::format("(x == {0} || (x != x && {0} != {0}))", p.value) : fmt::format("x == {}", p.value);
  line("  if (x {} {}{} || ({} && j < {})) {} = x, {} = j; }}", better, p.value, nan, tie, p.index, p.value, p.index);
}

PhasePrinter::Partial PhasePrinter::partial(const Combine& s) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  Partial p{&s, t, type_of(t), fmt::format("v{}", s.local), "", names_++, "", 0};
  if (s.index_local >= 0) {
    const DType counts = kernel_.locals[static_cast<size_t>(s.index_local)].dtype;
    p.index = fmt::format("v{}", s.index_local);
    p.index_type = type_of(counts), p.index_bytes = size_of(counts);
  }
  SMELT_CHECK(slots_[static_cast<size_t>(s.local)] > 0, "local {} is combined but has no lanes", s.local);
  return p;
}

// Halves again and again, in loops over neighbours, without branches.
void PhasePrinter::combine_slots(const Partial& p, int slots) {
  Partial slot = p;
  slot.value = fmt::format("a{}[n]", p.s->local);
  const std::string index = fmt::format("a{}[n]", p.s->index_local);
  for (int half = static_cast<int>(std::bit_ceil(static_cast<unsigned>(slots))) / 2; half >= 1; half /= 2) {
    const std::string other = fmt::format("a{}[n + {}]", p.s->local, half);
    open(fmt::format("for (int n = 0; n < {}; ++n)", std::min(half, slots - half)));
    if (p.index.empty()) {
      combine_step(slot, other, "");
    } else {
      line("const {} x = {}, y = {};", p.type, other, slot.value);
      line("const {} j = a{}[n + {}], k = {};", p.index_type, p.s->index_local, half, index);
      line("const bool wins = (x {} y) | ((x != x) & (y == y)) | (((x == y) | ((x != x) & (y != y))) & (j < k));",
           p.s->op == Op::Max ? ">" : "<");
      line("{} = wins ? x : y;", slot.value);
      line("{} = wins ? j : k;", index);
    }
    close();
    slots = half;
  }
  line("{} = a{}[0];", p.value, p.s->local);
  if (!p.index.empty()) line("{} = a{}[0];", p.index, p.s->index_local);
}

// The lanes of each thread, then the threads of the team; the order is always the same.
void PhasePrinter::combine(const std::vector<const Combine*>& group) {
  if (group[0]->columns) return combine_columns(group);
  std::vector<Partial> parts;
  for (const Combine* s : group) {
    Partial p = partial(*s);
    const int slots = slots_[static_cast<size_t>(s->local)];
    if (looped_) {
      combine_slots(p, slots);
      continue;
    }
    line("{} = a{}[0];", p.value, s->local);
    if (!p.index.empty()) line("{} = a{}[0];", p.index, s->index_local);
    for (int i = 1; i < slots; ++i)
      combine_step(p, fmt::format("a{}[{}]", s->local, i),
                   p.index.empty() ? "" : fmt::format("a{}[{}]", s->index_local, i));
    if (as_.warps) shuffle(p, std::min(32, team_.threads) / 2);
    parts.push_back(std::move(p));
  }
  if (!looped_) as_.warps ? combine_warps(parts) : combine_on_chip(parts);
  for (const Combine* s : group) {
    forget(s->local);
    if (s->index_local >= 0) forget(s->index_local);
  }
}

}  // namespace smelt::emit::c_like
