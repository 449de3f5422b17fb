// Random chains of stencils: sums, maxima and differences of shifted reads of what the last step
// left, padded or not.
#include <fmt/format.h>

#include <algorithm>

#include "generator.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

struct Image {
  std::string name;
  int64_t top = 0, bottom = 0, left = 0, right = 0;  // cut off, against the input
  bool same_shape(const Image& o) const {
    return top == o.top && bottom == o.bottom && left == o.left && right == o.right;
  }
};

class StencilGenerator {
 public:
  explicit StencilGenerator(uint64_t seed) : random_(seed * 7919 + 17) { program_.seed = seed; }

  Program run() {
    static constexpr DType kTypes[] = {DType::F32,  DType::F32, DType::F32, DType::F16,
                                       DType::BF16, DType::F64, DType::I32};
    dtype_ = kTypes[pick(std::size(kTypes))];
    program_.data = static_cast<Data>(pick(3));
    batch_ = pick(4) == 0 ? 1 + pick(3) : 0;
    const bool symbols = pick(2) == 0;
    static constexpr int64_t kHeights[] = {1, 2, 5, 16, 33, 40, 64}, kWidths[] = {1, 3, 8, 20, 64, 65, 100, 131, 260};
    const int64_t height = kHeights[pick(std::size(kHeights))], width = kWidths[pick(std::size(kWidths))];
    if (symbols) {
      rows_ = sym("H"_size), columns_ = sym("W"_size);
      program_.sizes = {{{"H"_size, 60}, {"W"_size, 97}},
                        {{"H"_size, height}, {"W"_size, width}},
                        {{"H"_size, 1}, {"W"_size, 5}},
                        {{"H"_size, 3}, {"W"_size, 1}}};
    } else {
      rows_ = std::max<int64_t>(height, 16), columns_ = std::max<int64_t>(width, 64);
      program_.sizes = {{}};
    }
    // What is cut off a symbol may leave nothing, which is an error of the call.
    may_shrink_ = !symbols;
    add_input("x");
    if (pick(3) == 0) add_input("y");
    const size_t steps = 1 + pick(5);
    for (size_t s = 0; s < steps; ++s) step();
    program_.outputs = {images_.back().name};
    if (pick(3) == 0) program_.outputs.push_back(images_[pick(images_.size())].name);
    return program_;
  }

 private:
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }

  void add_input(const std::string& name) {
    Shape shape{rows_, columns_};
    if (batch_) shape.insert(shape.begin(), static_cast<int64_t>(batch_));
    program_.inputs.push_back({name, dtype_, shape});
    images_.push_back({name});
  }

  std::string define(const std::string& expression) {
    program_.statements.push_back({fmt::format("v{}", program_.statements.size()), expression});
    return program_.statements.back().name;
  }

  std::string weight() {
    if (dtype_ == DType::I32) return std::to_string(static_cast<int64_t>(pick(5)) - 2);
    static constexpr const char* kWeights[] = {"0.25", "-0.5", "2.0", "1.0", "0.125"};
    return kWeights[pick(std::size(kWeights))];
  }

  // A step at random: elementwise, of two images, or a stencil.
  void step() {
    Image& last = images_.back();
    const size_t kind = pick(8);
    if (kind == 0) {
      images_.push_back(
          {define(fmt::format("relu({}) * {}", last.name, weight())), last.top, last.bottom, last.left, last.right});
      return;
    }
    if (kind == 1) {
      std::vector<Image> alike;
      for (const Image& i : images_)
        if (i.same_shape(last)) alike.push_back(i);
      Image made = last;
      made.name = define(fmt::format("{} - {} * {}", last.name, among(alike).name, weight()));
      images_.push_back(made);
      return;
    }
    stencil(last);
  }
  const Image& among(const std::vector<Image>& v) { return v[pick(v.size())]; }

  void stencil(Image from) {
    int64_t up = static_cast<int64_t>(pick(3)), down = static_cast<int64_t>(pick(3)),
            left = static_cast<int64_t>(pick(3)), right = static_cast<int64_t>(pick(3));
    if (up + down + left + right == 0) left = right = 1;
    Image to = from;
    std::string source = from.name;
    if (!may_shrink_ || pick(3) > 0) {
      static constexpr const char* kValues[] = {"value=0", "value=0", "value=1", "mode=\"edge\""};
      const std::string batch = batch_ ? "(0, 0), " : "";
      source = define(fmt::format("pad({}, [{}({}, {}), ({}, {})], {})", from.name, batch, up, down, left, right,
                                  kValues[pick(4)]));
    } else {
      if (from.top + from.bottom + up + down > 12 || from.left + from.right + left + right > 40) return;
      to.top += up, to.bottom += down, to.left += left, to.right += right;
    }
    // The window, whole or some of its points.
    std::vector<std::string> taps;
    const size_t skip = pick(3) == 0 ? 2 : 1;
    for (int64_t r = 0; r <= up + down; ++r)
      for (int64_t c = 0; c <= left + right; ++c)
        if (pick(skip) == 0 || taps.empty()) taps.push_back(shifted(source, r, up + down, c, left + right));
    const size_t how = pick(4);
    std::string all = taps[0];
    for (size_t t = 1; t < taps.size(); ++t)
      all = how == 0   ? fmt::format("max({}, {})", all, taps[t])
            : how == 1 ? fmt::format("{} + {} * {}", all, taps[t], weight())
                       : fmt::format("{} + {}", all, taps[t]);
    to.name = define(how == 2 && dtype_ != DType::I32 ? fmt::format("({}) / {}", all, taps.size()) : all);
    images_.push_back(to);
  }

  std::string shifted(const std::string& source, int64_t row, int64_t rows, int64_t column, int64_t columns) const {
    const auto slice = [](int64_t from, int64_t cut) {
      return fmt::format("{}:{}", from, from == cut ? "" : std::to_string(from - cut));
    };
    return fmt::format("{}[{}{}, {}]", source, batch_ ? ":, " : "", slice(row, rows), slice(column, columns));
  }

  std::mt19937_64 random_;
  Program program_;
  DType dtype_ = DType::F32;
  size_t batch_ = 0;
  IntExpr rows_, columns_;
  bool may_shrink_ = false;
  std::vector<Image> images_;
};

}  // namespace

Program random_stencil_program(uint64_t seed) { return StencilGenerator(seed).run(); }

}  // namespace smelt::testing
