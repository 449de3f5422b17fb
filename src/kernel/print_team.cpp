// Text of how teams of threads run the loops of a phase.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "kernel/phase_uses.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/text.hpp"

namespace smelt::kernel {

std::string_view name_of(Cached cached) {
  switch (cached) {
    case Cached::Usual: return "";
    case Cached::Lasting: return "lasting";
    case Cached::Passing: return "passing";
    case Cached::Repeated: return "repeated";
  }
  throw InternalError("unknown caching");
}

namespace {

std::string text_of(const LoopShape& shape) {
  if (shape.by_element) return "element by element";
  std::string text = fmt::format("{} x {} to a thread", shape.unroll, shape.lanes);
  if (shape.peeled) text += fmt::format(", peeled, element 0 at {}", shape.origin.str());
  if (shape.one_step) text += ", in one step";
  if (shape.last_apart) text += ", the last step apart";
  if (!shape.checked) text += ", unchecked";
  if (shape.checked && shape.inside) text += fmt::format(", unchecked up to group {}", shape.inside);
  return text;
}

std::string text_of(const Kernel& kernel, ExprId load) {
  return access_text(kernel, kernel.at(load).get<Load>().access);
}

std::string text_of(const Kernel& kernel, std::string_view what, const std::vector<EarlyLoad>& loads) {
  std::vector<std::string> list;
  for (const EarlyLoad& e : loads) {
    if (e.follows) continue;
    const std::string more = e.next.empty() ? "" : fmt::format(" and the {} after it", e.next.size());
    list.push_back(fmt::format("{}{}{}{}{}", name_of(e.cached), e.cached == Cached::Usual ? "" : " ",
                               e.step > 0   ? "groups of "
                               : e.step < 0 ? "reversed groups of "
                               : e.shared   ? "one for each group of "
                                            : "",
                               text_of(kernel, e.load), more));
  }
  return list.empty() ? "" : fmt::format("{} {}", what, fmt::join(list, ", "));
}

std::string lanes_text(const Kernel& kernel, const LoopAccesses& accesses) {
  std::vector<std::string> list;
  const auto add = [&](const FromLane& from) {
    list.push_back(fmt::format("{} from groups of {}", text_of(kernel, from.load), text_of(kernel, from.group)));
  };
  const auto add_early = [&](const std::vector<EarlyLoad>& loads) {
    for (const EarlyLoad& e : loads)
      if (e.from) add(*e.from);
  };
  add_early(accesses.held);
  add_early(accesses.early);
  for (const BlockAccesses& block : accesses.blocks) {
    add_early(block.early);
    for (const FromLane& from : block.from) add(from);
  }
  return list.empty() ? "" : fmt::format("takes {}", fmt::join(list, ", "));
}

// Accesses of neighbouring lanes, and of elements that follow each other.
std::string at_once_text(const Kernel& kernel, const Loop& loop, const LoopAccesses& accesses) {
  std::vector<std::string> draws, loads, stores;
  const auto run = [](const std::string& first, size_t count) {
    return fmt::format("{} and the {} after it", first, count - 1);
  };
  const auto blocks = blocks_of(kernel, loop);
  for (size_t b = 0; b < blocks.size() && b < accesses.blocks.size(); ++b) {
    const auto stored = [&](int n) {
      return access_text(kernel, blocks[b][static_cast<size_t>(n)]->get<Store>().access);
    };
    const BlockAccesses& block = accesses.blocks[b];
    for (const GroupDraw& d : block.draws)
      draws.push_back(fmt::format("{} from {}", d.aligned ? "blocks" : "words", d.base.str()));
    for (const AdjacentLoads& l : block.loads) loads.push_back(run(text_of(kernel, l.loads[0]), l.loads.size()));
    for (const GroupStore& g : block.group_stores) {
      const std::string first = stored(g.statement);
      stores.push_back((g.copied     ? "copied groups of "
                        : g.step > 0 ? "groups of "
                                     : "reversed groups of ") +
                       (g.next.empty() ? first : run(first, g.next.size() + 1)));
    }
    for (const AdjacentStores& s : block.stores) stores.push_back(run(stored(s.statements[0]), s.statements.size()));
  }
  std::vector<std::string> texts;
  if (!draws.empty()) texts.push_back(fmt::format("draws {}", fmt::join(draws, ", ")));
  if (!loads.empty()) texts.push_back(fmt::format("loads {}", fmt::join(loads, ", ")));
  if (!stores.empty()) texts.push_back(fmt::format("stores {}", fmt::join(stores, ", ")));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string text_of(const Kernel& kernel, const IterationLoads& batch) {
  if (batch.iterations == 1) return "";
  std::vector<std::string> list;
  for (const ExprId id : batch.loads) list.push_back(text_of(kernel, id));
  return fmt::format("loads {} of {} iterations", fmt::join(list, ", "), batch.iterations);
}

// Texts, each once, with the variants that share it in front.
class ByVariant {
 public:
  explicit ByVariant(const Phase& phase) : phase_(phase) {}
  void add(size_t variant, const std::string& text) {
    const std::string name = name_of(phase_.variants[variant]);
    const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const auto& l) { return l.second == text; });
    if (at == lines_.end())
      lines_.emplace_back(name, text);
    else
      at->first += ", " + name;
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [names, text] : lines_)
      if (!text.empty()) lines.push_back(fmt::format("{}: {}", names, text));
    return lines;
  }

