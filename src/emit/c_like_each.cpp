// What updates of places that the data names need: the elements that meet a condition, in order,
// and atomic stores.
#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

// Every warp asks the condition of 64 elements at once, one or two to a thread, and goes through
// those that meet it: all warps of the team find the same ones, without a word between them.
void PhasePrinter::each(const Each& s) {
  SMELT_CHECK(!vector_.loop && (team_.threads >= 32 || looped_) && team_.cluster() == 1,
              "the loop over {} is run by a team of {} threads", s.var, team_.threads);
  if (!as_.warps) return each_on_chip(s);
  const int n = names_++;
  const std::string type = index_type(), extent = fmt::format("n{}", n);
  line("const {} {} = {};", type, extent, integer(s.extent));
  open(fmt::format("for ({0} base{1} = 0; base{1} < {2}; base{1} += 64)", type, n, extent));
  push();
  ++serial_depth_;
  line("unsigned halves{}[2];", n);
  line("#pragma unroll");
  open("for (int h = 0; h < 2; ++h)");
  push();
  const std::string asked = fmt::format("asked{}", n);
  line("const {0} {1} = base{2} + h * 32 + (int)(threadIdx.x & 31);", type, asked, n);
  line("bool holds = false;");
  open(fmt::format("if ({} < {})", asked, extent));
  push();
  symbols_[s.var] = asked;
  line("holds = {};", value(s.condition));
  pop();
  close();
  line("halves{}[h] = __ballot_sync(0xffffffffu, holds);", n);
  pop();
  close();
  line("unsigned long long bits{0} = ((unsigned long long)halves{0}[1] << 32) | halves{0}[0];", n);
  open(fmt::format("while (bits{})", n));
  push();
  line("const {0} s{1} = base{1} + __ffsll((long long)bits{1}) - 1;", type, n);
  line("bits{0} &= bits{0} - 1;", n);
  symbols_[s.var] = fmt::format("s{}", n);
  each_body(s);
}

void PhasePrinter::each_body(const Each& s) {
  statements(s.body);
  pop();
  close();
  --serial_depth_;
  pop();
  close();
}

void PhasePrinter::join(const Store& s, const std::string& condition, const std::string& value) {
  const DType t = kernel_.dtype_of(s.access);
  const std::string when = condition.empty() ? "" : fmt::format("if ({}) ", condition);
  if (s.cursor) {
    const DType counts = kernel_.dtype_of(*s.cursor);
    line("{}(&{})[{}] = {};", when, element(s.access), as_.next(used_, counts, element(*s.cursor)), value);
    return forget(uses_.resource(*s.cursor));
  }
  line("{}{}", when, as_.join(used_, *s.atomic, t, s.access.scratch, element(s.access), value));
}

}  // namespace smelt::emit::c_like
