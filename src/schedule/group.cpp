#include "schedule/group.hpp"

namespace smelt::schedule {

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::Pointwise: return "pointwise";
    case Strategy::Tiled: return "tiled";
    case Strategy::Scatter: return "scatter";
    case Strategy::Stencil: return "stencil";
    case Strategy::Product: return "product";
    case Strategy::Chain: return "chain";
    case Strategy::Custom: return "custom";
    case Strategy::Row: return "row";
    case Strategy::Column: return "column";
    case Strategy::Split: return "split";
    case Strategy::Batch: return "batch";
  }
  return "?";
}

}  // namespace smelt::schedule
