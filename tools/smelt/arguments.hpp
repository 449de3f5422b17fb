// The options of every command, and what each command does with them.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "program.hpp"

namespace smelt::tool {

struct RunOptions {
  CommonOptions common;
  ProgramOptions program;
  std::vector<std::string> outputs;
  Fallback fallback = Fallback::Error;
  bool fill = false, tune = false;
};

struct BenchCommand {
  CommonOptions common;
  ProgramOptions program;
  std::string plot, sweep;
  double time_limit_s = 2;
  bool no_check = false, fused_only = false, tune = false;
};

struct ExplainOptions {
  CommonOptions common;
  ProgramOptions program;
  std::vector<std::string> dump;
  bool no_fuse = false, edges = false, measure = false, tune = false, depth = false, candidates = false;
};

struct ReportOptions {
  CommonOptions common;
  ProgramOptions program;
  std::string output, from, assets;
  double time_limit_s = 0.3;
  int serve = -1;  // the port; -1: writes a file
  bool no_run = false, depth = false, tune = false, profile = false;
};

struct EmitOptions {
  CommonOptions common;
  ProgramOptions program;
  std::string as, output, name = "smelt_program";
};

struct ProfileOptions {
  CommonOptions common;
  ProgramOptions program;
  std::string side;  // of what the profiler runs: "fused", "unfused"
};

struct SavingsOptions {
  CommonOptions common;
  std::string list;
  int64_t dtype_bytes = 2;
};

struct DevicesOptions {
  CommonOptions common;
  std::string named;  // the device to calibrate; empty: all
  bool calibrate = false, forget = false;
};

struct OpsOptions {
  CommonOptions common;
  std::string name;  // of one operation; empty: all
  bool markdown = false;
};

struct CacheOptions {
  CommonOptions common;
  bool clear = false;
};

// Reads the arguments and runs the command that they name. All give the exit status.
int run_command_line(int argc, char** argv);
int run_program(const RunOptions& options);
int run_bench(const BenchCommand& options);
int run_explain(const ExplainOptions& options);
int run_report(const ReportOptions& options);
int run_emit(const EmitOptions& options);
int run_profile(const ProfileOptions& options);
int run_profiled(const ProfileOptions& options);  // what the profiler runs
int run_savings(const SavingsOptions& options);
int run_devices(const DevicesOptions& options);
int run_calibrate(const DevicesOptions& options);  // or forgets
int run_ops(const OpsOptions& options);
int run_cache(const CacheOptions& options);

}  // namespace smelt::tool
