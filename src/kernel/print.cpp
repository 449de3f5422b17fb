// Text of a Kernel: parameters, then phases with one statement a line. An expression is inside
// its statement; one that is used several times, or is long, gets a line of its own ("%3: f32 =
// ...") in front of the first statement that needs it, in the innermost block that does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "kernel/lane_forms.hpp"
#include "kernel/text.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {

namespace {

constexpr size_t kLongLine = 90;

class Printer {
 public:
  Printer(const Kernel& kernel, bool labels) : kernel_(kernel), labels_(labels), uses_(kernel.exprs.size()) {
    for (const Phase& phase : kernel.phases) count_uses(phase.body);
  }

  std::string run() {
    line("kernel {}", kernel_.name);
    ++depth_;
    for (size_t i = 0; i < kernel_.params.size(); ++i) param(static_cast<int>(i));
    for (const LaunchSize& size : kernel_.launch_sizes) line("launch {} = {}", size.symbol, size.value.str());
    for (const std::string_view pass : kernel_.undone) line("without {}, which could not be proved", pass);
    for (const IntExpr& e : kernel_.assumptions) line("assume {} >= 0", e.str());
    for (const IndexLocal& index : kernel_.index_locals) line("index %v{} < {}", index.local, index.extent.str());
    if (kernel_.error_param >= 0) line("errors to {}", param_name(kernel_, kernel_.error_param));
    if (kernel_.counter_param >= 0) line("workgroups counted in {}", param_name(kernel_, kernel_.counter_param));
    for (size_t i = 0; i < kernel_.locals.size(); ++i)
      if (kernel_.locals[i].is_mutable) line("mutable %v{}: {}", i, name_of(kernel_.locals[i].dtype));
    for (const InPlace& p : kernel_.in_place)
      line("in place: {} in {}", param_name(kernel_, p.output), param_name(kernel_, p.input));
    --depth_;
    for (size_t i = 0; i < kernel_.phases.size(); ++i) {
      const Phase& phase = kernel_.phases[i];
      line("phase {}, work {}{}{}{}", i, phase.work.str(), phase.last ? ", by the last workgroup" : "",
           phase.counter < 0 ? "" : ", in the order of " + param_name(kernel_, phase.counter),
           phase.copies ? ", not where " + param_name(kernel_, phase.copies->output) + " is " +
                              param_name(kernel_, phase.copies->input)
                        : "");
      ++depth_;
      for (const std::string& text : lines_of(kernel_, phase)) line("{}", text);
      std::vector<std::string> naturals;
      for (const IntExpr& e : phase.naturals) naturals.push_back(e.str());
      if (!naturals.empty()) line("naturals {}", fmt::join(naturals, ", "));
      --depth_;
      phase_ = &phase;
      block(phase.body);
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...);
    if (!pending_.empty()) text_ += fmt::format("  # {}", fmt::join(pending_, "; "));
    pending_.clear();
    text_ += "\n";
  }

  void param(int i) {
    const Param& p = kernel_.params[static_cast<size_t>(i)];
    const std::string note = p.note.empty() ? "" : "  # " + p.note;
    switch (p.kind) {
      case ParamKind::Size: return line("{}: {}{}", param_name(kernel_, i), *p.symbol, note);
      case ParamKind::Scalar: return line("{}: {}{}", param_name(kernel_, i), name_of(p.dtype), note);
      case ParamKind::Input:
      case ParamKind::Output:
      case ParamKind::Temporary:
        return line("{}: {}{} strides {}{}", param_name(kernel_, i), name_of(p.dtype), str(p.dims),
                    str(Shape(p.strides)), note);
    }
  }

  void count_uses(const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      if (const ExprId* value = value_of(s)) count_use(*value);
      if (const auto* store = s.get_if<Store>()) count_use(store->mask);
      if (const auto* inside = body_of(s)) count_uses(*inside);
      if (const auto* interior = interior_of(s)) count_uses(interior->body);
    }
  }
  void count_use(ExprId id) {
    if (id == kNoExpr || ++uses_[static_cast<size_t>(id)] > 1) return;
    for_each_operand(kernel_.at(id), [&](ExprId operand) { count_use(operand); });
  }

  static std::string step_text(std::optional<int64_t> step) {
    if (!step) return "scattered ";
    return *step == 0 || *step == 1 ? "" : *step == -1 ? "reversed " : "strided ";
  }

