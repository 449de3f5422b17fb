// Which sizes an executable is built for, and which executable runs a call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "api/program.hpp"
#include "smelt/compile.hpp"

namespace smelt::detail {

// The arrays of a call, all evaluated. `lists` has the lengths of those parameters that are lists.
struct Arguments {
  std::vector<const Data*> arrays;
  std::vector<int> lists;
  std::vector<bool> weak;                    // per array: a number; empty: none is
  std::vector<std::shared_ptr<Data>> owned;  // of the numbers
  bool is_weak(size_t i) const { return !weak.empty() && weak[i]; }
};

// A program for arguments of these types, with the arrays that it uses besides them.
struct Traced {
  Graph graph;
  std::vector<Array> captured;  // after the arguments
  std::vector<Origin> places;   // of the steps; none unless programs written elsewhere are run by the same executable
};

using Build = std::function<Traced(const std::vector<InputType>& types, const std::vector<int>& lists)>;

// What becomes of arguments with gaps between their rows: they are read where they lie, by an
// executable of their own, or copied for one that takes them row by row.
enum class Gaps : uint8_t { Read, Copied };

// Which sizes an executable takes, laid out for a fast answer.
class Pattern {
 public:
  Pattern() = default;
  // `one_may_be_open`: whether a symbol may stand for 1, which broadcasts and is dropped by
  // squeeze. `copies`: whether inputs take arrays however they lie, in the place of another
  // specialization.
  Pattern(const std::vector<InputType>& types, bool gpu, bool one_may_be_open, bool copies);
  // The class of the sizes that stand for symbols, when it takes them. Those of a class differ by
  // less than a factor of four each.
  std::optional<uint64_t> class_of(const Arguments& arguments, Gaps gaps) const;
  bool calculated() const { return calculated_; }  // whether a size is an expression of symbols, as 4*H

 private:
  struct Input {
    DType dtype;
    bool weak;
    std::vector<int64_t> dims;  // a size, or -1 - s for symbol s, or for an expression
    MemoryLayout layout;        // of InputType
  };
  bool takes_layout(const Input& input, const Data& data, Gaps gaps) const;

  std::vector<Input> inputs_;
  size_t symbols_ = 0;
  bool gpu_ = false, one_may_be_open_ = false, copies_ = false, calculated_ = false;
};

// A number among the arguments, and a dtype that it takes because of what it meets.
struct NumberUse {
  size_t argument;
  DType dtype;
};

// One executable, and what it serves.
struct Special {
  std::vector<InputType> types;
  Pattern pattern;
  std::vector<int> lists;
  Device device;  // where it was compiled for
  Graph program;  // as it was traced, for inputs in the order of memory
  bool fuse = true;
  int threads = 0;  // Options::threads
  Executable executable;
  std::vector<Array> captured;
  std::vector<Origin> places;  // of Traced
  std::vector<NumberUse> number_uses;
  SizeBinding sizes;        // of the call that it was compiled for
  SizeBinding short_sizes;  // symbols of the program that are constants here
  // Axes of arguments whose sizes would be constants if they were short; calls in which one is have
  // a specialization of their own.
  std::vector<std::pair<size_t, size_t>> not_short;
  Specialization facts;
  mutable std::atomic<uint64_t> last_use{0};

  // The class of sizes that they are of, when the executable can run them.
  std::optional<uint64_t> class_of(const Arguments& arguments, const Device& on, Gaps gaps = Gaps::Read) const;
  SizeBinding sizes_of(const Arguments& arguments) const;  // of the symbols in types; throws UserError where none fit
  std::optional<int64_t> short_size(const Arguments& arguments) const;  // of an axis of `not_short`, where one is short
};
using SpecialPtr = std::shared_ptr<const Special>;

class SavedFile;

// What messages call the arrays of a call: as Options::parameters says, of a list "xs[0]", "xs[1]".
struct Naming {
  std::vector<std::string> parameters;  // empty: they have no names
  std::string kinds;                    // a letter for every parameter: 'a' for an array, 'l' for a list

  // "argument 2", or "argument gain".
  std::string argument(size_t array, const std::vector<int>& lists) const;
  // The names of inputs: x, y and z where there are no better ones.
  std::vector<std::string> inputs(size_t count, const std::vector<int>& lists) const;
  // Throws UserError unless there is a name for each parameter.
  void check() const;

