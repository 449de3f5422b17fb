// The schedules that a group could have, and what each is predicted to cost.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schedule/cost.hpp"

namespace smelt::schedule {

// The order of a sum follows from its schedule and from what is fused, and must not follow from the
// threads at hand: on a CPU both are compared for so many.
inline constexpr int kThreadsOfACpu = 16;
// Predictions that differ by less are taken to be equal.
inline constexpr double kAlike = 1.05;

struct Candidate {
  Tuning tuning;  // that it was made with
  std::shared_ptr<const Schedule> schedule;
  Cost cost;
};

// The schedule that a group gets with a tuning, whatever tuning the options have.
std::variant<Candidate, Refusal> candidate(const Graph& graph, const Group& group, Options options,
                                           const Tuning& tuning);

// The family's own choice first, then what its proposer adds, each form once; none for devices of
// OpenCL that are CPUs. With a tuning among the options, that one is the first.
std::variant<std::vector<Candidate>, Refusal> candidates(const Graph& graph, const Group& group,
                                                         const Options& options);

// One that the model holds to be so much faster than the family's own choice that its errors do not
// matter (docs/decisions/004).
std::optional<Candidate> far_better(const Graph& graph, const Group& group, const Options& options,
                                    std::shared_ptr<const Schedule> own);

// A tuning as one line of text, and back; nothing for other texts.
std::string text_of(const Tuning& tuning);
std::optional<Tuning> tuning_of(const std::string& text);

// Whether both run in the same way.
bool same_form(const Schedule& a, const Schedule& b);
// "256 threads, 2 x 4 elements to each"
std::string form_of(const Schedule& schedule);

}  // namespace smelt::schedule
