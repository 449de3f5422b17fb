#include "compile/slices.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "kernel/slices.hpp"
#include "kernel/walk.hpp"

namespace smelt {
namespace {

// A chain begins with as many slices, and a kernel that leaves it fewer than these is not worth
// adding.
constexpr int64_t kFewest = 4, kEnough = 32;
// Slices for each thread with which it matters little that some have one more.
constexpr int64_t kRounds = 8;

const IntExpr& extent_of(const kernel::Kernel& kernel) {
  return kernel.phases[0].body.back().get<kernel::Loop>().extent;
}

// One product's factors that another one has too.
std::optional<IntExpr> common_factor(const IntExpr& a, const IntExpr& b) {
  if (a.terms().size() != 1 || b.terms().size() != 1) return std::nullopt;
  const IntExpr::Term &x = a.terms()[0], &y = b.terms()[0];
  IntExpr::Term common{std::gcd(x.coefficient, y.coefficient), {}};
  const auto by_key = [](const IntExpr::AtomPtr& p, const IntExpr::AtomPtr& q) { return p->key < q->key; };
  std::set_intersection(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                        std::back_inserter(common.atoms), by_key);
  return IntExpr::of_term(std::move(common));
}

int64_t constant_factor(const IntExpr& product) { return product.terms().empty() ? 0 : product.terms()[0].coefficient; }

// Divided by the smallest prime number that divides it; nothing where none does.
std::optional<IntExpr> fewer(const IntExpr& product) {
  const int64_t n = constant_factor(product);
  for (int64_t prime = 2; prime <= n; ++prime)
    if (n % prime == 0) return divide_terms(product, prime).quotient;
  return std::nullopt;
}

class FindSlices {
 public:
  explicit FindSlices(const Executable::State& state) : state_(state) {}

  std::vector<SlicedKernels> run() {
    std::vector<SlicedKernels> found;
    for (size_t first = 0; first + 1 < state_.launches.size();) {
      SlicedKernels chain{first, first + 1, 1, {}};
      if (may_be_sliced(first)) {
        chain.slices = extent_of(state_.kernels[first]);
        while (extend(chain)) {
        }
        chain.slots = own_slots(chain);
      }
      first = chain.slots.empty() ? first + 1 : chain.end;
      if (!chain.slots.empty()) found.push_back(std::move(chain));
    }
    return found;
  }

 private:
  struct Use {
    size_t kernel, param;
    bool writes;
  };
  using Array = std::pair<Binding::Kind, int>;

  bool may_be_sliced(size_t k) const {
    const kernel::Kernel& kernel = state_.kernels[k];
    const Launch& launch = state_.launches[k];
    return !launch.custom && !kernel.is_batch() && kernel.phases.size() == 1 && kernel.checks.empty() &&
           !launch.copies[0];
  }

  // The arrays that kernels of the chain write and read.
  std::map<Array, std::vector<Use>> handed_over(size_t first, size_t end) const {
    std::map<Array, std::vector<Use>> uses;
    for (size_t k = first; k < end; ++k) {
      const std::vector<kernel::Param>& params = state_.kernels[k].params;
      size_t array = 0;
      for (size_t p = 0; p < params.size(); ++p) {
        if (params[p].kind == kernel::ParamKind::Size) continue;
        const Binding& b = state_.launches[k].arrays[array++];
        if (b.kind == Binding::Slot || b.kind == Binding::Output)
          uses[{b.kind, b.index}].push_back({k, p, params[p].kind == kernel::ParamKind::Output});
      }
    }
    for (auto u = uses.begin(); u != uses.end();) {
      const auto writes = std::count_if(u->second.begin(), u->second.end(), [](const Use& use) { return use.writes; });
      u = writes == 0 || writes == static_cast<std::ptrdiff_t>(u->second.size()) ? uses.erase(u) : std::next(u);
    }
    return uses;
  }