 private:
  std::vector<std::string> given(const std::vector<int>& lists) const;  // one for each array; empty without names
};

// What distinguishes arguments from those of an executable, and how near they are: the more agrees,
// the nearer.
struct Difference {
  int nearness;
  std::string text;
};
Difference difference(const Special& special, const Arguments& arguments, const Device& on, const Naming& naming);

// The policy of compile(): the sizes that stay open become symbols.
std::vector<InputType> open_types(const Arguments& arguments, const Options& options, const Naming& naming,
                                  const Device& on);
std::vector<InputType> exact_types(const Arguments& arguments, const Naming& naming, const Device& on);
std::string text_of(const Data& data);                   // "f32[4, 8]"
MemoryLayout layout_of(const Data& data, bool for_gpu);  // as a program there finds it
// Throws UserError for what no call could have.
void check_options(const Options& options);
int most_executables(const Options& options);

// The executables of one function. Calls look them up side by side; one at a time is compiled. An
// executable supports the classes of sizes that the same kernels would be made for: what is best
// for a hundred elements is neither fast nor exact for a hundred million. A size of 2 to 16 of a
// last axis is a class of its own on a CPU, and a constant of its kernels (graph/short_sizes.hpp):
// kernels that must ask how short rows are take 4 to 15 times as long. A function has them for
// kMostShort lengths; executables with symbols serve the others.
class Specializer {
 public:
  // `declared`: the program names its open sizes itself, and the policy has nothing to say.
  explicit Specializer(Options options, bool declared = false, std::string kinds = "")
      : options_(std::move(options)), naming_{options_.parameters, std::move(kinds)}, declared_(declared) {
    check_options(options_);
    naming_.check();
  }
  // For a saved function: nothing is compiled.
  Specializer(Options options, Naming naming, std::shared_ptr<const SavedFile> saved)
      : options_(std::move(options)), naming_(std::move(naming)), declared_(false), saved_(std::move(saved)) {
    check_options(options_);
  }

  // `compiled`, when given, says whether one had to be compiled. Throws UserError for a number
  // that does not fit what it meets.
  SpecialPtr find(const Arguments& arguments, const Build& build, bool* compiled = nullptr);
  std::vector<SpecialPtr> all() const;
  SpecialPtr latest() const;  // of the latest call; null without one
  int compile_count() const { return compile_count_.load(); }
  const Options& options() const { return options_; }
  const Naming& naming() const { return naming_; }
  bool declared() const { return declared_; }
  const SavedFile* saved() const { return saved_.get(); }

 private:
  struct Entry {
    SpecialPtr special;
    std::vector<uint64_t> classes;  // of sizes, that it serves
  };

  SpecialPtr find_or_make(const Arguments& arguments, const Build& build, bool* compiled);
  SpecialPtr look_up(const Arguments& arguments, const Device& on) const;
  // For a class of sizes not seen before: one that would be made again. It serves them from now on.
  SpecialPtr extend(const Arguments& arguments, const Device& on);
  SpecialPtr make(const Arguments& arguments, const Build& build, const Device& on) const;
  std::string reason_for(const Arguments& arguments, const Device& on) const;
  SpecialPtr find_saved(const Arguments& arguments, const Device& on);

  const Options options_;
  const Naming naming_;
  const bool declared_;
  const std::shared_ptr<const SavedFile> saved_;
  mutable std::shared_mutex mutex_;  // of entries_
  std::vector<Entry> entries_;
  std::mutex compiling_;  // also of saved_entries_
  struct SavedEntry {
    std::shared_ptr<Special> special;  // of the file; null where it has no code for the device
    bool built = false;                // and one of entries_
  };
  std::map<std::string, std::vector<SavedEntry>> saved_entries_;  // by device
  mutable std::atomic<uint64_t> clock_{0};
  std::atomic<int> compile_count_{0};
  std::atomic<bool> copies_gaps_{false};  // there are kMostWithGaps executables for arguments with gaps
};

// The device that a call on these arrays runs on: theirs, else `otherwise`. Throws UserError when
// they are on several.
Device device_for(const std::vector<const Data*>& arrays, const Device& otherwise);

// Runs it on the device that it was compiled for; outputs are fresh.
std::vector<Array> run(const Special& special, const Arguments& arguments);
// Into memory of the caller.
void run_into(const Special& special, const Arguments& arguments, const std::vector<Array>& outputs);
// How many plans eval() has compiled in this process.
int eval_compile_count();
// The views of a call: arguments, in the order of their memory, then captured arrays.
std::vector<TensorView> views_of(const Special& special, const Arguments& arguments);
std::vector<TensorView> output_views(const Special& special, const std::vector<Array>& outputs);

}  // namespace smelt::detail
