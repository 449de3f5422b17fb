// Where libnvrtc and the programs of the CUDA toolkit may be on a machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace smelt::runtime {

struct SearchPlaces {
  std::function<std::string(const char*)> environment;  // "" for what is not set
  std::string root;                                     // a prefix of every absolute path; for tests
};

// Libraries that are there, best first: those of Python environments (the active ones, those of the
// PATH, the user's, the system's), then those of CUDA toolkits; newer versions before older ones in
// each place.
std::vector<std::string> nvrtc_files(const SearchPlaces& places);
// Programs of this name, those of the PATH first; that they can be run is for the caller to see.
std::vector<std::string> tool_files(const SearchPlaces& places, const std::string& name);
// What the system's loader may know, newest first.
std::vector<std::string> nvrtc_names();

}  // namespace smelt::runtime