  // How the lanes of a load lie, where that is not all in one place or side by side; whether they
  // share random words.
  std::string lanes_text(ExprId id) const {
    if (!forms_) return "";
    if (const auto draw = forms_->draws.find(id); draw != forms_->draws.end())
      return draw->second.aligned ? "blocks of " : "unaligned blocks of ";
    if (forms_->loads.count(id) == 0) return "";
    const LaneAccess& access = forms_->loads.at(id);
    const std::string mostly = access.holds.empty() ? "" : "mostly ";
    switch (access.form) {
      case LaneAccess::Form::Gather: return "gathered ";
      case LaneAccess::Form::Pieces: return mostly + "pieced ";
      case LaneAccess::Form::Broadcast: return mostly.empty() ? "" : mostly + "one ";
      case LaneAccess::Form::Apart: return mostly + "apart ";
      case LaneAccess::Form::Strided: break;
    }
    if (access.behind != 0) return "shifted ";
    return access.step == 1 ? (mostly.empty() ? "" : mostly + "contiguous ") : mostly + step_text(access.step);
  }

  // The operation of the program that the expression is of, for the line that has it.
  void note(ExprId id) {
    const auto label = labels_ ? kernel_.labels.find(id) : kernel_.labels.end();
    if (label != kernel_.labels.end() && std::find(pending_.begin(), pending_.end(), label->second) == pending_.end())
      pending_.push_back(label->second);
  }

  // The text for a use of `id`, after the lines that it needs.
  std::string use(ExprId id, const Expr* user) {
    if (auto it = named_.find(id); it != named_.end()) return it->second;
    const Expr& e = kernel_.at(id);
    const std::vector<std::string> before = std::exchange(pending_, {});
    const std::string text = lanes_text(id) + text_of(kernel_, e, [&](ExprId arg) { return use(arg, &e); });
    if (!is_leaf(e) && (uses_[static_cast<size_t>(id)] > 1 || (user && text.size() > kLongLine))) {
      const std::string name = fmt::format("%{}", next_name_++);
      note(id);
      line("{}: {} = {}", name, name_of(e.dtype), text);
      pending_ = before;
      named_[id] = name;
      return name;
    }
    note(id);
    pending_.insert(pending_.begin(), before.begin(), before.end());
    return user && is_open(e, *user) ? "(" + text + ")" : text;
  }
  std::string use(ExprId id) { return use(id, nullptr); }

  void block(const std::vector<Stmt>& body) {
    const auto outer = named_;
    ++depth_;
    for (const Stmt& s : body) statement(s);
    --depth_;
    named_ = outer;
  }

  void team(const Loop& loop) {
    ++depth_;
    for (const std::string& text : lines_of(kernel_, *phase_, loop)) line("{}", text);
    --depth_;
  }

  // How lanes compute their indices.
  void lanes(const LaneForms& forms) {
    constexpr size_t kShown = 8;
    ++depth_;
    for (const auto& [e, table] : forms.tables)
      line("lanes of {} are {}{} beyond the first", e.str(),
           fmt::join(table.begin(), table.begin() + static_cast<int64_t>(std::min(kShown, table.size())), " "),
           table.size() > kShown ? " ..." : "");
    for (const auto& [key, division] : forms.divisions)
      line("lanes of {} by one division", IntExpr::of_term({1, {division.atom}}).str());
    for (const auto& [id, comparison] : forms.comparisons)
      if (comparison.at_least) line("{} where {} >= 0", expr_text(kernel_, id), comparison.difference.str());
    --depth_;
  }

