// Random programs of products: every function that makes one, over factors of every layout, with
// operations, reductions and other products before and after.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/language.hpp"
#include "generator.hpp"
#include "generator_draws.hpp"
#include "smelt/error.hpp"

namespace smelt::testing {
namespace {

class ProductGenerator : Draws {
 public:
  explicit ProductGenerator(uint64_t seed) : Draws(seed * 9176 + 29) { program_.seed = seed; }

  Program run() {
    const size_t kind = pick(20);
    program_.data = kind < 10 ? kNormal : kind < 16 ? kWhole : kind < 19 ? kSpecial : kExtreme;
    main_ = among<DType>({DType::F32, DType::F32, DType::F32, DType::F32, DType::BF16, DType::BF16, DType::F16,
                          DType::F8E4M3, DType::F8E5M2, DType::F64, DType::I32, DType::I8, DType::U8, DType::I64,
                          DType::Bool});
    choose_sizes();
    add_statement(product());
    for (size_t tries = 0; program_.statements.empty() && tries < 20; ++tries) add_statement(product());
    const size_t wanted = 1 + pick(5);
    for (size_t tries = 0; !values_.empty() && tries < 6 * wanted && program_.statements.size() < wanted; ++tries)
      add_statement(next());
    if (program_.statements.empty()) program_.statements.push_back({"v0", add_input(main_, {m_, k_})});
    program_.outputs = {program_.statements.back().name};
    for (const Statement& s : program_.statements)
      if (s.name != program_.outputs[0] && chance(3)) program_.outputs.push_back(s.name);
    return std::move(program_);
  }

 private:
  struct Value {
    std::string name;
    DType dtype;
    Shape shape;
  };

  std::string word(std::initializer_list<const char*> list) { return *(list.begin() + pick(list.size())); }

  // ---- sizes: around those of blocks, tiles and parts

  int64_t some_size() {
    return chance(40) ? 0 : among<int64_t>({1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15, 16, 17,  23,  24, 25,
                                            31, 32, 33, 36, 47, 48, 49, 63, 64, 65, 70, 95, 96, 97, 127, 128, 129});
  }
  void choose_sizes() {
    const bool large = chance(12);
    int64_t sizes[3] = {some_size(), some_size(), some_size()};
    // One side beyond a tile, or a part of the inner axes.
    if (large) sizes[pick(3)] = among<int64_t>({191, 193, 255, 256, 257, 385, 511, 513, 700});
    const int64_t most = large ? 700000 : 150000;
    while (sizes[0] * sizes[1] * sizes[2] > most) {
      int64_t& largest = *std::max_element(sizes, sizes + 3);
      int64_t& other = sizes[pick(3)];
      (large && &other == &largest ? sizes[pick(3)] : other) /= 2;
    }
    const int64_t left = most / std::max<int64_t>(1, sizes[0] * sizes[1] * sizes[2]);
    for (size_t n = pick(3); n > 0; --n) {
      const int64_t size = among<int64_t>({1, 2, 2, 3, 5, 16});
      if (size <= left / 2) batch_.emplace_back(size);
    }
    m_ = sizes[0], k_ = sizes[1], n_ = sizes[2];
    program_.sizes.push_back({});
    if (chance(2)) return;
    // Some sizes become symbols, and a second call has other values for them.
    program_.sizes.push_back({});
    const std::pair<const char*, IntExpr*> names[] = {{"M", &m_}, {"K", &k_}, {"N", &n_}};
    for (const auto& [name, size] : names) {
      if (chance(3)) continue;
      const Symbol symbol = Symbol::size(name);
      program_.sizes[0][symbol] = *size->constant();
      program_.sizes[1][symbol] = std::min<int64_t>(some_size(), 33);
      *size = IntExpr::symbol(symbol);
    }
  }

  // ---- factors

