// argv into a command and its options; and what is said of words that fit nowhere.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "arguments.hpp"
#include "base/nearest.hpp"
#include "options.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

using report::printable;

std::string shown(std::string_view word) { return printable(word, 60); }

std::vector<std::string> visible_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands)
    if (!command.hidden) names.push_back(command.name);
  return names;
}

std::string see_help(const Command& command) { return fmt::format("smelt {} --help lists its options", command.name); }

[[noreturn]] void unknown_command(const std::vector<Command>& commands, const std::string& word) {
  std::error_code ignored;
  if (word.find_first_of("(+*/ ") != std::string::npos || std::filesystem::exists(word, ignored))
    throw UserError(
        fmt::format("there is no command \"{}\"\nhelp: to run a program: smelt run '{}'", shown(word), shown(word)));
  std::vector<std::string> known = visible_names(commands);
  const std::string names = fmt::format("{}", fmt::join(known, ", "));
  known.insert(known.end(), {"--help", "--version"});
  throw UserError(
      fmt::format("there is no command \"{}\"\nhelp: {}one of {}", shown(word), did_you_mean(word, known), names));
}

bool is_expression(std::string_view word) {
  return word.find_first_of(" (*/+") != std::string_view::npos && word.find('=') == std::string_view::npos;
}

[[noreturn]] void unknown_option(const std::vector<Command>& commands, const Command& command,
                                 const std::string& word) {
  // An expression such as -x + 1 looks like an option.
  if (command.operand && command.operand->name == "PROGRAM" && is_expression(word))
    throw UserError(
        fmt::format("smelt {} has no option \"{}\"\nhelp: put -- before an expression that begins with a minus: smelt "
                    "{} -i x=f32[8] -- '{}'",
                    command.name, shown(word), command.name, shown(word)));
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names = {"--help"}, others;
  for (const Option& option : command.options) names.push_back(option.name);
  for (const Command& other : commands)
    if (!other.hidden && other.name != command.name && option_named(other, name)) others.push_back(other.name);
  const std::string of_others =
      others.empty() ? "" : fmt::format(", which is an option of {}", fmt::join(others, ", "));
  const bool may_be_negated = command.operand && command.operand->name == "PROGRAM" && word.rfind("--", 0) != 0;
  const std::string negated =
      !may_be_negated ? ""
                      : fmt::format("; an expression that begins with a minus follows --: smelt {} -i x=f32[8] -- '{}'",
                                    command.name, shown(word));
  throw UserError(fmt::format("smelt {} has no option {}{}\nhelp: {}{}{}", command.name, shown(name), of_others,
                              others.empty() ? did_you_mean(name, names) : "", see_help(command), negated));
}

// Words beyond the one that a command takes.
[[noreturn]] void too_many_words(const Command& command, const std::vector<std::string>& words) {
  if (!command.operand)
    throw UserError(fmt::format("smelt {} takes no argument, and \"{}\" is one\nhelp: {}", command.name,
                                shown(words[0]), see_help(command)));
  if (command.operand->name != "PROGRAM")
    throw UserError(fmt::format("smelt {} takes one {}: \"{}\" is one too many\nhelp: {}", command.name,
                                command.operand->name, shown(words[1]), see_help(command)));
  if (words.size() == 2 && words[1].ends_with(".npy"))
    throw UserError(fmt::format("\"{}\" is an array, and the program is {}\nhelp: pass it as an input: -i x=@{}",
                                shown(words[1]), shown(words[0]), shown(words[1])));
  if (std::all_of(words.begin(), words.end(), [](const std::string& w) { return w.ends_with(".smelt"); }))
    throw UserError(fmt::format("smelt {} takes one PROGRAM: {} is one too many\nhelp: one command for each program",
                                command.name, shown(words[1])));
  std::error_code ignored;
  const auto files = std::count_if(words.begin(), words.end(),
                                   [&](const std::string& w) { return std::filesystem::exists(w, ignored); });
  if (files >= 2 || (files == 1 && !std::filesystem::exists(words[0], ignored)))
    throw UserError(fmt::format(
        "the program is several words, of which {} the name{} of files of this folder: the shell may have replaced "
        "a * by them\nhelp: put the program in single quotes: smelt {} 'x * 2' -i x=f32[8]",
        files == 1 ? "one is" : fmt::format("{} are", files), files == 1 ? "" : "s", command.name));
  throw UserError(fmt::format("the program is several words: {}\nhelp: put it in single quotes: smelt {} '{}'",
                              shown(fmt::format("{}", fmt::join(words, " "))), command.name,
                              shown(fmt::format("{}", fmt::join(words, " ")))));
}