  void statement(const Stmt& s) {
    s.match(
        [&](const Loop& loop) { print_loop(loop); },
        [&](const Let& let) {
          const std::string value = use(let.value);
          line("let %v{}: {} = {}", let.local, name_of(kernel_.locals[static_cast<size_t>(let.local)].dtype), value);
        },
        [&](const Assign& assign) {
          const std::string value = use(assign.value);
          forget_changed(s);
          line("%v{} := {}", assign.local, value);
        },
        [&](const Combine& combine) {
          const std::string index = combine.index_local < 0 ? "" : fmt::format(", %v{}", combine.index_local);
          forget_changed(s);
          line("combine %v{}{} by {} over lane{}", combine.local, index, smelt::name_of(combine.op),
               combine.columns ? fmt::format(", one of each of {} columns", combine.columns) : "");
        },
        [&](const Scan& scan) { print_scan(scan); },
        [&](const Alloc& alloc) {
          const ScratchBuffer& b = kernel_.buffers[static_cast<size_t>(alloc.buffer)];
          line("alloc scratch{}: {}{} per {}", alloc.buffer, name_of(b.dtype), str(Shape(b.dims)), name_of(b.scope));
        },
        [&](const Barrier&) { line("barrier"); },
        [&](const Prefetch& prefetch) {
          line("prefetch {}[{}] and the {} after it to level {}", param_name(kernel_, prefetch.param),
               prefetch.offset.str(), (prefetch.elements - 1).str(), prefetch.level);
        },
        [&](const Matrix& matrix) { print_matrix(matrix); },
        [&](const Turn& turn) {
          forget_changed(s);
          line("turn {} x {} from {} to {}", turn.rows.str(), turn.columns.str(), access_text(kernel_, turn.from),
               access_text(kernel_, turn.into));
        },
        [&](const TileProduct& tiles) {
          forget_changed(s);
          line("{} x {} tiles from {} {} {} from {} by {} from {}, {} words", tiles.down, tiles.across,
               access_text(kernel_, tiles.into), tiles.first ? "=" : "+=", name_of(tiles.rows_type),
               access_text(kernel_, tiles.rows), name_of(tiles.columns_type), access_text(kernel_, tiles.columns),
               tiles.words.str());
        },
        [&](const Store& store) { print_store(store); },
        [&](const If& branch) {
          const std::string condition = use(branch.condition);
          line("if {}:", condition);
          block(branch.body);
          forget_changed(branch.body);
        },
        [&](const Each& each) {
          forget_changed(each.body);
          const auto outer = named_;
          if (each.forms) lanes(*each.forms);
          forms_ = each.forms.get();
          const std::string condition = use(each.condition);
          forms_ = nullptr;
          line("each {} < {} of which {}:", each.var, each.extent.str(), condition);
          named_ = outer;
          block(each.body);
        });
  }

  void print_loop(const Loop& loop) {
    forget_changed(loop.body);  // the body's later iterations come before its earlier lines too
    if (loop.kind == LoopKind::Vector)
      line("vector {} < {} by {}{}{}:", loop.var, loop.extent.str(), loop.lanes,
           loop.columns ? fmt::format(" in {} columns", loop.columns) : "", begins(loop));
    else
      line("{} {} < {}{}:", name_of(loop.kind), loop.var, loop.extent.str(),
           loop.stages ? fmt::format(" in {} stages", loop.stages) : "");
    if (loop.team) team(loop);
    if (loop.forms) lanes(*loop.forms);
    const LaneForms* outer = std::exchange(forms_, loop.forms ? loop.forms.get() : forms_);
    block(loop.body);
    if (loop.interior) interior(loop);
    forms_ = outer;
  }

  void print_scan(const Scan& scan) {
    const std::string value = use(scan.value);
    const std::string more = scan.restarts != kNoExpr ? " restarts if " + use(scan.restarts)
                             : scan.factor != kNoExpr ? " times " + use(scan.factor)
                                                      : "";
    forget_changed(scan);
    line("scan %v{} = {}{} by {} after %v{} over {}{}", scan.local, scan.exclusive ? "what precedes " : "", value,
         smelt::name_of(scan.op), scan.carry,
         scan.over_grid ? fmt::format("grid ({})", access_text(kernel_, scan.over_grid->meet)) : "lane", more);
  }

  void print_matrix(const Matrix& matrix) {
    forget_changed(matrix);
    if (matrix.step == Matrix::Step::Clear) line("fragment{} := 0", matrix.fragment);
    if (matrix.step == Matrix::Step::Weigh)
      line("fragment{}, fragment{} := exp({}fragment{} - row maxima), fragment{} rescaled", matrix.by, matrix.fragment,
           matrix.scale == 1 ? "" : fmt::format("{} * ", matrix.scale), matrix.by, matrix.fragment);
    if (matrix.step == Matrix::Step::PutRows) line("scratch{} = rows of fragment{}", matrix.into, matrix.fragment);
    if (matrix.step == Matrix::Step::Multiply && matrix.by >= 0)
      line("fragment{} := fragment{} times scratch{} + fragment{}", matrix.fragment, matrix.by, matrix.columns,
           matrix.fragment);
    if (matrix.step == Matrix::Step::Multiply && matrix.by < 0)
      line("fragment{} := scratch{} times scratch{} + fragment{}", matrix.fragment, matrix.rows, matrix.columns,
           matrix.fragment);
    if (matrix.step == Matrix::Step::Add || matrix.step == Matrix::Step::AddFinite)
      line("fragment{} += {}fragment{}", matrix.fragment, matrix.step == Matrix::Step::Add ? "" : "finite of ",
           matrix.by);
    if (matrix.step == Matrix::Step::Put) line("scratch{} = fragment{}", matrix.into, matrix.fragment);
  }

