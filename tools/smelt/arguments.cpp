// The whole command line: which commands there are, their options and their help. The only file that sees CLI11, which takes
// longer to compile than all of the commands.
#include "arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "report/units.hpp"

namespace smelt::tool {
namespace {

// `takes_architecture`: --device may name one, sm_90 say, whose device is not here.
void add_common_options(CLI::App& command, CommonOptions& options, bool takes_architecture = false) {
  command.add_option("--json", options.json, "write the result as JSON to FILE (- for standard output)")
      ->type_name("FILE");
  std::string devices = "where to run: auto (a GPU when there is one), cpu, cuda, cuda:1, opencl, opencl:1";
  if (takes_architecture) devices += "; or sm_90 and the like, which need no GPU";
  command.add_option("--device", options.device, devices)->type_name("NAME");
  command
      .add_option("--threads", options.threads, "threads of the CPU to use (default: all that this process may use)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
}

void add_program_options(CLI::App& command, ProgramOptions& options) {
  command.add_option("PROGRAM", options.program, "a .smelt file, or an expression in quotes")
      ->required()
      ->type_name("");
  command
      .add_option("-i,--input", options.inputs,
                  "an input: NAME=@file.npy, NAME=f32[4096,1024] (normal random numbers), NAME=uniform:f32[..], "
                  "zeros:, ones:, iota:, "
                  "or a number: NAME=4.2; once per input")
      ->type_name("NAME=SPEC")
      ->allow_extra_args(false);
  command.add_option("--size", options.sizes, "the value of a size that a type names: B=4096; once per size")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "of the random numbers")->type_name("N")->capture_default_str();
}

void add_tune_option(CLI::App& command, bool& tune) {
  command.add_flag("--tune", tune, "time other schedules of every kernel first, and keep the fastest on disk");
}

void add_run(CLI::App& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "run a program");
  add_program_options(*command, options->program);
  command
      ->add_option("-o,--output", options->outputs, "write an output to a .npy file; once per output, in their order")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--fallback", options->fallback,
          "without a compiler: error, or the reference interpreter, slowly, with a note (warn) or without (allow)")
      ->type_name("error|warn|allow")
      ->capture_default_str();
  add_tune_option(*command, options->tune);
  add_common_options(*command, options->common);
  command->footer(
      "Examples:\n"
      "  smelt run examples/quantize_int8.smelt -i x=@weights.npy -o q.npy\n"
      "  smelt run 'softmax(x * s)' -i x=f32[4,8] -i s=0.5\n"
      "Put -- before an expression that begins with a minus: smelt run -i x=f32[8] -- '-x'");
  command->callback([options, &status] { status = run_program(*options); });
}

void add_bench(CLI::App& app, int& status) {
  auto options = std::make_shared<BenchCommand>();
  CLI::App* command = app.add_subcommand("bench", "measure a program: fused, unfused, and a copy of as many bytes");
  add_program_options(*command, options->program);
  command->add_option("--plot", options->plot, "draw the result as a bar chart")->type_name("FILE.svg");
  command->add_option("--sweep", options->sweep, "measure at several values of a size: B=1024,4096,16384")
      ->type_name("NAME=N,N,..");
  command->add_option("--time-limit", options->time_limit_s, "seconds that one measurement may take")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 3600.0).description(""));
  command->add_flag("--no-check", options->no_check, "do not compare with the float64 reference");
  command->add_flag("--fused-only", options->fused_only, "measure the fused program alone, and check nothing");
  add_tune_option(*command, options->tune);
  add_common_options(*command, options->common);
  command->footer(
      "Examples:\n"
      "  smelt bench examples/relu_layernorm.smelt -i x=f32[4096,1024] --plot relu_layernorm.svg\n"
      "  smelt bench 'exp((x + y) * 2)' -i x=f32[N] -i y=f32[N] --sweep N=1000,1000000 --json -\n"
      "Declared inputs without -i are filled with normal random numbers; --size gives their sizes.");
  command->callback([options, &status] { status = run_bench(*options); });
}

void add_explain(CLI::App& app, int& status) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "show what is fused, why, and how many bytes that saves");
  add_program_options(*command, options->program);
  command
      ->add_option("--dump", options->dump,
                   "print stages of the compiler instead: graph,plan,passes,after:PASS,kernel,source,asm,ptx,sass")
      ->type_name("STAGE,..")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--no-fuse", options->no_fuse, "explain the program with fusion off");
  command->add_flag("--measure", options->measure, "run the program, and show how long each kernel takes");
  command->add_flag(
      "--candidates", options->candidates,
      "list the schedules that each kernel could have, with their predicted times; with --measure also measured");
  command->add_flag(
      "--depth", options->depth,
      "measure the program with 1, 2, 3, 4, 6, ... operations fused per kernel, and name the best number");
  add_tune_option(*command, options->tune);
  add_common_options(*command, options->common, true);
  command->footer(
      "Examples:\n"
      "  smelt explain examples/relu_layernorm.smelt -i x=f32[4096,1024]\n"
      "  smelt explain 'softmax(x)' -i x=f32[B,1024] --size B=512 --dump source\n"
      "Declared inputs without -i take their declared type; --size gives their sizes.");
  command->callback([options, &status] { status = run_explain(*options); });
}

