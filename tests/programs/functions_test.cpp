// Scalar functions in C: integer expressions mean what C means, worked out here in C++ with C's
// rules written a second time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "frontends/language.hpp"
#include "smelt/error.hpp"

namespace smelt::testing {
namespace {

struct CInteger {
  std::string name;
  int bits;
  bool is_signed;
};
const std::vector<CInteger> kTypes = {{"int", 32, true},       {"unsigned", 32, false}, {"long long", 64, true},
                                      {"uint64_t", 64, false}, {"short", 16, true},     {"unsigned char", 8, false},
                                      {"signed char", 8, true}};

// The value of these low bits in this type.
int64_t fitted(uint64_t value, const CInteger& type) {
  if (type.bits == 64) return static_cast<int64_t>(value);
  const uint64_t mask = (uint64_t{1} << type.bits) - 1, low = value & mask;
  const bool negative = type.is_signed && (low >> (type.bits - 1));
  return static_cast<int64_t>(negative ? low | ~mask : low);
}

struct Typed {
  std::string text;
  CInteger type;
  std::function<int64_t(const std::vector<int64_t>&)> value;  // of the arguments; the bits of a uint64_t
};

CInteger promoted(const CInteger& type) { return type.bits < 32 ? kTypes[0] : type; }
CInteger common(const CInteger& x, const CInteger& y) {
  const CInteger a = promoted(x), b = promoted(y);
  if (a.bits != b.bits) return a.bits > b.bits ? a : b;
  return a.is_signed ? b : a;
}
bool less(int64_t a, int64_t b, const CInteger& type) {
  return type.is_signed ? a < b : static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
}

class Writer {
 public:
  Writer(std::mt19937_64& random, const std::vector<CInteger>& parameters) : random_(random), parameters_(parameters) {}

  Typed write(int depth) {
    if (depth == 0) return pick(4) ? parameter() : number();
    const auto part = [&] { return write(depth - 1 - static_cast<int>(pick(2)) * static_cast<int>(depth > 1)); };
    switch (pick(9)) {
      case 0: return cast(part(), kTypes[pick(kTypes.size())]);
      case 1: return unary(part());
      case 2: return choice(part(), part(), part(), part());
      case 3: return shift(part(), part());
      case 4: return division(part(), part());
      default: return binary(part(), part());
    }
  }

  Typed cast(Typed x, const CInteger& to) {
    return {fmt::format("({})({})", to.name, x.text), to,
            [x, to](const auto& a) { return fitted(static_cast<uint64_t>(x.value(a)), to); }};
  }

 private:
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }

