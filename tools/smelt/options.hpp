// The command line as data: the commands, their options, and what each takes. Parsing, help, the
// manual page and shell completion all come from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::tool {

// What a shell offers for an argument.
struct Suggestions {
  std::vector<std::string> words;
  std::string files;  // of this ending, ".npy" say; "*": all; empty: none
};

struct Option {
  std::string name;      // "--input"
  std::string letter;    // "-i"; empty: none
  std::string argument;  // "NAME=SPEC"; empty: a flag
  std::string help;
  std::function<void(const std::string&)> set;  // throws UserError
  Suggestions suggestions;
  bool repeats = false;
};

// A word without an option's name.
struct Operand {
  std::string name;
  std::string help;
  std::function<void(const std::string&)> set;
  Suggestions suggestions;
  bool required = true;
};

struct Command {
  std::string name, summary;
  std::optional<Operand> operand;
  std::vector<Option> options;
  std::string notes;  // after the options: examples, one to a line that begins with two blanks
  std::function<int()> run;
  bool hidden = false;
};

struct Description {
  std::string_view name, meaning;
};

// All commands; their options are those of this call alone.
std::vector<Command> commands();
std::vector<Description> exit_statuses();
std::vector<Description> environment_variables();

const Command* command_named(const std::vector<Command>& commands, std::string_view name);
// By "--input" or "-i".
const Option* option_named(const Command& command, std::string_view name);
// "smelt run PROGRAM [options]"
std::string usage_of(const Command& command);

std::string help_text(const std::vector<Command>& commands);
std::string help_text(const Command& command);
std::string manual_page(const std::vector<Command>& commands);  // in roff, for man
// Throws UserError for a shell that is not known.
std::string completion_script(const std::vector<Command>& commands, const std::string& shell);

// Sets what the words after the command's name say. Throws UserError.
void parse_words(const std::vector<Command>& commands, const Command& command, const std::vector<std::string>& words);
// "did you mean NEAREST? ", or nothing when no candidate is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace smelt::tool
