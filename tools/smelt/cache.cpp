// smelt cache: what is kept of compiled kernels, and where.
#include <fmt/format.h>

#include "arguments.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/units.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt::tool {

int run_cache(const CacheOptions& options) {
  const Output output(options.common);
  const std::shared_ptr<runtime::DiskCache> cache = runtime::DiskCache::of_user();
  const runtime::CacheInfo info = cache->info();
  nlohmann::ordered_json json = {{"folder", info.folder},
                                 {"usable", info.refused.empty()},
                                 {"entries", info.entries},
                                 {"bytes", info.bytes},
                                 {"limit_bytes", info.limit_bytes}};
  if (!info.refused.empty()) {
    json["refused"] = info.refused;
    output.text(fmt::format("the cache is not used: {}\n", info.refused));
  } else if (options.clear) {
    const int64_t removed = cache->clear();
    json["removed"] = removed;
    output.text(fmt::format("removed {} compiled kernel{} from {}\n", report::format_count(removed),
                            removed == 1 ? "" : "s", info.folder));
  } else {
    report::Table table({{"", report::Align::Left}, {"", report::Align::Left}});
    table.add({"folder", report::printable(info.folder)});
    table.add({"kernels", report::format_count(info.entries)});
    table.add({"size", fmt::format("{} of at most {}", report::format_memory(info.bytes),
                                   report::format_memory(info.limit_bytes))});
    output.text(table.str());
  }
  output.json(json);
  return kFine;
}

}  // namespace smelt::tool
