// Functions in files: all specializations of one, with their code for one target or several.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/specialize.hpp"
#include "compile/saved.hpp"

namespace smelt::detail {

class SavedFile {
 public:
  // Throws UserError when it cannot be read, is damaged, or when nothing of it runs on this
  // machine.
  static std::shared_ptr<const SavedFile> read(const std::string& path);

  // What it has for this device, by the best target, without executables; null where that target
  // has no code. Throws UserError when no target runs there.
  std::vector<std::shared_ptr<Special>> specials(const Device& on) const;
  // Number `i` of these gets its executable.
  void compile(size_t i, Special& special, const Options& options) const;

  const std::string& name() const { return name_; }
  const std::vector<SavedParameter>& parameters() const { return parameters_; }
  int results() const { return results_; }
  std::string describe() const;  // "f32[B, 1024], f32[1024]; ..."

 private:
  friend std::string bytes_of_function(const std::string&, const std::vector<SpecialPtr>&, bool,
                                       const std::vector<std::string>&, const std::vector<SavedParameter>&, int);
  struct Program {
    std::string graph;  // its bytes
    std::vector<InputType> types;
    std::vector<int> lists;
    std::vector<Array> captured;
    std::vector<NumberUse> number_uses;
    SizeBinding sizes, short_sizes;
    std::vector<std::pair<size_t, size_t>> not_short;
    Specialization facts;
    bool fuse = true;
    int threads = 0;  // that it was planned for; 0: the target's
  };
  struct Target {
    SavedTarget target;
    std::vector<std::optional<Settled>> settled;  // per program: nothing for one that it has no code for
  };
  void parse(std::string_view bytes);
  void check_here() const;
  const Target& target_for(const Device& on) const;
  std::shared_ptr<Special> special_of(const Program& program, const Device& on) const;

  std::string path_, name_;
  std::vector<SavedParameter> parameters_;
  int results_ = -1;
  bool declared_ = false;
  std::vector<Program> programs_;
  std::vector<Target> targets_;
};

// What save() writes.
std::string bytes_of_function(const std::string& name, const std::vector<SpecialPtr>& specials, bool declared,
                              const std::vector<std::string>& targets, const std::vector<SavedParameter>& parameters,
                              int results);

}  // namespace smelt::detail
