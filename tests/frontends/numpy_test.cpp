// The language against NumPy: every row of numpy_tables.txt by the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "frontends/function_table.hpp"
#include "run.hpp"

namespace smelt::lang {

namespace {

struct Row {
  std::string group, text;
  std::vector<std::string> inputs;
  Tensor result;
};

struct Tables {
  std::map<std::string, Tensor> arrays;
  std::vector<Row> rows;
};

// The fields of a line, which tabs separate; fields missing at the end are empty.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  fields.resize(6);
  return fields;
}

template <class T>
std::vector<T> list_of(const std::string& text) {
  std::vector<T> result;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if constexpr (std::is_same_v<T, std::string>)
      result.push_back(word);
    else if constexpr (std::is_same_v<T, double>)
      result.push_back(std::strtod(word.c_str(), nullptr));
    else
      result.push_back(std::stoll(word));
  }
  return result;
}

Tensor tensor_of(const std::string& dtype, const std::string& dims, const std::string& values) {
  return array(dtype_from_name(dtype).value(), list_of<int64_t>(dims), list_of<double>(values));
}

const Tables& tables() {
  static const Tables read = [] {
    Tables made;
    std::ifstream in(std::string(SMELT_SOURCE_DIR) + "/tests/frontends/numpy_tables.txt");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('#')) continue;
      const auto f = fields_of(line);
      if (f[0] == "array")
        made.arrays[f[1]] = tensor_of(f[2], f[3], f[4]);
      else
        made.rows.push_back({f[0], f[1], list_of<std::string>(f[2]), tensor_of(f[3], f[4], f[5])});
    }
    return made;
  }();
  return read;
}

NamedTensors inputs_of(const Row& row) {
  NamedTensors result;
  for (const std::string& name : row.inputs) result.emplace_back(name, tables().arrays.at(name));
  return result;
}

bool same(double have, double want) {
  if (std::isnan(want) || std::isnan(have)) return std::isnan(want) && std::isnan(have);
  if (want == 0 && have == 0) return std::signbit(want) == std::signbit(have);
  return have == want || std::fabs(have - want) <= 1e-12 * std::max(1.0, std::fabs(want));
}

class NumPy : public testing::TestWithParam<std::string> {};

TEST_P(NumPy, Agrees) {
  for (const Row& row : tables().rows) {
    if (row.group != GetParam()) continue;
    SCOPED_TRACE(row.text);
    try {
      const NamedTensors inputs = inputs_of(row);
      const Graph graph = graph_of(row.text, inputs);
      ASSERT_EQ(graph.outputs.size(), 1u);
      EXPECT_EQ(name_of(graph.at(graph.outputs[0]).dtype), name_of(row.result.dtype));
      const Tensor result = run(row.text, inputs).at(0);
      EXPECT_EQ(result.dims, row.result.dims);
      const std::vector<double> want = numbers_of(row.result);
      const std::vector<double> have = numbers_of(result);
      ASSERT_EQ(have.size(), want.size());
      for (size_t i = 0; i < have.size(); ++i)
        EXPECT_TRUE(same(have[i], want[i])) << "element " << i << ": " << have[i] << ", NumPy has " << want[i];
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, NumPy,
                         testing::Values("slices", "operators", "elementwise", "activations", "scans", "scatters",
                                         "reductions", "normalisation", "movement", "windows", "creation"),
                         [](const auto& info) { return info.param; });

// A function that no row calls is a function that nobody has checked.
TEST(NumPy, CoversEveryFunction) {
  for (const Function& f : functions()) {
    // NumPy draws other numbers and has no gradients; tests/programs/draws_test.cpp,
    // gathers_test.cpp and gradient_test.cpp check these.
    if (f.group == "Random numbers" || f.group == "Gathers and parts" || f.group == "Gradients") continue;
    const std::string name(f.row.name);
    bool called = false;
    for (const Row& row : tables().rows) {
      const size_t at = row.text.find(name + "(");
      called |= at != std::string::npos && (at == 0 || !(std::isalnum(row.text[at - 1]) || row.text[at - 1] == '_'));
    }
    EXPECT_TRUE(called) << name << " is in no row of make_numpy_tables.py";
  }
}

}  // namespace

}  // namespace smelt::lang