void add_emit(CLI::App& app, int& status) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App* command = app.add_subcommand("emit", "write a program as a source file to build into your own");
  add_program_options(*command, options->program);
  command->add_option("--as", options->as, "cuda (for nvcc), cpp (C++17) or opencl (kernels in OpenCL C)")
      ->type_name("LANGUAGE")
      ->required();
  command->add_option("-o,--output", options->output, "the file to write (default: standard output)")
      ->type_name("FILE");
  command->add_option("--name", options->name, "the name of the function")->type_name("NAME")->capture_default_str();
  add_common_options(*command, options->common, true);
  command->footer(
      "Examples:\n"
      "  smelt emit examples/relu_layernorm.smelt --size B=4096 --size C=1024 --as cpp --name relu_layernorm -o "
      "relu_layernorm.cpp\n"
      "  smelt emit 'softmax(x)' -i x=f32[B,4096] --size B=512 --as cuda --device sm_90 -o softmax.cu\n"
      "The comment at the top of the file says what its function takes and how to compile it.");
  command->callback([options, &status] { status = run_emit(*options); });
}

void add_profile(CLI::App& app, int& status) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command = app.add_subcommand("profile", "count bytes moved and occupancy on a GPU, fused and unfused");
  add_program_options(*command, options->program);
  add_common_options(*command, options->common);
  command->footer(
      "Example:\n"
      "  smelt profile 'softmax(x)' -i x=f32[16384,4096]\n"
      "Needs a GPU and Nsight Compute (ncu).");
  command->callback([options, &status] { status = run_profile(*options); });

  auto inside = std::make_shared<ProfileOptions>();
  CLI::App* run = app.add_subcommand("profile-run", "what ncu runs for profile")->group("");
  add_program_options(*run, inside->program);
  run->add_option("--side", inside->side);
  add_common_options(*run, inside->common);
  run->callback([inside, &status] { status = run_profiled(*inside); });
}

void add_savings(CLI::App& app, int& status) {
  auto options = std::make_shared<SavingsOptions>();
  CLI::App* command =
      app.add_subcommand("savings", "compute what fusing a chain of operations saves, from its sizes alone");
  command
      ->add_option("OPS.json", options->list,
                   "a list of {\"name\", \"input_size\", \"output_size\"}, sizes in elements (- for standard input)")
      ->required()
      ->type_name("");
  command->add_option("--dtype-bytes", options->dtype_bytes, "bytes of an element")
      ->type_name("N")
      ->capture_default_str();
  add_common_options(*command, options->common);
  command->footer(
      "Example:\n"
      "  echo '[{\"name\": \"relu\", \"input_size\": 4096, \"output_size\": 4096},\n"
      "         {\"name\": \"sum\", \"input_size\": 4096, \"output_size\": 1}]' > ops.json\n"
      "  smelt savings ops.json --dtype-bytes 4");
  command->callback([options, &status] { status = run_savings(*options); });
}

void add_devices(CLI::App& app, int& status) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command = app.add_subcommand("devices", "list the devices of this machine, and what is missing");
  add_common_options(*command, *options);
  command->footer("Example:\n  smelt devices");
  command->callback([options, &status] { status = run_devices(*options); });
}

void add_ops(CLI::App& app, int& status) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App* command = app.add_subcommand("ops", "list the scalar operations with their types and documented errors");
  command->add_flag("--markdown", options->markdown, "as a Markdown table");
  add_common_options(*command, options->common);
  command->footer("Example:\n  smelt ops --markdown > ops.md");
  command->callback([options, &status] { status = run_ops(*options); });
}

void add_cache(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("cache", "show what is kept of compiled kernels, or remove it");
  command->require_subcommand(1);
  for (const bool clear : {false, true}) {
    auto options = std::make_shared<CacheOptions>();
    options->clear = clear;
    CLI::App* part = clear ? command->add_subcommand("clear", "remove all compiled kernels")
                           : command->add_subcommand("info", "where the cache is, and how large");
    add_common_options(*part, options->common);
    part->callback([options, &status] { status = run_cache(*options); });
  }
  command->footer("Example:\n  smelt cache info");
}

constexpr const char* kCommands[] = {"run",     "bench",   "explain", "emit", "profile",
                                     "savings", "devices", "ops",     "cache"};

int fail_parse(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(std::begin(kCommands), std::end(kCommands), first) != std::end(kCommands);
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kUserMistake;
  }
  if (!known && first[0] != '-') {
    return fail(
        kUserMistake,
        fmt::format(
            "there is no command \"{}\"\nhelp: one of run, bench, explain, emit, profile, savings, devices, ops, cache",
            report::printable(first, 40)));
  }
  std::string help = fmt::format("help: smelt {}{}--help", known ? first : "", known ? " " : "");
  // An expression such as -x + 1 looks like an option.
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.size() > 1 && word[0] == '-' && word.find_first_of(" (*/+") != std::string::npos &&
        word.find('=') == std::string::npos)
      help = "help: put -- before an expression that begins with a minus: smelt run -i x=f32[8] -- '-x + 1'";
  }
  return fail(kUserMistake, report::printable(e.what(), 400) + "\n" + help);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"smelt: array programs in, few fused kernels out", "smelt"};
  app.set_version_flag("--version", "smelt " SMELT_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer("Example:\n  smelt run 'softmax(x)' -i x=f32[4,8]\nEvery command has its own --help.");
  int status = kFine;
  add_run(app, status);
  add_bench(app, status);
  add_explain(app, status);
  add_emit(app, status);
  add_profile(app, status);
  add_savings(app, status);
  add_devices(app, status);
  add_ops(app, status);
  add_cache(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    return fail_parse(app, e, argc, argv);
  }
  return status;
}

}  // namespace smelt::tool
