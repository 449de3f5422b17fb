// Data: where it comes from, and how it is read.
#include "smelt/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "api/node.hpp"
#include "api/program.hpp"
#include "api/specialize.hpp"
#include "report/npy.hpp"
#include "report/view.hpp"

namespace smelt {

using detail::ArrayNode;
using detail::Data;

namespace {

Array array_of(Tensor tensor, const Device& device = Device::cpu(), bool read_only = false) {
  return Array(detail::make_node(Data{std::move(tensor), device, read_only}));
}

std::shared_ptr<void> memory_of(Owner owner) {
  if (!owner.shared()) return nullptr;
  void* memory = owner.get();
  return std::shared_ptr<void>(memory, [owner = std::move(owner)](void*) {});
}

std::string type_text(DType dtype, const Dims& dims) {
  return fmt::format("{}{}", name_of(dtype), dims.empty() ? "" : str(dims));
}

Tensor tensor_at(void* data, DType dtype, Dims dims, Dims strides, std::shared_ptr<void> owner) {
  if (element_count(dims) > 0 && !data)
    throw UserError(
        fmt::format("the address of {} is null\nhelp: give memory for its elements", type_text(dtype, dims)));
  if (strides.empty()) strides = contiguous_strides(dims);
  if (strides.size() != dims.size())
    throw UserError(
        fmt::format("shape {} has {} axes, but there are {} strides", str(dims), dims.size(), strides.size()));
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.strides = std::move(strides);
  tensor.data = data;
  tensor.memory = std::move(owner);
  return tensor;
}

// The data, or why there is none.
const Data& data_of(const Array& array, const char* asked_by) {
  const ArrayNode& node = *detail::node_of(array, asked_by);
  if (const Data* data = node.data()) return *data;
  const bool number = node.type.kind == detail::Type::Kind::Literal;
  throw UserError(number
                      ? fmt::format("{}: {} is no array of data\nhelp: Array::scalar(x) is", asked_by, describe(node))
                      : fmt::format("{}: {} is not evaluated yet\nhelp: call eval(x) first", asked_by, describe(node)));
}

const Data& host_data_of(const Array& array, const char* asked_by) {
  const Data& data = data_of(array, asked_by);
  if (data.device.is_gpu())
    throw UserError(fmt::format("{}: {} is on {}\nhelp: x.to(Device::cpu()) brings it here", asked_by, array.str(),
                                data.device.name()));
  return data;
}

void check_dtype(const Array& array, DType dtype, const char* asked_by) {
  if (array.dtype() != dtype)
    throw UserError(fmt::format("{}: {} has no elements of {}\nhelp: read {}, or cast it: astype(x, DType::...)",
                                asked_by, array.str(), name_of(dtype), name_of(array.dtype())));
}

const Data& rows_of(const Array& array, DType dtype, const char* asked_by) {
  const Data& data = host_data_of(array, asked_by);
  check_dtype(array, dtype, asked_by);
  if (!data.tensor.contiguous())
    throw UserError(
        fmt::format("{}: the elements of {} do not lie row by row: its strides are {}\nhelp: x.copy() is "
                    "an array whose elements do",
                    asked_by, array.str(), str(data.tensor.strides)));
  return data;
}

}  // namespace

Array Array::copy_of(const void* values, DType dtype, size_t count, Dims dims) {
  check_count(count, dims);
  Tensor tensor = Tensor::empty(dtype, std::move(dims));
  if (count > 0) std::memcpy(tensor.data, values, static_cast<size_t>(tensor.bytes()));
  return array_of(std::move(tensor));
}

void Array::check_count(size_t count, const Dims& dims) {
  if (static_cast<size_t>(element_count(dims)) != count)
    throw UserError(fmt::format("shape {} has {} elements, but {} {} given", smelt::str(dims), element_count(dims),
                                count, count == 1 ? "is" : "are"));
}

size_t Array::count_of(const Dims& dims) { return static_cast<size_t>(element_count(dims)); }

size_t Array::equal_size(const std::vector<size_t>& sizes) {
  for (size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i] != sizes[0])
      throw UserError(
          fmt::format("Array::from: list {} has {} item{}, and list 0 has {}\nhelp: lists side by side have one length",
                      i, sizes[i], sizes[i] == 1 ? "" : "s", sizes[0]));
  return sizes.empty() ? 0 : sizes[0];
}

Dims Array::dims_of(const std::vector<size_t>& outer, const std::vector<size_t>& lengths) {
  Dims dims(outer.begin(), outer.end());
  dims.push_back(static_cast<int64_t>(equal_size(lengths)));
  return dims;
}