class Words {
 public:
  Words(const std::vector<Command>& commands, const Command& command, const std::vector<std::string>& words)
      : commands_(commands), command_(command), words_(words) {}

  void parse() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (word == "--") {
        operands_.insert(operands_.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
        break;
      }
      if (word.size() > 1 && word[0] == '-')
        option(word);
      else
        operands_.push_back(word);
    }
    if (operands_.size() > (command_.operand ? 1 : 0)) too_many_words(command_, operands_);
    if (!operands_.empty()) command_.operand->set(operands_[0]);
    if (operands_.empty() && command_.operand && command_.operand->required)
      throw UserError(fmt::format("{} is required\nhelp: {}; smelt {} --help says more", command_.operand->name,
                                  usage_of(command_), command_.name));
  }

 private:
  // --name, --name value, --name=value, -n value, -nvalue.
  void option(const std::string& word) {
    const bool has_long_name = word.rfind("--", 0) == 0;
    const size_t end = has_long_name ? std::min(word.find('='), word.size()) : 2;
    const std::string name = word.substr(0, end);
    const Option* option = option_named(command_, name);
    if (!option) unknown_option(commands_, command_, word);
    if (!option->repeats && !seen_.insert(option).second)
      throw UserError(fmt::format("{} is given twice\nhelp: keep one of them", option->name));
    const bool attached = end < word.size();
    if (option->argument.empty()) {
      if (attached) throw UserError(fmt::format("{} takes no value\nhelp: write {} alone", name, name));
      return option->set("");
    }
    if (attached) return option->set(word.substr(end + (word[end] == '=' ? 1 : 0)));
    if (at_ == words_.size() || option_named(command_, words_[at_]) || words_[at_] == "--")
      throw UserError(fmt::format("{} requires a value, {}\nhelp: {}", name, option->argument, see_help(command_)));
    option->set(words_[at_++]);
  }

  const std::vector<Command>& commands_;
  const Command& command_;
  const std::vector<std::string>& words_;
  size_t at_ = 0;
  std::vector<std::string> operands_;
  std::set<const Option*> seen_;
};

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("did you mean {}? ", near);
}

const Command* command_named(const std::vector<Command>& commands, std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

const Option* option_named(const Command& command, std::string_view name) {
  const auto found = std::find_if(command.options.begin(), command.options.end(), [&](const Option& o) {
    return o.name == name || (!name.empty() && o.letter == name);
  });
  return found == command.options.end() ? nullptr : &*found;
}

void parse_words(const std::vector<Command>& commands, const Command& command, const std::vector<std::string>& words) {
  Words(commands, command, words).parse();
}

int run_command_line(int argc, char** argv) {
  const std::vector<Command> all = commands();
  const Output output{CommonOptions{}};
  if (argc < 2) {
    fmt::print(stderr, "{}", help_text(all));
    return kUserMistake;
  }
  const std::string first = argv[1];
  if (first == "--help" || first == "-h") {
    output.text(help_text(all));
    return kFine;
  }
  if (first == "--version") {
    output.text("smelt " SMELT_VERSION "\n");
    return kFine;
  }
  if (first[0] == '-' && !is_expression(first))
    throw UserError(fmt::format(
        "smelt has no option {}\nhelp: {}smelt --help lists the commands; options follow the command: smelt "
        "run --help",
        shown(first), did_you_mean(first, {"--help", "--version"})));
  const Command* command = command_named(all, first);
  if (!command) unknown_command(all, first);
  const std::vector<std::string> words(argv + 2, argv + argc);
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word != "--help" && word != "-h") continue;
    output.text(help_text(*command));
    return kFine;
  }
  parse_words(all, *command, words);
  return command->run();
}

}  // namespace smelt::tool
