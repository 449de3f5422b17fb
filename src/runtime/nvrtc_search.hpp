// Where libnvrtc may stand on a machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace smelt::runtime {

struct SearchPlaces {
  std::function<std::string(const char*)> environment;  // "" for what is not set
  std::string root;                                     // stands before every absolute path; for tests
};

// Libraries that are there, best first: those of Python environments (the active ones, those of the PATH, the user's, the system's),
// then those of CUDA toolkits; newer versions before older ones in each place.
std::vector<std::string> nvrtc_files(const SearchPlaces& places);
// What the system's loader may know, newest first.
std::vector<std::string> nvrtc_names();

}  // namespace smelt::runtime
