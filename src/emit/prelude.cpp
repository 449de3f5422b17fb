#include "emit/prelude.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace smelt::emit {

void append(HelperList& list, const HelperList& more) { list.insert(list.end(), more.begin(), more.end()); }

std::string text_of(const HelperList& list, UsedHelpers used) {
  std::set<std::string> defined;
  std::vector<const Definition*> kept;  // the last first
  for (auto helper = list.rbegin(); helper != list.rend(); ++helper) {
    defined.insert(helper->names.begin(), helper->names.end());
    const auto is_used = [&](const std::string& name) { return used.contains(name); };
    if (!helper->always && std::none_of(helper->names.begin(), helper->names.end(), is_used)) continue;
    for (const std::string& name : helper->needs) used(name);
    kept.push_back(&*helper);
  }
  for (const std::string& name : used.names())
    SMELT_CHECK(defined.count(name), "the helper {} is called, which the target does not have", name);
  std::string text;
  for (auto helper = kept.rbegin(); helper != kept.rend(); ++helper)
    if (!(*helper)->text.empty() || !(text.empty() || text.ends_with("\n\n"))) text += (*helper)->text + "\n";
  return text;
}

}  // namespace smelt::emit