// The type that C++ gives to what is calculated from both, without its conversions between truth
// values and numbers.
static DType common_type(DType a, DType b) {
  if (a == b) return a;
  const bool bools = is_bool(a) || is_bool(b);
  if (!bools && is_float(a) != is_float(b)) return is_float(a) ? a : b;
  const auto common = bools ? std::nullopt : promote(a, b);
  if (!common)
    throw UserError(
        fmt::format("Array::from: {} and {} in one list\nhelp: write numbers of one type", name_of(a), name_of(b)));
  return *common;
}

Array Array::of_numbers(const std::vector<Number>& values, Dims dims) {
  check_count(values.size(), dims);
  DType dtype = values.empty() ? DType::F32 : values[0].dtype();
  for (const Number& value : values) dtype = common_type(dtype, value.dtype());
  Tensor tensor = Tensor::empty(dtype, std::move(dims));
  auto* to = static_cast<char*>(tensor.data);
  for (const Number& value : values) {
    const DType from = value.dtype();
    const Scalar scalar = is_float(from)          ? Scalar::of_float(DType::F64, value.floating())
                          : is_unsigned_int(from) ? Scalar::of_uint(DType::U64, static_cast<uint64_t>(value.integer()))
                                                  : Scalar::of_int(DType::I64, value.integer());
    store_scalar(convert(scalar, dtype), to);
    to += size_of(dtype);
  }
  return array_of(std::move(tensor));
}

Array Array::from(std::initializer_list<Number> values, Dims dims) { return of_numbers(values, std::move(dims)); }

Array Array::from(std::initializer_list<std::initializer_list<Number>> rows) {
  std::vector<Number> values;
  std::vector<size_t> lengths;
  for (const auto& row : rows) {
    values.insert(values.end(), row.begin(), row.end());
    lengths.push_back(row.size());
  }
  return of_numbers(values, dims_of({rows.size()}, lengths));
}

Array Array::empty(Dims dims, DType dtype) { return array_of(Tensor::empty(dtype, std::move(dims))); }

Array Array::borrow_range(const void* memory, DType dtype, size_t count, Dims dims, Dims strides, int64_t offset,
                          bool read_only) {
  const int64_t elements = element_count(dims);
  if (strides.empty()) strides = contiguous_strides(dims);
  char* first = static_cast<char*>(const_cast<void*>(memory)) + offset * size_of(dtype);
  Tensor tensor = tensor_at(elements > 0 ? first : nullptr, dtype, std::move(dims), std::move(strides), nullptr);
  if (elements > 0) {
    __int128 low = offset, high = offset;
    for (size_t d = 0; d < tensor.dims.size(); ++d) {
      const __int128 reach = static_cast<__int128>(tensor.dims[d] - 1) * tensor.strides[d];
      (reach < 0 ? low : high) += reach;
    }
    if (low < 0 || high >= static_cast<__int128>(count))
      throw UserError(
          fmt::format("{} with strides {} and offset {} leaves the memory given for it, which holds {} elements",
                      type_text(dtype, tensor.dims), smelt::str(tensor.strides), offset, count));
  }
  return array_of(std::move(tensor), Device::cpu(), read_only);
}

Array Array::adopt(void* data, DType dtype, Dims dims, Dims strides, Owner owner) {
  return array_of(tensor_at(data, dtype, std::move(dims), std::move(strides), memory_of(std::move(owner))));
}

Array Array::adopt(const void* data, DType dtype, Dims dims, Dims strides, Owner owner) {
  return array_of(
      tensor_at(const_cast<void*>(data), dtype, std::move(dims), std::move(strides), memory_of(std::move(owner))),
      Device::cpu(), true);
}

bool Array::evaluated() const { return node_ && node_->data(); }
DType Array::dtype() const { return detail::node_of(*this, "dtype()")->type.dtype; }
int Array::ndim() const { return static_cast<int>(detail::node_of(*this, "ndim()")->type.shape.size()); }
Dims Array::shape() const { return detail::known_dims(*detail::node_of(*this, "shape()"), "shape()"); }

int64_t Array::shape(Axis axis) const { return extent(axis).value(); }
int64_t Array::size() const { return element_count(shape()); }
std::string Array::str() const { return node_ ? describe(*node_) : "no array"; }
Dims Array::strides() const { return data_of(*this, "strides()").tensor.strides; }
Device Array::device() const {
  if (!node_) return Device::cpu();
  if (const Data* data = node_->data()) return data->device;
  std::vector<const Data*> arrays;
  for (const detail::NodePtr& node : detail::needed_by({*this}).data) arrays.push_back(node->data());
  return detail::device_for(arrays, Device::cpu());
}

