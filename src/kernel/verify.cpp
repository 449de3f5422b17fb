#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernel/facts.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Walks a kernel with the symbols that are known at each place.
class Structure {
 public:
  explicit Structure(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    params();
    for (size_t i = 0; i < kernel_.exprs.size(); ++i) expr(static_cast<ExprId>(i));
    for (const ScratchBuffer& b : kernel_.buffers)
      for (const IntExpr& dim : b.dims) need_known(dim, sizes_, "a scratch buffer");
    for (const IndexLocal& index : kernel_.index_locals) {
      need(index.local >= 0 && index.local < local_count(), "index local %v{} does not exist", index.local);
      need(local(index.local).dtype == DType::I64, "index local %v{} is no i64", index.local);
      need_known(index.extent, sizes_, "the extent of an index local");
    }
    for (size_t i = 0; i < kernel_.phases.size(); ++i) {
      const Phase& p = kernel_.phases[i];
      const Loop* grid = p.body.size() == 1 ? loop_of(p.body[0], LoopKind::Grid) : nullptr;
      need(grid, "phase {} is not one grid loop", i);
      need_known(p.work, sizes_, "the work of a phase");
      need(!p.last || (i > 0 && kernel_.counter_param >= 0 && grid->extent.is(1) && p.team.workgroup > 0),
           "phase {} is not one that the last workgroup can run", i);
      known_ = sizes_;
      for (const IndexLocal& index : kernel_.index_locals) known_.insert(Symbol::local(index.local));
      block(p.body);
    }
  }

 private:
  template <class... Args>
  void need(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail(kernel_, format, std::forward<Args>(args)...);
  }
  int local_count() const { return static_cast<int>(kernel_.locals.size()); }
  const Local& local(LocalId id) const { return kernel_.locals[static_cast<size_t>(id)]; }
  void need_known(const IntExpr& e, const std::set<Symbol>& known, const std::string& where) const {
    for (const Symbol s : e.symbols())
      need(known.count(s), "{} names {}, which is not known there: {}", where, s, e.str());
  }

