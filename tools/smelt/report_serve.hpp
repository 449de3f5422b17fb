// A page that follows a file: served to this machine alone, and made again when the file changes.
#pragma once

#include <functional>
#include <string>

namespace smelt::tool {

struct ServedPages {
  int port = 0;         // 0: any that is free
  std::string watched;  // a file; of other text nothing changes
  std::function<std::string(int version)> make;
};

// Until it is interrupted. Throws UserError when the port cannot be had.
int serve_pages(const ServedPages& pages);

}  // namespace smelt::tool