  std::string add_input(DType dtype, Shape shape, int64_t index_below = 0) {
    const std::string name = fmt::format("x{}", program_.inputs.size());
    program_.inputs.push_back({name, dtype, std::move(shape), index_below});
    return name;
  }
  DType near_main() {
    if (!chance(5)) return main_;
    return among<DType>({DType::F32, DType::BF16, DType::F16, DType::F8E4M3, DType::I8, DType::I32, DType::F64});
  }

  // An array [batch.., rows, columns] as it lies in memory.
  std::string stored(DType t, const Shape& batch, const IntExpr& rows, const IntExpr& columns) {
    const auto with = [&](const IntExpr& a, const IntExpr& b) {
      Shape shape = batch;
      shape.push_back(a);
      shape.push_back(b);
      return shape;
    };
    const bool known = rows.constant() && columns.constant();
    switch (pick(known ? 11 : 6)) {
      case 0:
      case 1: return add_input(t, with(columns, rows)) + ".mT";
      case 2: return fmt::format("{}[..., ::-1, :]", add_input(t, with(rows, columns)));
      case 3:
        if (batch.empty()) return add_input(t, with(rows, columns));
        {
          // Batches between rows and columns, as heads are.
          Shape shape = batch;
          shape.insert(shape.end() - 1, rows);
          shape.push_back(columns);
          return fmt::format("swapaxes({}, -3, -2)", add_input(t, shape));
        }
      case 6: return fmt::format("{}[..., ::2]", add_input(t, with(rows, columns * 2)));
      case 7: return fmt::format("{}[..., 1:, 2:]", add_input(t, with(rows + 1, columns + 2)));
      case 8: {
        if (!batch.empty() || rows.is(0)) return add_input(t, with(rows, columns));
        const std::string table = add_input(t, {IntExpr(19), columns});
        return fmt::format("take({}, {}, axis=0)", table, add_input(DType::I64, {rows}, 19));
      }
      case 9:
        if (*columns.constant() < 4) return add_input(t, with(rows, columns));
        return fmt::format("pad({}, ({}(0, 0), (1, 2)))", add_input(t, with(rows, columns - 3)), pairs_of(batch));
      case 10:
        if (*columns.constant() % 2) return add_input(t, with(rows, columns));
        return fmt::format("concat(({}, {}), axis=-1)", add_input(t, with(rows, floordiv(columns, 2))),
                           add_input(t, with(rows, floordiv(columns, 2))));
      default: return add_input(t, with(rows, columns));
    }
  }
  static std::string pairs_of(const Shape& batch) {
    std::string text;
    for (size_t d = 0; d < batch.size(); ++d) text += "(0, 0), ";
    return text;
  }

  // Batches that broadcast: some of them, or 1 in their place.
  Shape some_batch() {
    Shape batch = batch_;
    if (chance(3)) batch.erase(batch.begin(), batch.begin() + static_cast<long>(pick(batch.size() + 1)));
    for (IntExpr& size : batch)
      if (chance(5)) size = 1;
    return batch;
  }

  // A factor, with what is computed in front of the product.
  std::string factor(const Shape& batch, const IntExpr& rows, const IntExpr& columns) {
    const DType t = near_main();
    const std::string x = stored(t, batch, rows, columns);
    if (is_bool(t)) return x;
    if (chance(2)) return x;
    const std::string number = is_float(t) ? x : word({"f32", "bf16"}) + "(" + x + ")";
    switch (pick(10)) {
      case 0: return fmt::format("relu({})", number);
      case 1: return fmt::format("({} * {})", number, add_input(DType::F32, {columns}));
      case 2: return fmt::format("({} * {})", number, add_input(DType::F32, {rows, IntExpr(1)}));
      case 3: return fmt::format("({} + 1)", x);
      case 4: return fmt::format("maximum({}, 0)", x);
      case 5: return fmt::format("rmsnorm({})", number);
      case 6: return fmt::format("layernorm({})", number);
      case 7: return fmt::format("tril({})", x);
      case 8: return fmt::format("tanh({})", number);
      default: return number;
    }
  }