  // Adds the next kernel, if it can run in the same slices, or in fewer ones.
  bool extend(SlicedKernels& chain) {
    const size_t next = chain.end;
    if (next == state_.launches.size() || !may_be_sliced(next) || overwrites_inputs(chain.first, next)) return false;
    const auto arrays = handed_over(chain.first, next + 1);
    const bool connected = std::any_of(arrays.begin(), arrays.end(), [&](const auto& array) {
      return std::any_of(array.second.begin(), array.second.end(), [&](const Use& u) { return u.kernel == next; });
    });
    if (!connected) return false;
    std::optional<IntExpr> slices = common_factor(chain.slices, extent_of(state_.kernels[next]));
    const int64_t least = next == chain.first + 1 ? kFewest : std::min(kEnough, constant_factor(chain.slices) / 2);
    for (; slices && (!slices->constant() || constant_factor(*slices) >= least); slices = fewer(*slices)) {
      if (!stay(arrays, *slices)) continue;
      chain.slices = *slices;
      chain.end = next + 1;
      return true;
    }
    return false;
  }

  bool stay(const std::map<Array, std::vector<Use>>& arrays, const IntExpr& slices) {
    const std::string text = slices.str();
    const auto all = [&](kernel::Slicing how) {
      return std::all_of(arrays.begin(), arrays.end(), [&](const auto& array) {
        return std::all_of(array.second.begin(), array.second.end(), [&](const Use& use) {
          auto& known = how == kernel::Slicing::Tried ? seen_ : proved_;
          const auto [at, fresh] = known.try_emplace({state_.alike[use.kernel], use.param, text}, false);
          if (fresh) at->second = kernel::stays_in_slices(state_.kernels[use.kernel], use.param, slices, how);
          return at->second;
        });
      });
    };
    return all(kernel::Slicing::Tried) && all(kernel::Slicing::Proved);
  }

  // Whether a kernel may write in place of an input that one from `first` on before it reads, or
  // reads what one of these overwrites.
  bool overwrites_inputs(size_t first, size_t kernel) const {
    const auto uses = [&](size_t k, Binding::Kind kind, size_t index) {
      const std::vector<Binding>& arrays = state_.launches[k].arrays;
      return std::any_of(arrays.begin(), arrays.end(),
                         [&](const Binding& b) { return b.kind == kind && b.index == static_cast<int>(index); });
    };
    for (const InPlaceArrays& pair : state_.in_place) {
      const bool writes = uses(kernel, Binding::Output, pair.output), reads = uses(kernel, Binding::Input, pair.input);
      for (size_t k = first; (writes || reads) && k < kernel; ++k)
        if ((writes && uses(k, Binding::Input, pair.input)) || (reads && uses(k, Binding::Output, pair.output)))
          return true;
    }
    return false;
  }

  std::vector<size_t> own_slots(const SlicedKernels& chain) const {
    std::vector<size_t> slots;
    for (const auto& [array, uses] : handed_over(chain.first, chain.end)) {
      if (array.first != Binding::Slot) continue;
      const Slot& slot = state_.slots[static_cast<size_t>(array.second)];
      if (slot.first_use >= static_cast<int>(chain.first) && slot.last_use < static_cast<int>(chain.end))
        slots.push_back(static_cast<size_t>(array.second));
    }
    return slots;
  }

