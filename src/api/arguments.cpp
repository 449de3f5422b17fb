// The arguments, results and options of functions, as lists.
#include "smelt/compile.hpp"

namespace smelt {

Options& Options::pin(int argument, int axis, bool fixed) {
  pins.push_back({argument, axis, fixed});
  return *this;
}

namespace detail {

void Flat::add(const Array& array) { arrays.push_back(array); }
void Flat::add(const std::vector<Array>& list) {
  lists.push_back(static_cast<int>(list.size()));
  arrays.insert(arrays.end(), list.begin(), list.end());
}

Array Unflatten::array() {
  Array first = arrays.front();
  arrays = arrays.subspan(1);
  return first;
}
std::vector<Array> Unflatten::list() {
  const auto count = static_cast<size_t>(lists.front());
  lists = lists.subspan(1);
  std::vector<Array> list(arrays.begin(), arrays.begin() + static_cast<std::ptrdiff_t>(count));
  arrays = arrays.subspan(count);
  return list;
}

std::vector<Array> Results<Array>::list(const Array& a) { return {a}; }
Array Results<Array>::of(const std::vector<Array>& list) { return list.at(0); }

using One = std::pair<Array, std::vector<Array>>;
std::vector<Array> Results<One>::list(const One& a) {
  std::vector<Array> all{a.first};
  all.insert(all.end(), a.second.begin(), a.second.end());
  return all;
}
One Results<One>::of(const std::vector<Array>& list) { return {list.at(0), {list.begin() + 1, list.end()}}; }

std::vector<Array> Results<std::pair<Array, Array>>::list(const std::pair<Array, Array>& a) {
  return {a.first, a.second};
}
std::pair<Array, Array> Results<std::pair<Array, Array>>::of(const std::vector<Array>& list) {
  return {list.at(0), list.at(1)};
}

Options named(Options options, std::initializer_list<const char*> parameters) {
  options.parameters.assign(parameters.begin(), parameters.end());
  return options;
}

}  // namespace detail
}  // namespace smelt
