#include "kernel/join_stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernel/offset.hpp"
#include "kernel/text.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using ArrayKey = std::pair<bool, int>;

ArrayKey array_of(const Access& access) { return {access.scratch, access.array}; }

bool loads_from(const Kernel& kernel, const Stmt& s, const ArrayKey& array) {
  return any_below(kernel, expressions(s), [&](const Expr& e) {
    const auto* load = e.get_if<Load>();
    return load && array_of(load->access) == array;
  });
}

bool may_join(const Store& s) { return s.mask == kNoExpr && !s.atomic && s.step && *s.step >= 2; }

// The stores that one begins: those of a block, in the order of their elements.
std::vector<Store*> stores_with(const Kernel& kernel, std::vector<Stmt>& body, size_t first) {
  Store& begin = body[first].get<Store>();
  const auto step = static_cast<size_t>(*begin.step);
  const IntExpr offset = flat_offset(kernel, begin.access);
  std::map<int64_t, Store*> found{{0, &begin}};
  for (size_t next = first + 1; next < body.size() && found.size() < step; ++next) {
    Stmt& s = body[next];
    if (loads_from(kernel, s, array_of(begin.access))) return {};
    if (s.is<Let>() || s.is<Assign>()) continue;
    auto* store = s.get_if<Store>();
    if (!store) return {};
    if (array_of(store->access) != array_of(begin.access)) continue;
    if (!may_join(*store) || store->part >= 0 || *store->step != *begin.step) return {};
    const auto distance = (flat_offset(kernel, store->access) - offset).constant();
    if (!distance || !found.emplace(*distance, store).second) return {};
  }
  if (found.size() < step || found.rbegin()->first - found.begin()->first != *begin.step - 1) return {};
  std::vector<Store*> stores;
  for (const auto& [distance, store] : found) stores.push_back(store);
  return stores;
}

}  // namespace

void join_stores(const Kernel& kernel, std::vector<Stmt>& body) {
  for (size_t first = 0; first < body.size(); ++first) {
    auto* begin = body[first].get_if<Store>();
    if (!begin || !may_join(*begin) || begin->part >= 0) continue;
    const std::vector<Store*> stores = stores_with(kernel, body, first);
    for (size_t part = 0; part < stores.size(); ++part) stores[part]->part = static_cast<int64_t>(part);
    if (!stores.empty()) (*std::max_element(stores.begin(), stores.end()))->closes = true;
  }
}

std::string fault_of_joined_stores(const Kernel& kernel, const std::vector<Stmt>& body) {
  struct Open {
    int64_t step;
    IntExpr base;
    std::set<int64_t> parts;
  };
  std::map<ArrayKey, Open> open;
  for (const Stmt& s : body) {
    for (const auto& [array, stores] : open)
      if (loads_from(kernel, s, array)) return "a load from what stores made together have yet to store";
    const auto* store = s.get_if<Store>();
    if (!store && !open.empty() && !s.is<Let>() && !s.is<Assign>()) return "stores made together with others between";
    if (!store) continue;
    const ArrayKey array = array_of(store->access);
    const auto known = open.find(array);
    if (store->part < 0 && known != open.end()) return "a store between stores of its array that are made together";
    if (store->part < 0) continue;
    const std::string text = access_text(kernel, store->access);
    if (!may_join(*store) || store->part >= *store->step) return fmt::format("{} is not made with others", text);
    const IntExpr base = flat_offset(kernel, store->access) - store->part;
    Open& stores = known == open.end() ? open[array] = {*store->step, base, {}} : known->second;
    if (stores.step != *store->step || !(stores.base == base) || !stores.parts.insert(store->part).second)
      return fmt::format("{} is not element {} of {}", text, store->part, stores.step);
    const bool all = static_cast<int64_t>(stores.parts.size()) == stores.step;
    if (all != store->closes) return fmt::format("{} is made with {} of {}", text, stores.parts.size(), stores.step);
    if (all) open.erase(array);
  }
  return open.empty() ? "" : "stores made together that no last one stores";
}

}  // namespace smelt::kernel