  const Executable::State& state_;
  std::map<std::tuple<size_t, size_t, std::string>, bool> seen_, proved_;  // of a kernel, a parameter, slices
};

int64_t bytes_of(const Slot& slot, const SizeBinding& sizes) {
  return element_count(evaluate(slot.dims, sizes)) * size_of(slot.dtype);
}

// How a chain runs with these sizes: in as few slices as have their temporaries in a half of a
// core's cache, or as there can be; as a whole where all of it fits.
Prepared::Run run_of(const Executable::State& state, const SlicedKernels& chain, const SizeBinding& sizes) {
  Prepared::Run run{chain.first, chain.end, 1, {}};
  const int64_t most = chain.slices.evaluate(sizes), cache = state.device.facts.l2_bytes, threads = state.threads;
  int64_t bytes = 0;
  for (const size_t s : chain.slots) bytes += bytes_of(state.slots[s], sizes);
  if (most < 2 || bytes <= cache * threads) return run;
  for (int64_t n = 2; n <= most && bytes / run.slices > cache / 2; ++n)
    if (most % n == 0 && (n % threads == 0 || n >= kRounds * threads)) run.slices = n;
  if (run.slices == 1) return run;
  for (const size_t s : chain.slots) run.parts.emplace_back(s, bytes_of(state.slots[s], sizes) / run.slices);
  return run;
}

}  // namespace

std::vector<SlicedKernels> find_slices(const Executable::State& state) {
  return state.device.is_gpu ? std::vector<SlicedKernels>{} : FindSlices(state).run();
}

Layout lay_out_call(const Executable::State& state, const SizeBinding& sizes) {
  if (state.sliced.empty()) return lay_out_apart(state, sizes);
  Layout layout;
  std::vector<int64_t> bytes;
  std::vector<Slot> slots = state.slots;
  for (const Slot& slot : slots) bytes.push_back(bytes_of(slot, sizes));
  auto chain = state.sliced.begin();
  for (size_t k = 0; k < state.launches.size(); k = layout.runs.back().end) {
    Prepared::Run run{k, k + 1, 1, {}};
    if (chain != state.sliced.end() && chain->first == k) run = run_of(state, *chain++, sizes);
    if (run.slices == 1) run.end = k + 1;
    for (const auto& [s, of_slice] : run.parts) bytes[s] = state.threads * aligned(of_slice, kCpuAlignment);
    // All kernels of a run are under way at a time.
    for (Slot& slot : slots) {
      const int first = static_cast<int>(run.first), last = static_cast<int>(run.end) - 1;
      if (slot.first_use > first && slot.first_use <= last) slot.first_use = first;
      if (slot.last_use >= first && slot.last_use < last) slot.last_use = last;
    }
    layout.runs.push_back(std::move(run));
    while (chain != state.sliced.end() && chain->first < layout.runs.back().end) ++chain;
  }
  layout.arena = lay_out(slots, bytes, kCpuAlignment);
  return layout;
}

Layout lay_out_apart(const Executable::State& state, const SizeBinding& sizes) {
  Layout layout;
  std::vector<int64_t> bytes;
  for (const Slot& slot : state.slots) bytes.push_back(bytes_of(slot, sizes));
  for (size_t k = 0; k < state.launches.size(); ++k) layout.runs.push_back({k, k + 1, 1, {}});
  layout.arena = lay_out(state.slots, bytes, state.device.is_gpu ? kGpuAlignment : kCpuAlignment);
  return layout;
}

void launch_run(const Executable::State& state, const Prepared& prepared, const Prepared::Run& run,
                std::vector<Addresses>& addresses, char* scratch) {
  if (run.slices == 1)
    return launch_on_cpu(state, state.launches[run.first], prepared.launches[run.first], addresses[run.first], scratch);
  const int64_t scratch_bytes = prepared.scratch_bytes / state.threads;
  runtime::parallel_for(state.threads, run.slices, 1, [&](int thread, int64_t begin, int64_t end) {
    for (int64_t slice = begin; slice < end; ++slice)
      for (size_t k = run.first; k < run.end; ++k) {
        const Launch& launch = state.launches[k];
        std::vector<void*> arrays = addresses[k][0];
        // Where the whole array would begin, if this thread's memory were the part of it that the
        // slice has.
        for (size_t a = 0; a < arrays.size(); ++a)
          for (const auto& [slot, bytes] : run.parts)
            if (launch.arrays[a].kind == Binding::Slot && launch.arrays[a].index == static_cast<int>(slot))
              arrays[a] = static_cast<char*>(arrays[a]) + thread * aligned(bytes, kCpuAlignment) - slice * bytes;
        const int64_t iterations = prepared.launches[k].phases[0].extent / run.slices;
        launch.phases[0](slice * iterations, (slice + 1) * iterations, arrays.data(),
                         prepared.launches[k].arguments.data(), scratch + scratch_bytes * thread);
      }
  });
}

}  // namespace smelt
