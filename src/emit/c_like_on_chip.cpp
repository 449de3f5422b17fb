// Targets whose threads meet in the memory of their workgroup alone. A team is a workgroup, and
// whatever waits at a barrier is where all of its threads come by.
#include "base/check.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

// Pairs again and again, thread t with thread t + n/2: the order in which warps shuffle.
void PhasePrinter::combine_on_chip(const std::vector<Partial>& parts) {
  const int threads = team_.threads;
  if (threads == 1) return;
  // Inside a loop the last iteration's values may still be read.
  if (serial_depth_ > 0) line("{}", as_.barrier);
  const auto values = [](const Partial& p) { return fmt::format("red{}", p.shared); };
  for (const Partial& p : parts) {
    statics_ += fmt::format("  {}{} {}[{}];\n", as_.shared, p.type, values(p), threads);
    line("{}[tw] = {};", values(p), p.value);
    if (p.index.empty()) continue;
    statics_ += fmt::format("  {}{} {}i[{}];\n", as_.shared, p.index_type, values(p), threads);
    line("{}i[tw] = {};", values(p), p.index);
  }
  line("{}", as_.barrier);
  const std::string step = fmt::format("d{}", names_++);
  line("#pragma unroll");
  open(fmt::format("for (int {0} = {1}; {0} >= 1; {0} /= 2)", step, threads / 2));
  open(fmt::format("if (tw < {})", step));
  for (const Partial& p : parts) {
    combine_step(p, fmt::format("{}[tw + {}]", values(p), step),
                 p.index.empty() ? "" : fmt::format("{}i[tw + {}]", values(p), step));
    line("{}[tw] = {};", values(p), p.value);
    if (!p.index.empty()) line("{}i[tw] = {};", values(p), p.index);
  }
  close();
  line("{}", as_.barrier);
  close();
  for (const Partial& p : parts) {
    line("{} = {}[0];", p.value, values(p));
    if (!p.index.empty()) line("{} = {}i[0];", p.index, values(p));
  }
}

// Every thread asks every element: they all come to the same ones.
void PhasePrinter::each_on_chip(const Each& s) {
  const std::string name = fmt::format("s{}", names_++);
  open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", index_type(), name, integer(s.extent)));
  push();
  ++serial_depth_;
  symbols_[s.var] = name;
  open(fmt::format("if ({})", value(s.condition)));
  push();
  each_body(s);
}

// What the thread n to the right has, counted around.
std::string PhasePrinter::from_thread(DType dtype, const std::vector<std::string>& args) {
  const int n = std::stoi(args[1].substr(args[1][0] == '('));
  const std::string type = type_of(dtype), meet = fmt::format("meet{}", names_++);
  statics_ += fmt::format("  {}{} {}[{}];\n", as_.shared, type, meet, team_.threads);
  // What was there before has been read when all have come to the first barrier.
  line("{}", as_.barrier);
  line("{}[tw] = {};", meet, args[0]);
  line("{}", as_.barrier);
  return fmt::format("{}[(tw + {}) & {}]", meet, n < 0 ? n + team_.threads : n, team_.threads - 1);
}

// Group by group of the threads' neighbouring elements: each thread's own, then those of all
// threads, then what came before.
void PhasePrinter::scan_on_chip(const Scan& s, const ScanText& text) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  SMELT_CHECK(!s.over_grid, "a scan over the grid where workgroups have no order");
  const int n = text.number, threads = team_.threads, lanes = vector_.lanes;
  const std::string& type = text.running;
  // to = a joined with b, which comes after it
  const auto join = [&](const std::string& to, const std::string& a, const std::string& b) {
    line("{{ const {0} a = {1}, b = {2}; {3} = {4}; }}", type, a, b, to,
         text.pair() ? joined(s, text, "a", "b") : fmt::format("({})({})", type, apply(s.op, t, {"a", "b"})));
  };
  const std::string meet = fmt::format("meet{}", n), carry = fmt::format("carry{}", n);
  if (threads > 1) statics_ += fmt::format("  {}{} {}[{}];\n", as_.shared, type, meet, threads);
  const std::string before = fmt::format("v{}", s.carry);
  line("{} {} = {};", type, carry, text.pair() ? pair(text, before, text.no_second) : before);
  open(fmt::format("for (int u = 0; u < {}; ++u)", vector_.unroll));
  line("{}* const x = x{} + u * {};", type, n, lanes);
  if (lanes > 1) {
    open(fmt::format("for (int l = 1; l < {}; ++l)", lanes));
    join("x[l]", "x[l - 1]", "x[l]");
    close();
  }
  line("{0} all = x[{1}], ahead = {2};", type, lanes - 1, carry);
  if (threads > 1) {
    line("{}[tw] = all;", meet);
    line("{}", as_.barrier);
    open(fmt::format("for (int d = 1; d < {}; d *= 2)", threads));
    open("if (tw >= d)");
    join("all", meet + "[tw - d]", "all");
    close();
    line("{}", as_.barrier);
    line("{}[tw] = all;", meet);
    line("{}", as_.barrier);
    close();
    open("if (tw > 0)");
    join("ahead", carry, meet + "[tw - 1]");
    close();
    line("all = {}[{}];", meet, threads - 1);
    line("{}", as_.barrier);
  }
  join(carry, carry, "all");
  open(fmt::format("for (int l = {}; l >= 0; --l)", lanes - 1));
  if (s.exclusive) {
    open("if (l == 0)");
    line("x[l] = ahead;");
    close();
    open("else");
    join("x[l]", "ahead", "x[l - 1]");
    close();
  } else {
    join("x[l]", "ahead", "x[l]");
  }
  close();
  close();
  line("v{} = {}{};", s.carry, carry, text.pair() ? ".value" : "");
}

}  // namespace smelt::emit::c_like