  Typed parameter() {
    const size_t i = pick(parameters_.size());
    return {fmt::format("a{}", i), parameters_[i], [i](const auto& a) { return a[i]; }};
  }
  Typed number() {
    const auto n = static_cast<int64_t>(random_() % 300);
    const bool is_unsigned = pick(3) == 0;
    return {fmt::format("{}{}", n, is_unsigned ? "u" : ""), kTypes[is_unsigned ? 1 : 0],
            [n](const auto&) { return n; }};
  }
  Typed unary(const Typed& x) {
    const CInteger type = promoted(x.type);
    const char op = "-~+"[pick(3)];
    return {fmt::format("{}({})", op, x.text), type, [=](const auto& a) {
              const auto v = static_cast<uint64_t>(x.value(a));
              return fitted(op == '-' ? 0 - v : op == '~' ? ~v : v, type);
            }};
  }
  Typed binary(const Typed& x, const Typed& y) {
    const CInteger type = common(x.type, y.type);
    const char op = "+-*&|^"[pick(6)];
    return {fmt::format("({} {} {})", x.text, op, y.text), type, [=](const auto& a) {
              const auto u = static_cast<uint64_t>(fitted(static_cast<uint64_t>(x.value(a)), type)),
                         v = static_cast<uint64_t>(fitted(static_cast<uint64_t>(y.value(a)), type));
              return fitted(op == '+'   ? u + v
                            : op == '-' ? u - v
                            : op == '*' ? u * v
                            : op == '&' ? (u & v)
                            : op == '|' ? (u | v)
                                        : (u ^ v),
                            type);
            }};
  }
  // By 1 to 256, so that C defines it.
  Typed division(const Typed& x, const Typed& by) {
    const Typed y = binary_of("({} & 255) + 1", by);
    const CInteger type = common(x.type, y.type);
    const bool rest = pick(2);
    return {fmt::format("({} {} ({}))", x.text, rest ? "%" : "/", y.text), type, [=](const auto& a) {
              const int64_t u = fitted(static_cast<uint64_t>(x.value(a)), type), v = y.value(a);
              if (type.is_signed) return rest ? u % v : u / v;
              const auto p = static_cast<uint64_t>(u), q = static_cast<uint64_t>(v);
              return fitted(rest ? p % q : p / q, type);
            }};
  }
  Typed binary_of(const std::string& form, const Typed& x) {
    return {fmt::format(fmt::runtime(form), x.text), promoted(x.type),
            [x](const auto& a) { return (x.value(a) & 255) + 1; }};
  }
  // By 0 to 7. To the right, what is negative keeps its sign, as everywhere.
  Typed shift(const Typed& x, const Typed& by) {
    const CInteger type = promoted(x.type);
    const bool left = pick(2);
    return {fmt::format("({} {} ({} & 7))", x.text, left ? "<<" : ">>", by.text), type, [=](const auto& a) {
              const int64_t v = fitted(static_cast<uint64_t>(x.value(a)), type), n = by.value(a) & 7;
              if (left) return fitted(static_cast<uint64_t>(v) << n, type);
              return type.is_signed ? v >> n : static_cast<int64_t>(static_cast<uint64_t>(v) >> n);
            }};
  }
  Typed choice(const Typed& x, const Typed& y, const Typed& yes, const Typed& no) {
    const CInteger compared = common(x.type, y.type), type = common(yes.type, no.type);
    const size_t op = pick(4);
    const char* const names[] = {"<", ">=", "==", "!="};
    return {fmt::format("({} {} {} ? {} : {})", x.text, names[op], y.text, yes.text, no.text), type,
            [=](const auto& a) {
              const int64_t u = fitted(static_cast<uint64_t>(x.value(a)), compared),
                            v = fitted(static_cast<uint64_t>(y.value(a)), compared);
              const bool holds = op == 0   ? less(u, v, compared)
                                 : op == 1 ? !less(u, v, compared)
                                 : op == 2 ? u == v
                                           : u != v;
              return fitted(static_cast<uint64_t>((holds ? yes : no).value(a)), type);
            }};
  }

  std::mt19937_64& random_;
  const std::vector<CInteger>& parameters_;
};

DType dtype_of_c(const CInteger& type) {
  const int at = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : 3;
  return static_cast<DType>(static_cast<int>(type.is_signed ? DType::I8 : DType::U8) + at);
}

TEST(CFunctions, IntegersAreThoseOfC) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<CInteger> parameters;
    std::string declared, inputs, names;
    for (size_t i = 0, n = 1 + random() % 3; i < n; ++i) {
      parameters.push_back(kTypes[random() % kTypes.size()]);
      const char* const comma = i ? ", " : "";
      declared += fmt::format("{}{} a{}", comma, parameters[i].name, i);
      inputs += fmt::format("input x{}: {}[64]\n", i, name_of(dtype_of_c(parameters[i])));
      names += fmt::format("{}x{}", comma, i);
    }
    Writer writer(random, parameters);
    const CInteger result = kTypes[random() % kTypes.size()];
    const Typed made = writer.cast(writer.write(4), result);
    const std::string program = fmt::format("cfunction '''{} f({}) {{ return {}; }}'''\n{}return f({})\n", result.name,
                                            declared, made.text, inputs, names);
    const Graph graph = lang::parse_program(program, "random.smelt");
    std::vector<Tensor> data;
    std::vector<std::vector<int64_t>> arguments(64);
    for (const CInteger& type : parameters) {
      data.push_back(Tensor::empty(dtype_of_c(type), {64}));
      for (int i = 0; i < 64; ++i) {
        // Small numbers, all ones, and any.
        const uint64_t bits = i % 3 == 0 ? random() % 9 - 4 : i % 7 == 0 ? ~uint64_t{0} >> (random() % 64) : random();
        arguments[static_cast<size_t>(i)].push_back(fitted(bits, type));
        std::memcpy(static_cast<char*>(data.back().data) + i * (type.bits / 8), &bits,
                    static_cast<size_t>(type.bits / 8));
      }
    }
    const Tensor got = interpret(graph, {data.begin(), data.end()})[0];
    for (int i = 0; i < 64; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, static_cast<const char*>(got.data) + i * (result.bits / 8),
                  static_cast<size_t>(result.bits / 8));
      ASSERT_EQ(fitted(bits, result), made.value(arguments[static_cast<size_t>(i)]))
          << "seed " << seed << ", element " << i << "\n"
          << program;
    }
  }
}

}  // namespace
}  // namespace smelt::testing