 private:
  const Phase& phase_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace

std::string name_of(const Variant& variant) {
  const std::string held = variant.held ? "held " : "";
  switch (variant.form) {
    case Variant::Form::Fast: return held + "fast";
    case Variant::Form::Odd: return held + "odd";
    case Variant::Form::Any: return "any";
    case Variant::Form::Ending: return "ending";
  }
  return "?";
}

std::vector<std::string> lines_of(const Kernel& kernel, const Phase& phase) {
  std::vector<std::string> lines;
  for (const Variant& variant : phase.variants) {
    std::vector<std::string> when;
    for (const IntExpr& h : variant.when) when.push_back(h.str() + " >= 0");
    for (const int bytes : {2, 4, 8, 16}) {
      std::vector<std::string> arrays;
      for (size_t p = 0; p < variant.alignment.size(); ++p)
        if (variant.alignment[p] == bytes && bytes > size_of(kernel.params[p].dtype))
          arrays.push_back(param_name(kernel, static_cast<int>(p)));
      if (arrays.empty()) continue;
      when.push_back(
          fmt::format("{} {} aligned to {}", fmt::join(arrays, ", "), arrays.size() > 1 ? "are" : "is", bytes));
    }
    lines.push_back(fmt::format("variant {}{}{}{}{}", name_of(variant), variant.wide ? ", 64-bit indices" : "",
                                variant.boxes ? ", boxes" : "", when.empty() ? "" : " where ",
                                fmt::join(when, " and ")));
  }
  return lines;
}

static std::string text_of(const Kernel& kernel, const Box& box) {
  std::vector<std::string> sides;
  for (size_t s = 0; s < box.sides.size(); ++s)
    sides.push_back(fmt::format("{} from {} of {}",
                                s == 0   ? box.line
                                : s == 1 ? box.lines
                                         : 1,
                                box.sides[s].first.str(), box.sides[s].extent.str()));
  return fmt::format("box of {}: {}", param_name(kernel, box.param), fmt::join(sides, ", "));
}

std::vector<std::string> lines_of(const Kernel& kernel, const Phase& phase, const Loop& loop) {
  const TeamForms& forms = *loop.team;
  ByVariant shapes(phase), held(phase), early(phase), lanes(phase), wide(phase), batches(phase);
  for (size_t v = 0; v < forms.shapes.size(); ++v) shapes.add(v, text_of(forms.shapes[v]));
  for (size_t v = 0; v < forms.accesses.size(); ++v) {
    const LoopAccesses& accesses = forms.accesses[v];
    held.add(v, text_of(kernel, "holds", accesses.held));
    std::vector<EarlyLoad> loads = accesses.early;
    for (const BlockAccesses& block : accesses.blocks)
      loads.insert(loads.end(), block.early.begin(), block.early.end());
    early.add(v, text_of(kernel, "loads early", loads));
    lanes.add(v, lanes_text(kernel, accesses));
    const std::string at_once = at_once_text(kernel, loop, accesses);
    wide.add(v, at_once);
    batches.add(v, text_of(kernel, accesses.batch));
  }
  std::vector<std::string> lines;
  for (const ByVariant* by : {&shapes, &held, &early, &lanes, &wide, &batches})
    for (std::string& line : by->lines()) lines.push_back(std::move(line));
  if (loop.box) lines.push_back(text_of(kernel, *loop.box));
  return lines;
}

}  // namespace smelt::kernel
