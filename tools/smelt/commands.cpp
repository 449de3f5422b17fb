// Every command, option and environment variable of the command line, with its help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "arguments.hpp"
#include "frontends/function_table.hpp"
#include "options.hpp"
#include "report/inputs.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

using report::printable;

std::function<void(const std::string&)> text(std::string& to) {
  return [&to](const std::string& value) { to = value; };
}

std::function<void(const std::string&)> one_more(std::vector<std::string>& to) {
  return [&to](const std::string& value) { to.push_back(value); };
}

std::function<void(const std::string&)> flag(bool& to) {
  return [&to](const std::string&) { to = true; };
}

template <class T>
std::function<void(const std::string&)> whole_number(const char* option, T& to, uint64_t least, uint64_t most) {
  return [=, &to](const std::string& value) {
    const std::optional<Scalar> number = report::parse_number(value);
    const bool whole = number && is_int(number->dtype) && (number->dtype == DType::U64 || number->i >= 0);
    const uint64_t n = !whole ? 0 : number->dtype == DType::U64 ? number->u : static_cast<uint64_t>(number->i);
    if (!whole || n < least || n > most)
      throw UserError(fmt::format("{} \"{}\": not a whole number {}", option, printable(value, 40),
                                  most >= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
                                      ? fmt::format("of at least {}", least)
                                      : fmt::format("from {} to {}", least, most)));
    to = static_cast<T>(n);
  };
}

std::function<void(const std::string&)> seconds(const char* option, double& to, double least, double most) {
  return [=, &to](const std::string& value) {
    const std::optional<Scalar> number = report::parse_number(value);
    const double s = number && !is_bool(number->dtype) ? number->as_double() : -1;
    if (!(s >= least && s <= most))
      throw UserError(
          fmt::format("{} \"{}\": not a number of seconds from {} to {}", option, printable(value, 40), least, most));
    to = s;
  };
}