const void* Array::data() const {
  const detail::Data& data = data_of(*this, "data()");
  note_escape(data.tensor);
  return data.tensor.data;
}
const void* Array::read(DType dtype) const { return rows_of(*this, dtype, "span()").tensor.data; }

void* Array::write(DType dtype) {
  const Data& data = rows_of(*this, dtype, "mutable_span()");
  if (data.read_only)
    throw UserError(fmt::format("mutable_span(): {} is memory that must not be written\nhelp: x.copy() may be", str()));
  return data.tensor.data;
}

// The address of an element; without an index that of the one there is.
static const char* element_at(const Array& array, const Data& data, const Dims& index, const char* asked_by) {
  const Tensor& tensor = data.tensor;
  if (index.empty() && tensor.count() != 1)
    throw UserError(fmt::format("{}: {} has {} elements, not one\nhelp: give an index for each axis; span() reads all",
                                asked_by, array.str(), tensor.count()));
  if (!index.empty() && index.size() != tensor.dims.size())
    throw UserError(fmt::format("{}: {} {} for {}\nhelp: give one for each axis", asked_by, index.size(),
                                index.size() == 1 ? "index" : "indices", array.str()));
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t size = tensor.dims[d];
    if (index[d] < -size || index[d] >= size)
      throw UserError(fmt::format(
          "{}: index {} is out of range for axis {} of {}\nhelp: {}", asked_by, index[d], d, array.str(),
          size == 0 ? "this axis has no elements" : fmt::format("indices go from {} to {}", -size, size - 1)));
    offset += (index[d] < 0 ? index[d] + size : index[d]) * tensor.strides[d];
  }
  return static_cast<const char*>(tensor.data) + offset * size_of(tensor.dtype);
}

void Array::read_item(DType dtype, const Dims& index, void* into) const {
  const Data& data = host_data_of(*this, "item()");
  check_dtype(*this, dtype, "item()");
  std::memcpy(into, element_at(*this, data, index, "item()"), static_cast<size_t>(size_of(dtype)));
}

double Array::number_at(const Dims& index) const {
  const Data& data = host_data_of(*this, "x(i, j)");
  const Scalar value = load_scalar(data.tensor.dtype, element_at(*this, data, index, "x(i, j)"));
  const double number = value.as_double();
  constexpr double kExact = 0x1p53;
  if (is_int(data.tensor.dtype) && (number > kExact || number < -kExact))
    throw UserError(
        fmt::format("x(i, j): a double does not hold every integer of {} that is as large as {}\nhelp: "
                    "item<{}>(i, j) reads it",
                    str(), number, is_unsigned_int(data.tensor.dtype) ? "uint64_t" : "int64_t"));
  return number;
}

Array Array::copy() const {
  const Data& data = data_of(*this, "copy()");
  return data.device.is_gpu() ? array_of(copy_on_device(detail::machine_of(data.device), data.tensor), data.device)
                              : array_of(contiguous_copy(data.tensor));
}

Array Array::copy_for(DType dtype, const char* asked_by) const {
  const Data& data = host_data_of(*this, asked_by);
  check_dtype(*this, dtype, asked_by);
  return array_of(contiguous_copy(data.tensor));
}

Array Array::to(const Device& device) const {
  const Data& data = data_of(*this, "to()");
  if (data.device == device) return *this;
  if (data.device.is_gpu()) {
    const Array here = array_of(to_host(detail::machine_of(data.device), data.tensor));
    return device.is_gpu() ? here.to(device) : here;
  }
  const Machine& machine = detail::machine_of(device);
  if (!machine.gpu) throw UserError(fmt::format("to(): {} cannot be used: {}", device.name(), device.missing()));
  return array_of(to_device(machine, data.tensor), device);
}

Array load(const std::string& path) { return array_of(report::read_npy(path)); }

void save(const std::string& path, const Array& array) {
  const Data& data = host_data_of(array, "save()");
  if (const DType dtype = data.tensor.dtype; dtype == DType::BF16 || is_f8(dtype))
    throw UserError(fmt::format("save(): {} is {}, which NumPy lacks\nhelp: cast it: astype(x, DType::F32)",
                                array.str(), name_of(dtype)));
  report::write_npy(path, data.tensor);
}

std::ostream& operator<<(std::ostream& out, const Array& array) {
  out << array.str();
  if (!array.evaluated() || array.device().is_gpu()) return out;
  return out << ' ' << report::short_view(array.node()->data()->tensor);
}

}  // namespace smelt