  // ---- products

  std::string einsum() {
    std::string letters = "mkn";
    std::string batch;
    for (size_t d = 0; d < batch_.size(); ++d) batch += static_cast<char>('a' + d);
    const auto shuffled = [&](std::string text) {
      std::shuffle(text.begin(), text.end(), random_);
      return text;
    };
    const auto shape_of = [&](const std::string& names) {
      Shape shape;
      for (const char c : names)
        shape.push_back(c == 'm' ? m_ : c == 'k' ? k_ : c == 'n' ? n_ : batch_[static_cast<size_t>(c - 'a')]);
      return shape;
    };
    const std::string left = shuffled(batch + "mk"), right = shuffled(chance(4) ? "kn" : batch + "kn");
    std::string result = shuffled(batch + "mn");
    if (chance(5)) result.erase(pick(result.size()), 1);  // summed over as well
    const std::string x = add_input(main_, shape_of(left)), y = add_input(near_main(), shape_of(right));
    return fmt::format("einsum('{},{}->{}', {}, {})", left, right, result, x, y);
  }

  std::string attention() {
    Shape heads = batch_;
    if (heads.empty()) heads.emplace_back(2);
    const IntExpr width = among<int64_t>({8, 16, 33});
    const DType t = is_float(main_) ? main_ : DType::F32;
    const auto array = [&](const IntExpr& rows, const IntExpr& columns) {
      Shape shape = heads;
      if (chance(3)) {
        shape.insert(shape.end() - 1, rows);
        shape.push_back(columns);
        return fmt::format("swapaxes({}, -3, -2)", add_input(t, shape));
      }
      shape.push_back(rows);
      shape.push_back(columns);
      return add_input(t, shape);
    };
    const std::string q = array(m_, width), k = array(n_, width), v = array(n_, among<int64_t>({8, 16, 24}));
    std::string more;
    if (chance(3)) more += ", causal=True";
    if (chance(3)) more += fmt::format(", mask={}", add_input(chance(2) ? DType::Bool : DType::F32, {m_, n_}));
    if (chance(3)) more += ", scale=0.125";
    return fmt::format("attention({}, {}, {}{})", q, k, v, more);
  }

  std::string product() {
    const Shape left = some_batch(), right = some_batch();
    const auto x = [&] { return factor(left, m_, k_); };
    const auto y = [&] { return factor(right, k_, n_); };
    switch (pick(16)) {
      case 0:
      case 1:
      case 2: return einsum();
      case 3: {
        const std::string rows = x(), weight = factor({}, n_, k_);
        return chance(2) ? fmt::format("linear({}, {})", rows, weight)
                         : fmt::format("linear({}, {}, {})", rows, weight, add_input(near_main(), {n_}));
      }
      case 4: return attention();
      case 5: {
        // Two products that share a factor.
        const std::string rows = x();
        const std::string first = y(), second = y();
        return fmt::format("sigmoid({0} @ {1}) * ({0} @ {2})", rows, first, second);
      }
      case 6: {
        const std::string a = factor({}, m_, k_), b = factor({}, k_, n_);
        return fmt::format("sum({}[:, :, None] * {}[None], axis=1)", a, b);
      }
      case 7: return fmt::format("{} @ {}", x(), add_input(main_, {k_}));
      case 8: return fmt::format("{} @ {}", add_input(main_, {k_}), y());
      case 9: {
        const std::string a = factor({}, k_, m_), b = factor({}, n_, k_);
        return fmt::format("tensordot({}, {}, axes=((0,), (1,)))", a, b);
      }
      case 10: {
        const std::string a = x();
        return fmt::format("{0} @ ({0}).mT", a);
      }
      default: {
        const std::string a = x(), b = y();
        if (chance(4)) return fmt::format("matmul({}, {}, precision='{}')", a, b, word({"tf32", "bf16x3"}));
        return fmt::format("{} @ {}", a, b);
      }
    }
  }

