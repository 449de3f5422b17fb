// Chains: tiles of rows, each of which goes through the keys. Internal to this folder.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "kernel/fragment.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

class ChainLowering : public Lowering {
 public:
  using Lowering::Lowering;

 private:
  void phases() override;
  const schedule::Chain& chain() const { return *schedule_.chain; }
  const schedule::Product& product() const { return chain().product; }

  // A tile: where it is, and its rows.
  struct Tile {
    Placement placement;
    Piece rows;
    IntExpr grid;      // iterations
    IntExpr part = 0;  // of the keys
  };
  Tile tile_of_grid() const;

  // A factor in scratch, in pieces of 8 neighbours along the inner axis or along its own.
  struct Panel {
    NodeId factor = -1;
    schedule::Index index;
    int buffer = -1;
    int64_t own = 0, inner = 0;
    bool along_inner = true;
    int stages = 1;
  };
  Panel add_panel(const schedule::ValueAt& factor, int64_t own, int64_t inner, bool along_inner, int stages);
  // Sets the axes of an element of a panel, and says what must hold for it to be there.
  using PlaceElement =
      std::function<std::vector<schedule::Guard>(Placement&, const IntExpr& own, const IntExpr& inner)>;
  Stmt stage(const Panel& panel, const Tile& tile, const PlaceElement& place_element);
  Stmt stage_first(const Panel& panel, const Tile& tile, const schedule::FirstProduct& first,
                   const std::vector<int>& axes, const IntExpr& from);

  int add_fragment(int64_t columns, int64_t inner, bool columns_along_inner);
  // The tiles of keys that some row of the tile may see.
  struct Keys {
    IntExpr first, count;
  };
  Keys keys_of(const Tile& tile) const;
  std::optional<int64_t> slope_of(const schedule::Seen& seen) const;
  bool is_from_above(const schedule::Seen& seen) const;
  IntExpr least_at(const schedule::Seen& seen, const Tile& tile, const IntExpr& key, bool for_all) const;
  ExprId sees_all(const Tile& tile, const IntExpr& first_key);
  std::vector<Stmt> over_keys(const Tile& tile, const Keys& keys, const std::vector<Panel>& rows);
  PairAt place_pair(const Fragment& f, const Tile& tile, Placement& placement) const;
  // Scores that are the products times a positive number, or -inf, are weighed as products: the
  // node of what that number is multiplied with.
  struct Scaled {
    NodeId node = -1;
    float scale = 1;
  };
  Scaled scaled_products() const;
  std::vector<Stmt> values_of_keys(const Tile& tile, const IntExpr& first_key);
  std::vector<Stmt> between(const Tile& tile, const IntExpr& first_key, bool seen);
  ExprId factor_of_row(ExprId most, ExprId total, const Placement& placement);
  Stmt row_factors(const Tile& tile, int rows, int factors);
  Stmt results(const Tile& tile, int factors);

  // lower_chain_split.cpp: what parts of the keys make.
  struct Partial {
    std::vector<int> sums;         // arrays, by last product
    int maxima = -1, totals = -1;  // arrays
  };
  std::vector<Axis> axes_of_rows() const;
  Partial add_partial_results();
  std::vector<Stmt> store_part(const Partial& partial, const Tile& tile);
  void join_parts(const Partial& partial);

  // Fragments: those of the first products, then those of the last ones. The first ones have what
  // is between them too.
  static constexpr int kScores = 0;
  int sums(size_t last = 0) const { return static_cast<int>(chain().firsts.size() + last); }
  const Fragment& fragment_of_sums(size_t last) const { return kernel_.fragments[static_cast<size_t>(sums(last))]; }
  NodeId product_of_scores() const { return chain().firsts[0].sum; }
  std::vector<std::array<int, 2>> of_keys_;  // scratch of lanes: values of the keys of each pair
  std::map<NodeId, ExprId> ready_;           // values that are known in the block at hand
};

}  // namespace smelt::kernel
