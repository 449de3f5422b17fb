#include "base/kept_text.hpp"

#include <mutex>
#include <set>
#include <string>

namespace smelt {

const char* kept_text(std::string_view text) {
  static std::mutex mutex;
  // Never destroyed: values of static storage may outlive any table that is.
  static auto* const texts = new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  auto found = texts->find(text);
  if (found == texts->end()) found = texts->emplace(text).first;
  return found->c_str();
}

}  // namespace smelt