  void print_store(const Store& store) {
    const std::string mask = store.mask == kNoExpr ? "" : " if " + use(store.mask);
    const std::string value = use(store.value);
    forget_changed(store);
    const std::string how = store.cursor      ? fmt::format("append by {} ", access_text(kernel_, *store.cursor))
                            : store.atomic    ? fmt::format("atomic {} ", smelt::name_of(*store.atomic))
                            : store.streaming ? "stream "
                            : store.later     ? "later "
                            : forms_          ? step_text(store.step)
                                              : "";
    line("{}{} = {}{}", store.part >= 0 ? "interleaved " : how, access_text(kernel_, store.access), value, mask);
  }

  static std::string begins(const Loop& loop) {
    if (loop.begins == 0 || loop.begins == loop.lanes) return "";
    return loop.begins == 1 ? ", steps anywhere" : fmt::format(", steps at multiples of {}", loop.begins);
  }

  void interior(const Loop& loop) {
    const Interior& inside = *loop.interior;
    std::string holds;
    for (const IntExpr& h : inside.holds) holds += fmt::format(" where {} >= 0", h.str());
    ++depth_;
    line("inside {} <= {} < {}{}:", inside.first.str(), loop.var, inside.last.str(), holds);
    forget_changed(loop.body);
    block(inside.body);
    --depth_;
  }

  // A name stands for a value; once what it was computed from has changed, it must not be used
  // again.
  void forget_changed(const std::vector<Stmt>& body) {
    for_each_stmt(body, [&](const Stmt& s) { forget_changed(s); });
  }
  void forget_changed(const Stmt& s) {
    if (named_.empty()) return;
    std::vector<bool> stale(kernel_.exprs.size());
    for (size_t i = 0; i < stale.size(); ++i) {
      const Expr& e = kernel_.exprs[i];
      stale[i] = changes(s, e);
      for_each_operand(e, [&](ExprId operand) { stale[i] = stale[i] || stale[static_cast<size_t>(operand)]; });
    }
    std::erase_if(named_, [&](const auto& entry) { return stale[static_cast<size_t>(entry.first)]; });
  }
  bool changes(const Stmt& s, const Expr& e) const {
    const auto reads = [&](LocalId id) {
      const auto* read = e.get_if<ReadLocal>();
      return read && read->local == id;
    };
    const auto loads = [&](bool scratch, int array) {
      const auto* load = e.get_if<Load>();
      return load && load->access.scratch == scratch && load->access.array == array;
    };
    if (const auto* assign = s.get_if<Assign>()) return reads(assign->local);
    if (const auto* combine = s.get_if<Combine>()) return reads(combine->local) || reads(combine->index_local);
    if (const auto* scan = s.get_if<Scan>()) return reads(scan->carry);
    if (const auto* turn = s.get_if<Turn>()) return loads(true, turn->into.array);
    if (s.is<Matrix>() || s.is<TileProduct>()) {
      bool changed = false;
      visit_accesses(kernel_, s, [&](const Access& access, bool stored) {
        changed = changed || (stored && loads(true, access.array));
      });
      return changed;
    }
    const auto* store = s.get_if<Store>();
    return store && loads(store->access.scratch, store->access.array);
  }

  const Kernel& kernel_;
  const bool labels_;
  std::vector<std::string> pending_;  // labels for the next line
  std::vector<int> uses_;
  std::map<ExprId, std::string> named_;
  const LaneForms* forms_ = nullptr;  // of the loop around
  const Phase* phase_ = nullptr;
  std::string text_;
  int depth_ = 0;
  int next_name_ = 0;
};

}  // namespace

static std::string print(const Kernel& kernel, bool labels) {
  if (!kernel.is_batch()) return Printer(kernel, labels).run();
  std::string text = fmt::format("batch {}: {} parts of {} form{}\n", kernel.name, kernel.parts.size(),
                                 kernel.bodies.size(), kernel.bodies.size() == 1 ? "" : "s");
  for (const Kernel& body : kernel.bodies) text += print(body, labels);
  return text;
}
std::string print(const Kernel& kernel) { return print(kernel, false); }
std::string print_with_labels(const Kernel& kernel) { return print(kernel, true); }

}  // namespace smelt::kernel