std::vector<std::string> split_at_commas(const std::string& value) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= value.size();) {
    const size_t comma = std::min(value.find(',', at), value.size());
    parts.push_back(value.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

Option json_option(CommonOptions& options) {
  return {"--json",           "",       "FILE", "write the result as JSON to FILE (- for standard output)",
          text(options.json), {{}, "*"}};
}

// `takes_architecture`: may name one, sm_90 say, whose device is not here.
Option device_option(CommonOptions& options, bool takes_architecture = false) {
  std::string help = "where to run: auto (a GPU when there is one), cpu, cuda, cuda:1, opencl, opencl:1";
  std::vector<std::string> words = {"auto", "cpu", "cuda", "opencl"};
  if (takes_architecture) {
    help += "; or an architecture such as sm_90, which needs no GPU";
    words.insert(words.end(), {"sm_80", "sm_90", "sm_100"});
  }
  return {"--device", "", "NAME", help, text(options.device), {words, ""}};
}

Option threads_option(CommonOptions& options) {
  return {"--threads", "", "N", "threads of the CPU to use (default: all that this process may use)",
          whole_number("--threads", options.threads, 1, 4096)};
}

Option progress_option(CommonOptions& options) {
  return {"--progress",
          "",
          "HOW",
          "how to report progress on standard error: auto (a line on a terminal after a second), none, json (a line of "
          "JSON per step)",
          [&options](const std::string& value) {
            if (value != "auto" && value != "none" && value != "json")
              throw UserError(fmt::format("--progress \"{}\": not one of auto, none, json", printable(value, 40)));
            options.progress = value;
          },
          {{"auto", "none", "json"}, ""}};
}

Operand program_operand(ProgramOptions& options) {
  return {"PROGRAM", "a .smelt file, or an expression in quotes", text(options.program), {{}, ".smelt"}};
}

Option input_option(ProgramOptions& options) {
  return {"--input",
          "-i",
          "NAME=SPEC",
          "an input: NAME=@file.npy, NAME=f32[4096,1024] (normal random numbers), NAME=uniform:f32[..], zeros:, ones:, "
          "iota:, or a number: NAME=4.2; once per input",
          one_more(options.inputs),
          {},
          true};
}

Option size_option(ProgramOptions& options) {
  return {
      "--size", "",  "NAME=N", "the value of a size that a type names: B=4096; once per size", one_more(options.sizes),
      {},       true};
}

Option seed_option(ProgramOptions& options) {
  return {"--seed", "", "N", "seed of the random numbers that fill inputs (0)",
          whole_number("--seed", options.seed, 0, std::numeric_limits<uint64_t>::max())};
}

Option tune_option(bool& tune) {
  return {"--tune", "", "", "time other schedules of every kernel first, and keep the fastest on disk", flag(tune)};
}

Command run_command() {
  const auto o = std::make_shared<RunOptions>();
  Command c{"run", "run a program", program_operand(o->program), {}, {}, [o] { return run_program(*o); }};
  c.options = {
      input_option(o->program),
      size_option(o->program),
      seed_option(o->program),
      {"--fill", "", "", "fill declared inputs that have no -i with normal random numbers", flag(o->fill)},
      {"--output",
       "-o",
       "FILE.npy",
       "write an output to a .npy file; once per output, in their order",
       one_more(o->outputs),
       {{}, ".npy"},
       true},
      {"--fallback",
       "",
       "HOW",
       "without a compiler: error, or the reference interpreter, slowly, with a note (warn) or without (allow)",
       [o](const std::string& value) { o->fallback = fallback_of(value); },
       {{"error", "warn", "allow"}, ""}},
      tune_option(o->tune),
      json_option(o->common),
      device_option(o->common),
      threads_option(o->common),
      progress_option(o->common)};
  c.notes =
      "Examples:\n"
      "  smelt run examples/quantize_int8.smelt -i x=@weights.npy -o q.npy\n"
      "  smelt run 'softmax(x * s)' -i x=f32[4,8] -i s=0.5\n"
      "Put -- before an expression that begins with a minus: smelt run -i x=f32[8] -- '-x'";
  return c;
}

Command bench_command() {
  const auto o = std::make_shared<BenchCommand>();
  Command c{"bench",
            "measure a program: fused, unfused, and a copy of as many bytes",
            program_operand(o->program),
            {},
            {},
            [o] { return run_bench(*o); }};
  c.options = {input_option(o->program),
               size_option(o->program),
               seed_option(o->program),
               {"--plot", "", "FILE.svg", "draw the result as a bar chart", text(o->plot), {{}, ".svg"}},
               {"--sweep", "", "NAME=N,N,..", "measure at several values of a size: B=1024,4096,16384", text(o->sweep)},
               {"--time-limit", "", "S", "seconds that one measurement may take (2)",
                seconds("--time-limit", o->time_limit_s, 0.001, 3600)},
               {"--no-check", "", "", "do not compare with the float64 reference", flag(o->no_check)},
               {"--fused-only", "", "", "measure the fused program alone, and check nothing", flag(o->fused_only)},
               tune_option(o->tune),
               json_option(o->common),
               device_option(o->common),
               threads_option(o->common),
               progress_option(o->common)};
  c.notes =
      "Examples:\n"
      "  smelt bench examples/relu_layernorm.smelt -i x=f32[4096,1024] --plot relu_layernorm.svg\n"
      "  smelt bench 'exp((x + y) * 2)' -i x=f32[N] -i y=f32[N] --sweep N=1000,1000000 --json -\n"
      "Declared inputs without -i are filled with normal random numbers; --size gives their sizes.";
  return c;
}

Command explain_command() {
  const auto o = std::make_shared<ExplainOptions>();
  Command c{"explain", "show what is fused, why, and what that saves", program_operand(o->program), {}, {}, [o] {
              return run_explain(*o);
            }};
  c.options = {
      input_option(o->program),
      size_option(o->program),
      seed_option(o->program),
      {"--edges", "", "", "list every edge between two operations, fused or cut", flag(o->edges)},
      {"--dump",
       "",
       "STAGE,..",
       "print stages of the compiler instead: graph,plan,passes,after:PASS,kernel,source,asm,ptx,sass",
       [o](const std::string& value) {
         for (std::string& stage : split_at_commas(value)) o->dump.push_back(std::move(stage));
       },
       {{"graph", "plan", "passes", "kernel", "source", "asm", "ptx", "sass"}, ""},
       true},
      {"--no-fuse", "", "", "explain the program with fusion off", flag(o->no_fuse)},
      {"--measure", "", "", "run the program, and show how long each kernel takes", flag(o->measure)},
      {"--candidates", "", "",
       "list the schedules that each kernel could have, with their predicted times; with --measure also measured",
       flag(o->candidates)},
      {"--depth", "", "",
       "measure the program with 1, 2, 3, 4, 6, ... operations fused per kernel, and name the best number",
       flag(o->depth)},
      tune_option(o->tune),
      json_option(o->common),
      device_option(o->common, true),
      threads_option(o->common),
      progress_option(o->common)};
  c.notes =
      "Examples:\n"
      "  smelt explain examples/relu_layernorm.smelt -i x=f32[4096,1024]\n"
      "  smelt explain 'softmax(x)' -i x=f32[B,1024] --size B=512 --dump source\n"
      "Declared inputs without -i take their declared type; --size gives their sizes.";
  return c;
}

Command report_command() {
  const auto o = std::make_shared<ReportOptions>();
  Command c{
      "report", "write a page that shows what fusion does to a program", program_operand(o->program), {}, {}, [o] {
        return run_report(*o);
      }};
  c.operand->required = false;
  c.options = {
      input_option(o->program),
      size_option(o->program),
      seed_option(o->program),
      {"--output", "-o", "FILE.html", "the page: one file that needs no network", text(o->output), {{}, ".html"}},
      {"--serve", "", "PORT",
       "serve the page on 127.0.0.1 instead, and update it when the program's file changes; 0: any free port",
       whole_number("--serve", o->serve, 0, 65535)},
      {"--from", "", "FILE", "draw a document that --json wrote, instead of a program", text(o->from), {{}, ".json"}},
      {"--no-run", "", "", "do not run the program: no times, no values", flag(o->no_run)},
      {"--depth", "", "", "measure the program with 1, 2, 3, 4, 6, ... operations fused per kernel too",
       flag(o->depth)},
      {"--profile", "", "", "count bytes and occupancy on a GPU by Nsight Compute too", flag(o->profile)},
      {"--time-limit", "", "S", "seconds that one measurement may take (0.3)",
       seconds("--time-limit", o->time_limit_s, 0.001, 3600)},
      {"--assets",
       "",
       "FOLDER",
       "put style and script into files of this folder, which several pages share",
       text(o->assets),
       {{}, "*"}},
      tune_option(o->tune),
      json_option(o->common),
      device_option(o->common, true),
      threads_option(o->common),
      progress_option(o->common)};
  c.notes =
      "Examples:\n"
      "  smelt report examples/relu_layernorm.smelt -i x=f32[512,1024] -o report.html\n"
      "  smelt report 'softmax(x * 2)' -i x=f32[512,1024] --device sm_90 -o softmax.html\n"
      "  smelt report program.smelt --size B=512 --serve 8000";
  return c;
}

Command emit_command() {
  const auto o = std::make_shared<EmitOptions>();
  Command c{
      "emit", "write a program as a source file to build into your own", program_operand(o->program), {}, {}, [o] {
        return run_emit(*o);
      }};
  c.options = {input_option(o->program),
               size_option(o->program),
               {"--as",
                "",
                "LANGUAGE",
                "cuda (for nvcc), cpp (C++17) or opencl (kernels in OpenCL C); required",
                text(o->as),
                {{"cpp", "cuda", "opencl"}, ""}},
               {"--name", "", "NAME", "name of the C function (smelt_program)", text(o->name)},
               {"--output", "-o", "FILE", "write to FILE instead of standard output", text(o->output), {{}, "*"}},
               json_option(o->common),
               device_option(o->common, true),
               threads_option(o->common)};
  c.notes =
      "Examples:\n"
      "  smelt emit examples/relu_layernorm.smelt --size B=4096 --size C=1024 --as cpp --name relu_layernorm -o "
      "relu_layernorm.cpp\n"
      "  smelt emit 'softmax(x)' -i x=f32[B,4096] --size B=512 --as cuda --device sm_90 -o softmax.cu\n"
      "The comment at the top of the file says what its function takes and how to compile it.";
  return c;
}

Command profile_command() {
  const auto o = std::make_shared<ProfileOptions>();
  Command c{"profile",
            "count bytes moved and occupancy on a GPU, fused and unfused",
            program_operand(o->program),
            {},
            {},
            [o] { return run_profile(*o); }};
  c.options = {input_option(o->program), size_option(o->program),  seed_option(o->program),
               json_option(o->common),   device_option(o->common), progress_option(o->common)};
  c.notes =
      "Example:\n"
      "  smelt profile 'softmax(x)' -i x=f32[16384,4096]\n"
      "Needs a GPU and Nsight Compute (ncu).";
  return c;
}

Command profiled_command() {
  const auto o = std::make_shared<ProfileOptions>();
  Command c{
      "profile-run", "what ncu runs for profile", program_operand(o->program), {}, {}, [o] { return run_profiled(*o); },
      true};
  c.options = {input_option(o->program),
               size_option(o->program),
               seed_option(o->program),
               {"--side", "", "SIDE", "fused or unfused", text(o->side)},
               device_option(o->common)};
  return c;
}

Command savings_command() {
  const auto o = std::make_shared<SavingsOptions>();
  Command c{"savings",    "compute what fusing a chain of operations saves, from its sizes alone",
            std::nullopt, {},
            {},           [o] { return run_savings(*o); }};
  c.operand = Operand{"OPS.json",
                      "a list of {\"name\", \"input_size\", \"output_size\"}, sizes in elements (- for standard input)",
                      text(o->list),
                      {{}, ".json"}};
  c.options = {{"--dtype-bytes", "", "N", "bytes of an element (2)",
                whole_number("--dtype-bytes", o->dtype_bytes, 1, std::numeric_limits<int64_t>::max())},
               json_option(o->common)};
  c.notes =
      "Example:\n"
      "  echo '[{\"name\": \"relu\", \"input_size\": 4096, \"output_size\": 4096},\n"
      "         {\"name\": \"sum\", \"input_size\": 4096, \"output_size\": 1}]' > ops.json\n"
      "  smelt savings ops.json --dtype-bytes 4";
  return c;
}

Command devices_command() {
  const auto o = std::make_shared<DevicesOptions>();
  Command c{"devices",    "list the devices of this machine, and what is missing; measure them for the cost model",
            std::nullopt, {},
            {},           [o] { return run_devices(*o); }};
  c.operand = Operand{"DEVICE",
                      "the device that --calibrate or --forget is for: cpu, cuda, cuda:1, opencl; without it, all",
                      text(o->named),
                      {{"cpu", "cuda", "opencl"}, ""},
                      false};
  c.options = {{"--calibrate", "", "",
                "measure the numbers of the cost model, and keep them beside the compiled kernels", flag(o->calibrate)},
               {"--forget", "", "", "remove what --calibrate has kept", flag(o->forget)},
               json_option(o->common),
               threads_option(o->common),
               progress_option(o->common)};
  c.notes = "Examples:\n  smelt devices\n  smelt devices --calibrate cpu";
  return c;
}

Command ops_command() {
  const auto o = std::make_shared<OpsOptions>();
  Command c{"ops",        "list the scalar operations with their types and documented errors",
            std::nullopt, {},
            {},           [o] { return run_ops(*o); }};
  std::vector<std::string> names;
  for (const lang::Function& function : lang::functions()) names.emplace_back(function.row.name);
  c.operand = Operand{"NAME",
                      "an operation or function of the language; without it, all operations",
                      text(o->name),
                      {names, ""},
                      false};
  c.options = {{"--markdown", "", "", "as a Markdown table", flag(o->markdown)}, json_option(o->common)};
  c.notes = "Examples:\n  smelt ops sqrt\n  smelt ops --markdown > ops.md";
  return c;
}

Command cache_command() {
  const auto o = std::make_shared<CacheOptions>();
  Command c{"cache",      "show the compiled kernels that are kept on disk, or remove them",
            std::nullopt, {},
            {},           [o] { return run_cache(*o); }};
  c.operand = Operand{"ACTION",
                      "info: where the cache is, and how large; clear: remove all compiled kernels",
                      [o](const std::string& value) {
                        if (value != "info" && value != "clear")
                          throw UserError(
                              fmt::format("there is no smelt cache {}\nhelp: smelt cache info, or smelt "
                                          "cache clear",
                                          printable(value, 40)));
                        o->clear = value == "clear";
                      },
                      {{"info", "clear"}, ""}};
  c.options = {json_option(o->common)};
  c.notes = "Example:\n  smelt cache info";
  return c;
}

// What the commands about the command line print; all of it comes from the tables.
int print_out(const std::string& text) {
  Output(CommonOptions{}).text(text);
  return kFine;
}

Command completion_command() {
  const auto shell = std::make_shared<std::string>();
  Command c{"completion", "print a script that completes smelt's commands and options in a shell", std::nullopt, {},
            {},           [shell] { return print_out(completion_script(commands(), *shell)); }};
  c.operand = Operand{"SHELL", "bash, zsh or fish", text(*shell), {{"bash", "zsh", "fish"}, ""}};
  c.notes =
      "Examples:\n"
      "  smelt completion bash > ~/.local/share/bash-completion/completions/smelt\n"
      "  smelt completion zsh > ~/.zfunc/_smelt        (a folder of $fpath)\n"
      "  smelt completion fish > ~/.config/fish/completions/smelt.fish";
  return c;
}

Command help_command() {
  const auto name = std::make_shared<std::string>();
  Command c{"help", "show the help of a command, or the manual page", std::nullopt, {}, {}, [name] {
              const std::vector<Command> all = commands();
              if (name->empty()) return print_out(help_text(all));
              if (*name == "man") return print_out(manual_page(all));
              if (const Command* command = command_named(all, *name)) return print_out(help_text(*command));
              std::vector<std::string> names;
              for (const Command& command : all)
                if (!command.hidden) names.push_back(command.name);
              throw UserError(fmt::format("there is no command \"{}\"\nhelp: {}one of {}", printable(*name, 40),
                                          did_you_mean(*name, names), fmt::join(names, ", ")));
            }};
  c.operand = Operand{"COMMAND", "its name; man: the manual page, in roff", text(*name), {{"man"}, ""}, false};
  c.notes = "Examples:\n  smelt help explain\n  smelt help man | man -l -";
  return c;
}

}  // namespace

std::vector<Command> commands() {
  std::vector<Command> all = {run_command(),     bench_command(),   explain_command(),  report_command(),
                              emit_command(),    profile_command(), profiled_command(), savings_command(),
                              devices_command(), ops_command(),     cache_command(),    completion_command()};
  Command help = help_command();
  for (const Command& command : all)
    if (!command.hidden) help.operand->suggestions.words.push_back(command.name);
  all.push_back(std::move(help));
  return all;
}

std::vector<Description> exit_statuses() {
  return {{"0", "all is well"},
          {"1", "the command ran, and a check failed: results differ from the reference"},
          {"2", "an error in the program, the options or the data, or something missing on this machine"},
          {"3", "a bug in smelt; the message says how to report it"}};
}

std::vector<Description> environment_variables() {
  return {{"SMELT_LLVM", "path of the libLLVM.so to use; then no other is tried"},
          {"SMELT_CPU", "an older processor to compile for: x86-64, x86-64-v2, x86-64-v3 or x86-64-v4"},
          {"SMELT_CUDA", "path of the libcuda.so to use; then no other is tried"},
          {"SMELT_NVRTC", "path of the libnvrtc.so to use; then no other is tried"},
          {"SMELT_OPENCL", "path of the libOpenCL.so to use; then no other is tried"},
          {"SMELT_CACHE_DIR", "where compiled kernels are kept; off: nowhere"},
          {"SMELT_CACHE_LIMIT", "largest size of that folder in bytes (268435456)"},
          {"SMELT_PERF", "map, jitdump: names of kernels on the CPU for perf"},
          {"SMELT_GDB", "1: debuggers see kernels on the CPU by name"},
          {"SMELT_PROGRESS_DELAY", "seconds before the progress line shows on a terminal (1)"},
          {"NO_COLOR", "when set and not empty: no colour"}};
}

}  // namespace smelt::tool
