// Another program, run to its end.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace smelt::runtime {

struct ChildResult {
  int status = 0;      // its exit status; 128 + n when signal n ended it; 127 when it could not be started
  std::string output;  // standard output and error
};

// `environment` comes on top of this process's. Throws UserError when there are no processes to be
// had.
ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      const std::vector<std::pair<std::string, std::string>>& environment = {});

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The executable files of this name, best first: of the PATH, of CUDA_HOME and CUDA_PATH, of Python
// packages, of toolkits.
std::vector<std::string> find_cuda_tool(const std::string& name);

}  // namespace smelt::runtime
