// Scopes of text, and what is remembered of the values in them.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using kernel::ExprId;
using kernel::Stmt;

void PhasePrinter::push(bool skippable, Changes changes) {
  Scope scope;
  scope.skippable = skippable;
  scope.changes = std::move(changes);
  scopes_.push_back(std::move(scope));
}

std::string PhasePrinter::pop() {
  for (ExprId id : scopes_.back().exprs) known_[static_cast<size_t>(id)].reset();
  for (const std::string& key : scopes_.back().keys) known_texts_.erase(key);
  std::string text = std::move(scopes_.back().text);
  scopes_.pop_back();
  return text;
}

void PhasePrinter::line(const std::string& text) {
  if (std::string declaration = declaration_for(text); !declaration.empty()) declarations_.insert(declaration);
  scopes_.back().text += "  " + text + "\n";
}

std::string PhasePrinter::name(int scope, const std::string& instruction) {
  if (std::string declaration = declaration_for(instruction); !declaration.empty()) declarations_.insert(declaration);
  std::string fresh = fmt::format("%v{}", ++values_);
  scope_at(scope).text += fmt::format("  {} = {}{}\n", fresh, instruction, label_);
  return fresh;
}

Value PhasePrinter::define(int scope, DType dtype, int lanes, const std::string& instruction) {
  return {name(scope, instruction), dtype, lanes, scope};
}

void PhasePrinter::remember(ExprId id, const Value& value) {
  known_[static_cast<size_t>(id)] = value;
  scope_at(value.scope).exprs.push_back(id);
}

void PhasePrinter::remember(const std::string& key, const Value& value) {
  known_texts_[key] = value;
  scope_at(value.scope).keys.push_back(key);
}

const Value* PhasePrinter::recall(const std::string& key) const {
  const auto found = known_texts_.find(key);
  return found == known_texts_.end() ? nullptr : &found->second;
}

// Drops every remembered expression that reads something that changed.
void PhasePrinter::forget(const Changes& changes) {
  if (std::find(changes.begin(), changes.end(), true) == changes.end()) return;
  for (Scope& scope : scopes_) {
    auto stale = [&](ExprId id) {
      auto& known = known_[static_cast<size_t>(id)];
      if (!known) return true;
      for (int resource : dependencies_[static_cast<size_t>(id)])
        if (changes[static_cast<size_t>(resource)]) {
          known.reset();
          return true;
        }
      return false;
    };
    std::erase_if(scope.exprs, stale);
  }
}

int PhasePrinter::changing_scope(int resource) const {
  for (int i = top(); i > 0; --i) {
    const Changes& changes = scopes_[static_cast<size_t>(i)].changes;
    if (!changes.empty() && changes[static_cast<size_t>(resource)]) return i;
  }
  return 0;
}

int PhasePrinter::reading_scope() const {
  for (int i = top(); i > 0; --i)
    if (scopes_[static_cast<size_t>(i)].skippable) return i;
  return 0;
}

void PhasePrinter::collect_changes(const std::vector<Stmt>& body, Changes& into) const {
  const size_t locals = kernel_.locals.size(), params = kernel_.params.size();
  const auto change = [&](size_t resource) { into[resource] = true; };
  const auto change_local = [&](kernel::LocalId id) { change(static_cast<size_t>(id)); };
  const auto change_inside = [&](const auto& around) { collect_changes(around.body, into); };
  for (const Stmt& s : body)
    s.match([&](const kernel::Loop& loop) { change_inside(loop); },
            [&](const kernel::Each& each) { change_inside(each); },
            [&](const kernel::If& branch) { change_inside(branch); },
            [&](const kernel::Assign& assign) { change_local(assign.local); },
            [&](const kernel::Combine& combine) {
              change_local(combine.local);
              if (combine.index_local >= 0) change_local(combine.index_local);
            },
            [&](const kernel::Scan& scan) { change_local(scan.carry); },
            [&](const kernel::Store& store) {
              change(locals + (store.access.scratch ? params : 0) + static_cast<size_t>(store.access.array));
            },
            [&](const kernel::Turn& turn) { change(locals + params + static_cast<size_t>(turn.into.array)); },
            [&](const kernel::TileProduct& tiles) { change(locals + params + static_cast<size_t>(tiles.into.array)); },
            [](const kernel::Let&) {}, [](const kernel::Barrier&) {}, [](const kernel::Matrix&) {},
            [](const kernel::Prefetch&) {}, [](const kernel::Alloc&) {});
}

}  // namespace smelt::emit
