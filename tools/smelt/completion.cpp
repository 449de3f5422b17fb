// Completion of commands, options and their arguments in shells.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.hpp"
#include "options.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

std::vector<const Command*> visible(const std::vector<Command>& commands) {
  std::vector<const Command*> all;
  for (const Command& command : commands)
    if (!command.hidden) all.push_back(&command);
  return all;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command* command : visible(commands)) names.push_back(command->name);
  return joined(names);
}

std::string options_of(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : command.options) names.push_back(option.name);
  names.emplace_back("--help");
  return joined(names);
}

// What a function of the script is called with: an ending of files, or '', and words.
std::string bash_choices(const Suggestions& s) {
  return fmt::format("_smelt_offer '{}' '{}'", s.files, joined(s.words));
}

std::string bash(const std::vector<Command>& commands) {
  std::string out = R"(# Completion of smelt for bash, as `smelt completion bash` prints it.
_smelt_offer() {  # the ending of files to offer, or '', and words
  COMPREPLY=($(compgen -W "$2" -- "$current"))
  [[ -n $1 ]] || return
  compopt -o filenames 2>/dev/null
  local file
  while IFS= read -r file; do
    if [[ $1 == '*' || -d $file || $file == *"$1" ]]; then COMPREPLY+=("$file"); fi
  done < <(compgen -f -- "$current")
}
_smelt() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ")" +
                    names_of(commands) + R"( --help --version" -- "$current"))
    return
  fi
  case ${COMP_WORDS[1]}:$before in
)";
  for (const Command* command : visible(commands))
    for (const Option& option : command->options) {
      if (option.argument.empty()) continue;
      const std::string letter = option.letter.empty() ? "" : fmt::format("|{}:{}", command->name, option.letter);
      out += fmt::format("    {}:{}{}) {}; return ;;\n", command->name, option.name, letter,
                         bash_choices(option.suggestions));
    }
  out += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const Command* command : visible(commands)) {
    const std::string operands = command->operand ? bash_choices(command->operand->suggestions) : "true";
    out += fmt::format("    {})\n      if [[ $current == -* ]]; then _smelt_offer '' '{}'; else {}; fi ;;\n",
                       command->name, options_of(*command), operands);
  }
  return out + "  esac\n}\ncomplete -F _smelt smelt\n";
}

// A help text within a specification of _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const Suggestions& s) {
  if (s.files == "*") return "_files";
  if (!s.files.empty()) return fmt::format("_files -g \"*{}\"", s.files);
  return s.words.empty() ? " " : fmt::format("({})", joined(s.words));
}

std::string zsh(const std::vector<Command>& commands) {
  std::string out =
      "#compdef smelt\n# Completion of smelt for zsh, as `smelt completion zsh` prints it.\n_smelt() {\n"
      "  local -a commands=(\n";
  for (const Command* command : visible(commands))
    out += "    " + shell_quoted(command->name + ":" + zsh_text(command->summary)) + "\n";
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local name=${words[2]}\n  shift words\n  (( CURRENT-- ))\n  case $name in\n";
  for (const Command* command : visible(commands)) {
    out += fmt::format("    {})\n      _arguments", command->name);
    for (const Option& option : command->options) {
      const std::string rest = fmt::format(
          "[{}]{}", zsh_text(option.help),
          option.argument.empty() ? ""
                                  : fmt::format(":{}:{}", zsh_text(option.argument), zsh_action(option.suggestions)));
      for (const std::string& name : {option.name, option.letter})
        if (!name.empty())
          out += fmt::format(" \\\n        {}",
                             shell_quoted(fmt::format("{}{}{}", option.repeats ? "*" : "", name, rest)));
    }
    if (command->operand)
      out += " \\\n        " + shell_quoted(fmt::format("1:{}:{}", zsh_text(command->operand->name),
                                                        zsh_action(command->operand->suggestions)));
    out += " \\\n        '(- *)--help[show the help of this command]' ;;\n";
  }
  return out +
         "  esac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _smelt \"$@\"; else compdef _smelt "
         "smelt; fi\n";
}

// In fish, a backslash is one within single quotes too.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// The options of `complete` for an argument.
std::string fish_choices(const Suggestions& s) {
  if (s.files == "*") return " -r -F";
  if (!s.files.empty()) return fmt::format(" -x -k -a '(__fish_complete_suffix {})'", s.files);
  return s.words.empty() ? " -x" : " -x -a " + fish_quoted(joined(s.words));
}

std::string fish(const std::vector<Command>& commands) {
  std::string out =
      "# Completion of smelt for fish, as `smelt completion fish` prints it.\ncomplete -c smelt -f\n"
      "complete -c smelt -n __fish_use_subcommand -l version -d 'the version of smelt'\n"
      "complete -c smelt -l help -s h -d 'help'\n";
  for (const Command* command : visible(commands)) {
    out += fmt::format("complete -c smelt -n __fish_use_subcommand -a {} -d {}\n", command->name,
                       fish_quoted(command->summary));
    const std::string here = fmt::format("complete -c smelt -n '__fish_seen_subcommand_from {}'", command->name);
    for (const Option& option : command->options)
      out += fmt::format("{} -l {}{}{} -d {}\n", here, option.name.substr(2),
                         option.letter.empty() ? "" : " -s " + option.letter.substr(1),
                         option.argument.empty() ? "" : fish_choices(option.suggestions), fish_quoted(option.help));
    if (command->operand) {
      const Suggestions& offered = command->operand->suggestions;
      if (!offered.words.empty() || !offered.files.empty()) out += here + fish_choices(offered) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const std::vector<Command>& commands, const std::string& shell) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  throw UserError(fmt::format("there is no completion for the shell \"{}\"\nhelp: bash, zsh or fish",
                              report::printable(shell, 40)));
}

}  // namespace smelt::tool