  void params() {
    std::set<Symbol> declared;
    for (const Param& p : kernel_.params) {
      if (p.kind != ParamKind::Size) continue;
      need(p.symbol.has_value(), "a size without a symbol");
      need(declared.insert(*p.symbol).second, "size {} is declared twice", *p.symbol);
    }
    sizes_ = declared;
    std::set<Symbol> before = declared;
    before.insert(kLaunchThreads);
    for (const LaunchSize& l : kernel_.launch_sizes) before.erase(l.symbol);
    for (const LaunchSize& l : kernel_.launch_sizes) {
      need(declared.count(l.symbol), "launch size {} is no parameter", l.symbol);
      need_known(l.value, before, "launch size " + l.symbol.str());
      before.insert(l.symbol);
    }
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      const Param& p = kernel_.params[i];
      const std::string name = param_name(kernel_, static_cast<int>(i));
      const bool array = p.kind != ParamKind::Size && p.kind != ParamKind::Scalar;
      need(array || (p.dims.empty() && p.strides.empty()), "{} has dimensions", name);
      need(p.dims.size() == p.strides.size(), "{} has {} dimensions and {} strides", name, p.dims.size(),
           p.strides.size());
      for (const IntExpr& dim : p.dims) need_known(dim, declared, name);
      for (const IntExpr& stride : p.strides) {
        need_known(stride, declared, name);
        // A stride may be negative or 0; as a size it would prove what is not so.
        if (auto symbol = stride.as_symbol(); symbol && symbol->kind() == Symbol::Kind::Stride) sizes_.erase(*symbol);
      }
    }
    for (const IntExpr& e : kernel_.assumptions) need_known(e, sizes_, "an assumption");
    one_word(kernel_.error_param, "error");
    one_word(kernel_.counter_param, "counter");
  }

  void one_word(int param, const char* name) {
    if (param < 0) return;
    need(static_cast<size_t>(param) < kernel_.params.size(), "the {} parameter does not exist", name);
    const Param& p = kernel_.params[static_cast<size_t>(param)];
    need(p.dtype == DType::I32 && p.dims.size() == 1 && p.dims[0].is(1), "the {} parameter is no i32[1]", name);
  }

  // Numbers that expressions refer by: everything later may then follow them.
  void expr(ExprId id) {
    const Expr& e = kernel_.at(id);
    for_each_operand(e, [&](ExprId a) {
      need(a >= 0 && a < id, "expression {} uses expression {}, which is not before it", id, a);
    });
    if (const auto* read = e.get_if<ReadLocal>())
      need(read->local >= 0 && read->local < local_count(), "expression {} reads no local", id);
    if (const auto* load = e.get_if<Load>()) {
      access(load->access, "load");
      need((load->mask == kNoExpr) == (load->other == kNoExpr), "load {} has a mask or a value beside it, but not both",
           access_text(kernel_, load->access));
    }
  }

  void access(const Access& a, const char* what) const {
    if (a.scratch) {
      need(a.array >= 0 && static_cast<size_t>(a.array) < kernel_.buffers.size(),
           "{} of scratch{}, which does not exist", what, a.array);
      const size_t rank = kernel_.buffers[static_cast<size_t>(a.array)].dims.size();
      need(a.index.size() == rank, "{} {}: {} indices for rank {}", what, access_text(kernel_, a), a.index.size(),
           rank);
      return;
    }
    need(a.array >= 0 && static_cast<size_t>(a.array) < kernel_.params.size(), "{} of param {}, which does not exist",
         what, a.array);
    const Param& p = kernel_.params[static_cast<size_t>(a.array)];
    need(p.kind != ParamKind::Size, "{} of {}: a size is no memory", what, param_name(kernel_, a.array));
    need(a.index.size() == p.dims.size(), "{} {}: {} indices for rank {}", what, access_text(kernel_, a),
         a.index.size(), p.dims.size());
  }

  void block(const std::vector<Stmt>& body) {
    for (const Stmt& s : body) statement(s);
  }

  void use(ExprId id, const char* what) {
    need(id >= 0 && static_cast<size_t>(id) < kernel_.exprs.size(), "{} of expression {}, which does not exist", what,
         id);
    symbols_of(id);
  }

  // Every index of what is evaluated here must be made of what is known here.
  void symbols_of(ExprId id) {
    if (id == kNoExpr || !seen_.insert(id).second) return;
    const Expr& e = kernel_.at(id);
    const auto* load = e.get_if<Load>();
    for_each_index(e, [&](const IntExpr& i) {
      need_known(i, known_, load ? "load " + access_text(kernel_, load->access) : "an index value");
    });
    for_each_operand(e, [&](ExprId a) { symbols_of(a); });
  }

  void need_local(LocalId id) const { need(id >= 0 && id < local_count(), "local %v{} does not exist", id); }

  void prefetch(const Prefetch& s) {
    const auto array = static_cast<size_t>(s.param);
    need(array < kernel_.params.size() && kernel_.params[array].kind != ParamKind::Size &&
             kernel_.params[array].kind != ParamKind::Scalar,
         "a prefetch of param {}, which is no array", s.param);
    need(kernel_.dialect == Dialect::Portable && loops_.back()->kind == LoopKind::Vector,
         "a prefetch outside of a vector loop of a CPU");
    need_known(s.offset, known_, "a prefetch");
    need(s.elements.constant().value_or(0) > 0, "a prefetch of {} elements", s.elements.str());
  }

  void scan(const Scan& s) {
    need_local(s.local);
    need_local(s.carry);
    need(!local(s.local).is_mutable && written_.insert(s.local).second, "%v{} gets a second value", s.local);
    need(local(s.carry).is_mutable, "scan %v{} carries %v{}, which is not mutable", s.local, s.carry);
    need(loops_.back()->kind == LoopKind::Vector, "scan %v{} is not in a vector loop", s.local);
    use(s.start, "start");
    if (s.restarts != kNoExpr) use(s.restarts, "flag");
    if (s.factor != kNoExpr) use(s.factor, "factor");
    if (s.over_grid) {
      const Access& meet = s.over_grid->meet;
      access(meet, "scan");
      for (const IntExpr& i : meet.index) need_known(i, known_, "scan " + access_text(kernel_, meet));
      need_known(s.over_grid->parts, known_, "the parts of a scan");
      need_known(s.over_grid->part, known_, "the part of a scan");
      need(kernel_.dialect != Dialect::Portable, "a CPU scans no grid");
    }
    use(s.value, "value");
  }

  void store(const Store& s) {
    access(s.access, "store");
    const bool writable = s.access.scratch ||
                          kernel_.params[static_cast<size_t>(s.access.array)].kind == ParamKind::Output ||
                          kernel_.params[static_cast<size_t>(s.access.array)].kind == ParamKind::Temporary;
    need(writable, "store {}: only outputs, temporaries and scratch are written", access_text(kernel_, s.access));
    for (const IntExpr& i : s.access.index) need_known(i, known_, "store " + access_text(kernel_, s.access));
    if (s.cursor) {
      const std::string name = access_text(kernel_, *s.cursor);
      access(*s.cursor, "count");
      const auto temporary = [&](const Access& a) {
        return !a.scratch && kernel_.params[static_cast<size_t>(a.array)].kind == ParamKind::Temporary;
      };
      need(s.atomic == Op::Add && temporary(*s.cursor) && temporary(s.access),
           "append by {}: to a temporary, by another", name);
      for (const IntExpr& i : s.cursor->index) need_known(i, known_, "append by " + name);
    }
    use(s.value, "value");
    if (s.mask != kNoExpr) use(s.mask, "mask");
    all_different(s);
  }

  // Blocks of scratch, whose sides are the last two dimensions.
  void blocks(const char* what, std::initializer_list<const Access*> all) {
    for (const Access* a : all) {
      need(a->scratch, "{} {}: no scratch", what, access_text(kernel_, *a));
      access(*a, what);
      need(a->index.size() >= 2, "{} scratch{}, which has one dimension", what, a->array);
      for (const IntExpr& i : a->index) need_known(i, known_, what);
    }
  }

  void rows_of_array(const TileProduct& tiles) {
    const Access& a = tiles.rows;
    access(a, "multiply");
    need(!a.scratch && kernel_.params[static_cast<size_t>(a.array)].kind == ParamKind::Input,
         "multiply {}: no array that is read", access_text(kernel_, a));
    need(tiles.rows_axis + 1 < static_cast<int>(a.index.size()), "multiply {}: rows along axis {}",
         access_text(kernel_, a), tiles.rows_axis);
    need(kernel_.params[static_cast<size_t>(a.array)].strides.back().is(1), "multiply {}: terms are not neighbours",
         access_text(kernel_, a));
    for (const IntExpr& i : a.index) need_known(i, known_, "multiply");
  }

  void give(LocalId id, ExprId value) {
    need(written_.insert(id).second || local(id).is_mutable, "%v{} gets a second value, but is not mutable", id);
    use(value, "value");
  }

  void statement(const Stmt& s) {
    const auto has_buffer = [&](int b) { return b >= 0 && static_cast<size_t>(b) < kernel_.buffers.size(); };
    s.match(
        [&](const Loop& l) { loop(l); }, [&](const Each& e) { each(e); }, [&](const Scan& scanned) { scan(scanned); },
        [&](const Prefetch& p) { prefetch(p); }, [&](const Store& stored) { store(stored); },
        [&](const If& branch) {
          use(branch.condition, "condition");
          conditions_.push_back(branch.condition);
          block(branch.body);
          conditions_.pop_back();
        },
        [&](const Let& let) {
          need_local(let.local);
          need(!local(let.local).is_mutable, "let of the mutable local %v{}", let.local);
          positions_[let.local] = let.value;
          give(let.local, let.value);
        },
        [&](const Assign& assign) {
          need_local(assign.local);
          give(assign.local, assign.value);
        },
        [&](const Combine& combine) {
          need_local(combine.local);
          need(combine.index_local < 0 || combine.index_local != combine.local, "%v{} is combined with itself",
               combine.local);
          if (combine.index_local >= 0) need_local(combine.index_local);
          combined_.insert(combine.local);
        },
        [&](const Alloc& alloc) {
          need(has_buffer(alloc.buffer), "scratch{} is allocated but does not exist", alloc.buffer);
        },
        [&](const Turn& turn) {
          need(kernel_.dialect == Dialect::Portable && !vector(), "scratch is turned in a vector loop, or on a GPU");
          blocks("turn", {&turn.into, &turn.from});
          for (const IntExpr& side : {turn.rows, turn.columns}) need_known(side, known_, "a turned block");
          need(turn.into.array != turn.from.array, "scratch{} is turned into itself", turn.into.array);
        },
        [&](const TileProduct& tiles) {
          need(kernel_.dialect == Dialect::Portable && !vector(), "a product of tiles in a vector loop, or on a GPU");
          blocks("multiply", {&tiles.into, &tiles.columns});
          if (tiles.rows_axis < 0)
            blocks("multiply", {&tiles.rows});
          else
            rows_of_array(tiles);
          need_known(tiles.words, known_, "a product of tiles");
          need((!tiles.rows.scratch || tiles.into.array != tiles.rows.array) && tiles.into.array != tiles.columns.array,
               "a product of tiles of itself");
          need(tiles.down > 0 && tiles.across > 0 && tiles.down * tiles.across <= 4, "{} x {} tiles", tiles.down,
               tiles.across);
        },
        [&](const Matrix& matrix) {
          need(kernel_.dialect == Dialect::Gpu || kernel_.dialect == Dialect::GpuHalf,
               "matrix units on another device");
          need(!vector(), "matrix units inside of a vector loop");
          need(has_fragment(matrix.fragment), "fragment {} does not exist", matrix.fragment);
          using Step = Matrix::Step;
          const bool held = matrix.step == Step::Multiply && matrix.by >= 0;
          const bool multiplies = matrix.step == Step::Multiply,
                     adds = matrix.step == Step::Add || matrix.step == Step::AddFinite,
                     puts = matrix.step == Step::Put || matrix.step == Step::PutRows;
          need((matrix.step == Step::Weigh || held || adds) ? matrix.by != matrix.fragment && has_fragment(matrix.by)
                                                            : matrix.by < 0,
               "fragment {} by fragment {}", matrix.fragment, matrix.by);
          for (const auto& [buffer, wanted] :
               {std::pair{matrix.rows, multiplies && !held}, {matrix.columns, multiplies}, {matrix.into, puts}})
            need(wanted ? has_buffer(buffer) : buffer < 0, "scratch{} of matrix units", buffer);
        },
        [&](const Barrier&) {
          need(kernel_.dialect != Dialect::Portable, "a barrier on a CPU");
          need(!vector(), "a barrier inside of a vector loop");
        });
  }

  bool has_fragment(int f) const { return f >= 0 && static_cast<size_t>(f) < kernel_.fragments.size(); }

  void need_variable(Symbol var) const {
    need(var.kind() == Symbol::Kind::Loop || var.kind() == Symbol::Kind::Window,
         "a loop over {}, which is no loop variable", var);
    const auto alike = [&](Symbol other) { return other.str() == var.str(); };
    need(std::none_of(known_.begin(), known_.end(), alike), "loop variable {} hides another", var);
  }

  void loop(const Loop& s) {
    need_variable(s.var);
    const bool inside = !loops_.empty();
    need((s.kind == LoopKind::Grid) == !inside, "loop {}: the outermost loop, and no other, is a grid loop", s.var);
    need_known(s.extent, known_, "the extent of loop " + s.var.str());
    if (s.kind == LoopKind::Vector) {
      // Lanes of a short odd axis, as of three colours, are a multiple of its length, and of four.
      need(s.lanes >= 1 && ((s.lanes & (s.lanes - 1)) == 0 || s.lanes % 4 == 0 || s.extent.is(s.lanes)),
           "vector loop {}: {} lanes", s.var, s.lanes);
      need(!vector(), "vector loop {} stands inside another", s.var);
    } else if (const Loop* outer = vector()) {
      need(!s.extent.mentions(outer->var), "loop {} runs {} times, which differs from lane to lane", s.var,
           s.extent.str());
    }
    const bool power = s.begins > 0 && (s.begins & (s.begins - 1)) == 0;
    need(s.begins == 0 || s.begins == s.lanes || (power && s.lanes % s.begins == 0),
         "loop {}: steps of {} lanes begin at multiples of {}", s.var, s.lanes, s.begins);
    known_.insert(s.var);
    loops_.push_back(&s);
    const auto seen = seen_;
    const auto written = written_;
    block(s.body);
    if (s.interior) interior(s, written);
    seen_ = seen;
    loops_.pop_back();
    known_.erase(s.var);
  }

  // It gives the same locals values as the body in whose place it runs.
  void interior(const Loop& s, const std::set<LocalId>& written) {
    need(s.kind == LoopKind::Vector && kernel_.dialect == Dialect::Portable, "loop {} has an interior", s.var);
    need(s.begins == 1 || s.begins == s.lanes, "the interior of {} may begin at multiples of {}, its steps may not",
         s.var, s.lanes);
    const auto by_body = std::exchange(written_, written);
    for (const IntExpr& e : {s.interior->first, s.interior->last}) {
      need_known(e, known_, "the interior of " + s.var.str());
      need(!e.mentions(s.var), "the interior of {} begins or ends at {}", s.var, e.str());
    }
    for (const IntExpr& h : s.interior->holds) need_known(h, known_, "the interior of " + s.var.str());
    block(s.interior->body);
    need(written_ == by_body, "the interior of {} gives other locals values than its body", s.var);
  }

  void each(const Each& s) {
    need(!vector(), "each {} is inside a vector loop", s.var);
    need_variable(s.var);
    need_known(s.extent, known_, "the extent of " + s.var.str());
    known_.insert(s.var);
    const auto seen = seen_;
    use(s.condition, "condition");
    chosen_.push_back(s.condition);
    block(s.body);
    chosen_.pop_back();
    seen_ = seen;
    known_.erase(s.var);
  }

  const Loop* vector() const {
    for (const Loop* l : loops_)
      if (l->kind == LoopKind::Vector) return l;
    return nullptr;
  }

  // Iterations that run at the same time must not all write one element.
  void all_different(const Store& s) const {
    if (!s.access.scratch && s.access.array == kernel_.error_param) return;  // any one of the errors will do
    if (s.atomic) return;
    if (std::any_of(loops_.begin(), loops_.end(), [](const Loop* l) { return l->extent.is(0); })) return;  // never runs
    for (const Loop* l : loops_) {
      const bool parallel = l->kind == LoopKind::Vector ||
                            ((l->kind == LoopKind::Grid || l->kind == LoopKind::Thread) && !s.access.scratch);
      const auto times = l->extent.constant();
      if (!parallel || (times && *times <= 1) || one_of(l->var)) continue;
      if (l->kind == LoopKind::Grid && is_chosen_by_team()) continue;
      const bool differs = std::any_of(s.access.index.begin(), s.access.index.end(), [&](const IntExpr& i) {
        return i.mentions(l->var) || names_local_of(i, l->var) || names_chosen_of(i, l->var);
      });
      need(differs, "store {}: every iteration of the {} loop {} writes the same element",
           access_text(kernel_, s.access), name_of(l->kind), l->var);
    }
  }

  // Whether a condition around asks what the threads of a team found together, in this phase or in
  // one before: which of several iterations it is that stores.
  bool is_chosen_by_team() const {
    return std::any_of(conditions_.begin(), conditions_.end(), [&](ExprId id) { return asks_team(id); });
  }
  bool asks_team(ExprId id) const {
    const Expr& e = kernel_.at(id);
    if (const auto* read = e.get_if<ReadLocal>()) {
      const auto value = positions_.find(read->local);
      return combined_.count(read->local) > 0 || (value != positions_.end() && asks_team(value->second));
    }
    if (const auto* load = e.get_if<Load>())
      return !load->access.scratch &&
             kernel_.params[static_cast<size_t>(load->access.array)].kind == ParamKind::Temporary;
    if (const auto* cast = e.get_if<Cast>()) return asks_team(cast->x);
    const auto* apply = e.get_if<Apply>();
    return apply && std::any_of(apply->args.begin(), apply->args.end(), [&](ExprId a) { return asks_team(a); });
  }

  // Whether a condition around lets one value of this variable pass.
  bool one_of(Symbol var) const {
    return std::any_of(conditions_.begin(), conditions_.end(), [&](ExprId id) {
      const Apply* equal = kernel_.at(id).as_apply(Op::Eq);
      const auto* left = equal ? kernel_.at(equal->args[0]).get_if<IndexValue>() : nullptr;
      return left && left->value == IntExpr::symbol(var);
    });
  }

  // Whether it names a local whose value is made of this variable itself.
  bool names_local_of(const IntExpr& index, Symbol var) const {
    return index.any_symbol([&](Symbol s) {
      const auto value = s.is_local() ? positions_.find(s.local_id()) : positions_.end();
      return value != positions_.end() && made_of(value->second, var);
    });
  }
  bool made_of(ExprId id, Symbol var) const {
    const Expr& e = kernel_.at(id);
    if (const auto* index = e.get_if<IndexValue>())
      return index->value.mentions(var) || names_local_of(index->value, var);
    const auto* apply = e.get_if<Apply>();
    return apply && std::any_of(apply->args.begin(), apply->args.end(), [&](ExprId a) { return made_of(a, var); });
  }

  // Whether it names a local that an Each around compares with what is made of this variable: each
  // iteration has values of its own.
  bool names_chosen_of(const IntExpr& index, Symbol var) const {
    return index.any_symbol([&](Symbol s) {
      const auto value = s.is_local() ? positions_.find(s.local_id()) : positions_.end();
      return value != positions_.end() &&
             std::any_of(chosen_.begin(), chosen_.end(), [&](ExprId id) { return compares(id, value->second, var); });
    });
  }
  bool compares(ExprId condition, ExprId value, Symbol var) const {
    const auto* apply = kernel_.at(condition).get_if<Apply>();
    if (!apply || apply->args.size() != 2) return false;
    const ExprId a = apply->args[0], b = apply->args[1];
    if (apply->op == Op::And) return compares(a, value, var) || compares(b, value, var);
    return a == value && made_of(b, var);
  }

  const Kernel& kernel_;
  std::vector<ExprId> conditions_;       // of the Ifs around
  std::set<LocalId> combined_;           // so far
  std::vector<ExprId> chosen_;           // conditions of the Eaches around
  std::map<LocalId, ExprId> positions_;  // what locals are let be
  std::set<Symbol> sizes_;               // sizes that index expressions may use
  std::set<Symbol> known_;               // those, and the loops around
  std::vector<const Loop*> loops_;
  std::set<ExprId> seen_;
  std::set<LocalId> written_;
};

}  // namespace

void verify_structure(const Kernel& kernel) { Structure(kernel).run(); }

void verify(const Kernel& kernel) {
  Proved proved;
  verify(kernel, proved);
}

void verify(const Kernel& kernel, Proved& proved) {
  for (const Part& part : kernel.parts)
    SMELT_CHECK(static_cast<size_t>(part.body) < kernel.bodies.size() &&
                    part.values.size() == kernel.bodies[static_cast<size_t>(part.body)].params.size(),
                "a part of {} does not fit its body", kernel.name);
  for (const Kernel& body : kernel.bodies) verify(body, proved);
  if (kernel.is_batch()) return;
  verify_structure(kernel);
  verify_types(kernel);
  verify_locals(kernel);
  verify_accesses(kernel, proved);
  verify_lanes(kernel);
  verify_indices(kernel);
  verify_teams(kernel);
  verify_team_accesses(kernel);
  verify_boxes(kernel);
  verify_barriers(kernel);
  verify_naturals(kernel);
}

}  // namespace smelt::kernel
