// What --help prints, and the manual page.
#include <fmt/format.h>

#include <algorithm>

#include "options.hpp"

namespace smelt::tool {
namespace {

constexpr size_t kColumn = 26, kWidth = 100;

// The words of `text`, from column `indent` on, where the first line is already.
std::string wrapped(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  for (bool first = true; !text.empty(); first = false) {
    const size_t end = std::min(text.find(' '), text.size());
    if (!first && column + 1 + end > kWidth) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string row(const std::string& name, std::string_view meaning) {
  const std::string left = "  " + name;
  const std::string gap =
      left.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - left.size(), ' ');
  return left + gap + wrapped(meaning, kColumn) + '\n';
}

std::string left_of(const Option& option) {
  return fmt::format("{}{}{}{}", option.letter, option.letter.empty() ? "" : ", ", option.name,
                     option.argument.empty() ? "" : " " + option.argument);
}

// Text of a manual page: a line that begins with a dot or a quote would be a request, and a minus a
// hyphen.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string tagged(std::string_view tag, std::string_view meaning) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(tag), roff(meaning));
}

std::string command_section(const Command& command) {
  std::string out = fmt::format(".SS {}\n{}\n.PP\n.B {}\n", roff("smelt " + command.name), roff(command.summary),
                                roff(usage_of(command)));
  if (command.operand) out += tagged(command.operand->name, command.operand->help);
  for (const Option& option : command.options) out += tagged(left_of(option), option.help);
  if (!command.notes.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.notes));
  return out;
}

}  // namespace

std::string usage_of(const Command& command) {
  std::string out = "smelt " + command.name;
  if (command.operand)
    out += command.operand->required ? " " + command.operand->name : " [" + command.operand->name + "]";
  return out + (command.options.empty() ? "" : " [options]");
}

std::string help_text(const std::vector<Command>& commands) {
  std::string out = "smelt: array programs in, few fused kernels out\n\nUsage: smelt COMMAND [options]\n\nCommands:\n";
  for (const Command& command : commands)
    if (!command.hidden) out += row(command.name, command.summary);
  out += "\nOptions:\n" + row("-h, --help", "this text; after a command: its options") +
         row("--version", "the version of smelt");
  return out + "\nExample:\n  smelt run 'softmax(x)' -i x=f32[4,8]\n";
}

std::string help_text(const Command& command) {
  std::string out = fmt::format("smelt {}: {}\n\nUsage: {}\n\n", command.name, command.summary, usage_of(command));
  if (command.operand) out += row(command.operand->name, command.operand->help) + '\n';
  out += "Options:\n";
  for (const Option& option : command.options) out += row(left_of(option), option.help);
  out += row("-h, --help", "this text");
  return out + (command.notes.empty() ? "" : '\n' + command.notes + '\n');
}

std::string manual_page(const std::vector<Command>& commands) {
  std::string out = ".TH SMELT 1 \"\" \"smelt " SMELT_VERSION
                    "\" \"User Commands\"\n.SH NAME\nsmelt \\- array programs in, few fused "
                    "kernels out\n.SH SYNOPSIS\n";
  for (const Command& command : commands)
    if (!command.hidden) out += fmt::format(".B {}\n.br\n", roff(usage_of(command)));
  out += ".SH DESCRIPTION\n" +
         roff(
             "smelt compiles programs over arrays into few kernels, for CPUs and GPUs, and runs, measures and explains "
             "them.\nA program is a .smelt file, or an expression in quotes.\n");
  out += ".SH COMMANDS\n";
  for (const Command& command : commands)
    if (!command.hidden) out += command_section(command);
  out += ".SH EXIT STATUS\n";
  for (const Description& d : exit_statuses()) out += tagged(d.name, d.meaning);
  out += ".SH ENVIRONMENT\n";
  for (const Description& d : environment_variables()) out += tagged(d.name, d.meaning);
  return out;
}

}  // namespace smelt::tool
