// Products: sums over axes of what two factors make together, each of which lacks kept axes that
// the other has.
//
//   y[b, m, n] = sum over k of  f[b, m, k] * g[b, n, k]          rows m, columns n, inner axes k
//
// Whatever leads to a factor is evaluated once for each tile of the other side, and what is
// computed from y for each of its elements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/domain.hpp"

namespace smelt::schedule {

// One sum: the reduction, and the factors of what it reduces.
struct ProductSum {
  NodeId node = -1;
  NodeId rows = -1, columns = -1;  // by the side that they have
  size_t reduction = 0;            // its place in the domain
  // GPU: as how many bf16 matrix units multiply a factor of f32, which add up to it, or almost
  // where the program permits less than f32.
  int parts_of_rows = 1, parts_of_columns = 1;
  bool is_full = true;
  bool in_parts() const { return parts_of_rows > 1 || parts_of_columns > 1; }
};

// GPU, few rows: warps multiply what they read into registers. Each has sums for all results of a
// tile, over parts of the inner axes that no other warp has; these are added up at the end.
struct Skinny {
  int warps;  // of a tile
  int parts;  // of the inner axes that a warp reads before it multiplies them
};
// CPU: matrix units multiply a block in so many tiles of 16 x 16, whose factors are words of these
// dtypes: bf16, or bytes.
struct Tiles {
  int down = 2, across = 2;
  DType rows = DType::BF16, columns = DType::BF16;
};
inline constexpr int64_t kSideOfTile = 16;  // rows, columns, and words of the inner axes
// Rows come in steps of so many, and registers hold the sums of no more than the most.
inline constexpr int64_t kStepOfSkinny = 8, kMostOfSkinny = 64;

// The array that a factor has the elements of, or these after a cast, where neither its own axes
// nor the inner ones are several: bytes from one line of it to the next, its elements, and the axis
// of the array that goes over lines; -1: several do.
struct Lines {
  int64_t apart;
  DType dtype;
  bool is_cast;
  int axis;
  bool operator==(const Lines&) const = default;
};

struct Product {
  // Axes of the domain: those of both factors, of one alone, and those summed over.
  std::vector<int> batch, rows, columns, inner;
  std::vector<ProductSum> sums;
  // The axis summed over along which the elements of the larger factor are neighbours; -1: none.
  int nearest_inner = -1;
  // Whether the factors' arrays are contiguous along the inner axes, not along their own.
  bool rows_along_inner = true, columns_along_inner = false;
  // Whether neighbours along the last of their own axes are in cache lines of their own, as weights
  // that are read across their taps: packing reads a line for each element.
  bool rows_far_apart = false, columns_far_apart = false;
  std::optional<Lines> lines_of_rows, lines_of_columns;
  // Rows of a column whose results are next to each other in memory, and those of the next column
  // after them: the phases of a channel.
  int64_t run = 1;
  // What one iteration of the grid computes, and how much of the inner axes is staged at a time.
  int64_t tile_rows = 0, tile_columns = 0, tile_inner = 0;
  // The dtype that matrix units of a GPU, or dot products of a CPU, multiply factors in: nothing
  // where what adds up is multiplied.
  std::optional<DType> units;
  // On a CPU: few rows, and columns contiguous along the inner axes, which are read where they lie;
  // lanes go along the inner axes.
  bool few_rows = false;
  // Several blocks of few rows use columns that are computed: a part of those is staged.
  bool stages_columns = false;
  // On a CPU: places of all axes of the columns but the last that a tile has next to each other,
  // with a piece of the last one each, so that vectors go along it; 0: a tile goes over all of them
  // as one axis.
  int64_t lines = 0;
  // The same of the inner axes, where each line is whole: a part has so many.
  int64_t inner_lines = 0;
  // On a CPU: neighbours of the inner axes that one multiplication takes. Of bytes one factor is
  // unsigned: the rows, where the columns are not; rows of i8 are then moved by 128.
  int64_t terms = 1;
  bool unsigned_rows = true, moved_rows = false;
  std::optional<Tiles> tiles;
  // On a CPU: blocks read factors where they lie, which are not packed.
  bool rows_in_place = false, columns_in_place = false;
  // Factors are integers of 8 bits, whose sums an i32 has. A GPU's units multiply halves: sums are
  // exact in f32, those of a part of the inner axes at least, up to 2^22.
  bool whole = false, exact_in_f32 = false;
  // On a GPU: warps next to each other along the rows.
  int down = 1;
  int stages = 0;                  // parts that are on chip at a time, where they come while others are multiplied
  bool boxed = false;              // the device has an engine that copies boxes of arrays on chip
  int64_t band = 1;                // tiles of rows that neighbours of the grid have, before they go to the next columns
  std::vector<NodeId> packed;      // factors that are brought into rows of whole tiles and parts before, in memory
  std::map<NodeId, NodeId> apart;  // factors of f32, and the arrays of those that are taken apart as they lie instead
  int split = 1;  // parts of the inner axes that the grid goes over too; what they make is added up by a second phase
  std::optional<Skinny> skinny;
  int64_t block_rows = 0, block_columns = 0;  // results that a thread has in registers; on a CPU columns are lanes
};

// The sums of a group, if it is made of products over the same axes; tiles are not chosen yet.
// `one_row`: the rows may be no axes, as those of a vector times a matrix.
std::optional<Product> find_product(const Graph& graph, const Group& group, const Domain& domain, bool one_row = false);

// The multiplication whose products a sum adds, if both count as one operation, as in `a @ b`; -1:
// none.
NodeId multiplication_of(const Graph& graph, NodeId sum);

// The half type that all factors have before they are cast to what adds up: matrix units multiply
// it. A float of 8 bits is a number of both; `of_f8` where all factors are of 8 bits. `rounds`:
// what operations of a half make is rounded to it on the way, as it would be where it is stored;
// else it must be rounded before.
std::optional<DType> half_of_factors(const Graph& graph, const Group& group, const Product& product, DType of_f8,
                                     bool rounds);

// Whether every value of `from` is one of `to`, both integers.
bool is_wider(DType from, DType to);

// The bytes that all factors are before they are cast to an integer of 32 bits or more, rows and
// then columns; nothing where any is something else.
std::optional<std::pair<DType, DType>> bytes_of_factors(const Graph& graph, const Group& group, const Product& product);

// Whether sums of products of these bytes are at most so large; and whether all sums are right in
// an i32, where they fit or only their low bits are used.
bool terms_fit(const Domain& domain, const Product& product, const std::pair<DType, DType>& bytes, int64_t integers);
bool sums_fit(const Graph& graph, const Domain& domain, const Product& product, const std::pair<DType, DType>& bytes);

// How many bf16 add up to a factor of f32: as few as hold what it was cast from.
int parts_of_factor(const Graph& graph, const Group& group, NodeId factor);

// Pairs of parts whose products make a product as exact as f32, the first parts first. The others
// are below 2^-26 of it; where less is permitted, below 2^-17.
std::vector<std::pair<int, int>> pairs_of_parts(const ProductSum& sum);

// GPU: sums that a tile holds for each result. Those of integers may be held twice, of one part of
// the inner axes and of all. Those of full precision from factors in parts are
// held three times: what first parts make, of one part and of all, and what the others make.
inline constexpr int kHeldOfParts = 3, kHeldOfWhole = 2;
int held_sums(const Product& product);

// Bytes of what the sums add up in, at least 4.
int64_t bytes_of_sums(const Graph& graph, const Product& product);

// Products of fewer rows take longer to stage than to add up in the loops of other families.
// Skinny ones take no more than a sum of their weights.
inline constexpr int64_t kFewestOfRows = 4, kFewestOfSkinny = 1;

// A product that is worth tiles, its sizes as they are estimated, and the bytes of a sum.
struct LargeProduct {
  Product product;
  int64_t rows, columns, inner, bytes;
};
std::optional<LargeProduct> large_product(const Graph& graph, const Group& group, const Domain& domain,
                                          int64_t fewest_of_rows = kFewestOfRows, bool one_row = false);

// Whether a factor is computed from what is read, by more than moves, casts and zeros around it.
bool is_computed(const Graph& graph, const Group& group, NodeId factor);

// Arrays that an element of a factor is computed from, and what that takes.
struct Behind {
  double arrays = 0, operations = 0;
  bool gathers = false;
  std::set<NodeId> inputs;
};
Behind behind_factor(const Graph& graph, const Group& group, NodeId factor);

// Why a factor had better be stored than be computed by what packs it; empty when it need not be.
std::string why_stored_before(const Graph& graph, const Group& group, const Product& product);

// Whether the elements of a factor of matrix units are those of an array of halves: copies bring
// them on chip.
bool is_copied(const Graph& graph, const Group& group, NodeId factor);

// Whether copies of 16 bytes bring a factor on chip, for the sizes at hand: it is that of an array
// whose rows begin at multiples of them.
bool is_copied_wide(const Graph& graph, const Group& group, const SizeBinding& sizes, NodeId factor);

// Whether boxes of the array that it is of bring a factor on chip, for the sizes at hand.
bool comes_in_boxes(const Graph& graph, const Group& group, const SizeBinding& sizes, NodeId factor, DType units);

// The array that a factor of f32 shows by windows and other views, if it is better taken apart as
// it lies than element by element, and copies of 16 bytes bring its halves on chip; -1: none.
NodeId array_to_take_apart(const Graph& graph, const Group& group, const SizeBinding& sizes, NodeId factor);

// Registers of a thread beside its sums, where parts come as boxes.
inline constexpr int kBesideSums = 28;

// Bytes of one part of all factors of a tile on a GPU.
int64_t bytes_of_part(const Product& product);

// GPU, without matrix units: whether pairs of neighbours in a warp share columns, as others do
// rows.
bool shares_columns(const Product& product);

// Cycles to pack an element on a CPU whose neighbours are in other cache lines.
inline constexpr double kCyclesOfFar = 4;
// Those of a word of rows and of columns.
struct PackingCycles {
  double row, column;
};
PackingCycles cycles_to_pack(const Domain& domain, const Product& product, int64_t l2_bytes);

// Points of these axes for the sizes at hand, and as an expression.
int64_t estimate_of(const Domain& domain, const std::vector<int>& axes);
IntExpr count_of(const Domain& domain, const std::vector<int>& axes);

}  // namespace smelt::schedule