  // ---- what follows

  std::string next() {
    const Value a = chance(3) ? among(values_) : values_.back();
    const std::string& x = a.name;
    if (a.shape.empty()) return x + " + 1";
    const std::string number = is_float(a.dtype) ? x : "f32(" + x + ")";
    const Shape row{a.shape.back()};
    const auto axis = static_cast<int>(pick(a.shape.size()));
    switch (pick(is_bool(a.dtype) ? 3 : 20)) {
      case 0: return fmt::format("where({}, {}, 0)", add_input(DType::Bool, a.shape), x);
      case 1: return fmt::format("any({}, axis={})", x, axis);
      case 2: return fmt::format("{}.T", x);
      case 3: return fmt::format("gelu({} + {})", number, add_input(DType::F32, row));
      case 4: return fmt::format("relu({} + {})", x, add_input(a.dtype, row));
      case 5: return fmt::format("{} + {}", x, add_input(a.dtype, a.shape));
      case 6: return fmt::format("{} * 0.5", number);
      case 7: return fmt::format("i8(clamp(round({} * 0.25), -128, 127))", number);
      case 8: return fmt::format("{}({})", word({"bf16", "f16", "f32", "f8_e4m3"}), number);
      case 9: return fmt::format("{}({}, axis={})", word({"sum", "max", "argmax", "min", "mean"}), number, axis);
      case 10: return fmt::format("softmax({})", number);
      case 11: return fmt::format("{0} / (sum(abs({0}), axis=-1, keepdims=True) + 1)", number);
      case 12: return fmt::format("rmsnorm({})", number);
      case 13: return fmt::format("{}[..., ::-1]", x);
      case 14: return fmt::format("{}[..., 1:]", x);
      case 15: return fmt::format("cumsum({}, axis={})", x, axis);
      case 16:
        return fmt::format("{} @ {}", x, add_input(main_, {a.shape.back(), IntExpr(among<int64_t>({1, 8, 24, 33}))}));
      case 17: return fmt::format("{0} @ {0}.mT", x);
      case 18: return fmt::format("tanh({} * 0.01) + {}", number, among(values_).name);
      default: return fmt::format("concat(({0}, {0}), axis={1})", x, axis);
    }
  }

  // Adds a statement when it is a legal program with all statements before it, at all of its
  // sizes, and small enough.
  void add_statement(const std::string& expression) {
    const Statement statement{fmt::format("v{}", program_.statements.size()), expression};
    program_.statements.push_back(statement);
    program_.outputs = {statement.name};
    try {
      const Graph graph = lang::parse_program(program_.text(), "random.smelt");
      const Node& node = graph.at(graph.outputs[0]);
      int64_t largest = 0;
      bool fits = true;
      for (const SizeBinding& sizes : program_.sizes) {
        for (const Constraint& c : graph.constraints) fits = fits && holds(c, sizes);
        if (fits)
          for (const Node& n : graph.nodes) largest = std::max(largest, element_count(evaluate(n.shape, sizes)));
      }
      if (fits && largest <= 800000 && node.shape.size() <= 5) {
        values_.push_back({statement.name, node.dtype, node.shape});
        inputs_ = program_.inputs.size();
        return;
      }
    } catch (const UserError&) {
      // What does not fit is simply not part of this program.
    }
    program_.statements.pop_back();
    program_.inputs.resize(inputs_);
  }

  Program program_;
  DType main_ = DType::F32;
  Shape batch_;
  IntExpr m_, k_, n_;
  std::vector<Value> values_;
  size_t inputs_ = 0;  // those of the statements so far
};

}  // namespace

Program random_product_program(uint64_t seed) { return ProductGenerator(seed).run(); }

}  // namespace smelt::testing
