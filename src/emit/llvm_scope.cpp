// Scopes of text, and what is remembered of the values in them.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using kernel::ExprId;
using kernel::Stmt;
using kernel::StmtKind;

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
  scope_at(scope).text += fmt::format("  {} = {}\n", fresh, instruction);
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
  for (const Stmt& s : body) {
    switch (s.kind) {
      case StmtKind::Loop:
      case StmtKind::Each:
      case StmtKind::If: collect_changes(s.body, into); break;
      case StmtKind::Combine:
        if (s.index_local >= 0) into[static_cast<size_t>(s.index_local)] = true;
        [[fallthrough]];
      case StmtKind::Assign: into[static_cast<size_t>(s.local)] = true; break;
      case StmtKind::Store:
        into[locals + (s.access.scratch ? params : 0) + static_cast<size_t>(s.access.array)] = true;
        break;
      case StmtKind::Turn: into[locals + params + static_cast<size_t>(s.buffer)] = true; break;
      case StmtKind::Scan: into[static_cast<size_t>(s.carry)] = true; break;
      case StmtKind::Let:
      case StmtKind::Barrier:
      case StmtKind::Prefetch:
      case StmtKind::Alloc: break;
    }
  }
}

}  // namespace smelt::emit
