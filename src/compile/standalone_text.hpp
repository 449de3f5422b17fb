// What standalone files of every language have in common. Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include "compile/bind.hpp"
#include "compile/standalone.hpp"

namespace smelt {

// One run of a kernel's code: a group, or a part of a batch, which a file runs one after another.
struct StandaloneRun {
  size_t code;  // of kernels()
  Launch launch;
  std::vector<std::pair<Symbol, IntExpr>> sizes;  // symbols of a part's own
};

class StandaloneText {
 public:
  StandaloneText(const Executable& executable, const StandaloneOptions& options);

  const std::vector<kernel::Kernel>& kernels() const { return codes_; }  // each once, by a name of its own
  const std::vector<StandaloneRun>& runs() const { return runs_; }
  const Graph& graph() const { return graph_; }
  const std::string& name() const { return options_.name; }
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }

  // Names are made here; what users wrote is in comments only.
  std::string symbol_name(Symbol symbol) const;  // "n0" of a size, "threads", "launch_splits"
  std::string integer(const IntExpr& e) const;
  std::string size_parameters() const;        // "int64_t n0, int64_t n1"
  std::string size_names() const;             // "n0, n1"
  std::string array(const Binding& b) const;  // "x0", "y1", "t2"
  std::string pointer_to(NodeId id) const;    // its elements in memory: "float"

  // The program, the arguments, the kernels, between the first line and how to compile it.
  std::string comment(const std::string& language, const std::string& returns) const;
  std::string checks() const;  // returns 1 for sizes that the program does not take
  std::string launch_sizes(const StandaloneRun& run) const;
  std::string last_copies(const std::string& format) const;  // of outputs that are others: fmt with to, from, bytes

 private:
  std::string type_text(NodeId id) const;

  const Executable& executable_;
  const Graph& graph_;
  const StandaloneOptions& options_;
  std::vector<Symbol> symbols_;
  std::vector<Slot> slots_;
  std::vector<kernel::Kernel> codes_;
  std::vector<StandaloneRun> runs_;
};

}  // namespace smelt
