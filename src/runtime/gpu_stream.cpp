// Which stream the calls of a thread use.
#include <map>

#include "runtime/gpu.hpp"

namespace smelt::runtime {

static std::map<const Gpu*, StreamHandle>& streams_of_thread() {
  thread_local std::map<const Gpu*, StreamHandle> streams;
  return streams;
}

StreamHandle current_stream(const Gpu& gpu) {
  const auto& streams = streams_of_thread();
  const auto found = streams.find(&gpu);
  return found == streams.end() ? gpu.stream() : found->second;
}

StreamSetting set_current_stream(const StreamSetting& setting) {
  auto& streams = streams_of_thread();
  const auto found = streams.find(setting.gpu);
  const bool had = found != streams.end();
  const StreamSetting before{setting.gpu, had, had ? found->second : nullptr};
  if (setting.set)
    streams[setting.gpu] = setting.stream;
  else if (had)
    streams.erase(found);
  return before;
}

}  // namespace smelt::runtime
