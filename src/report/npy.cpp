#include "report/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "report/file.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMaxHeader = 1 << 20;  // numpy.save writes a few hundred bytes

[[noreturn]] void reject(const std::string& path, const std::string& what) {
  throw UserError(fmt::format("{} is not a valid .npy file: {}\nhelp: write it again with numpy.save", path, what));
}

// An open regular file and its size.
struct SourceFile {
  std::string path;
  int fd = -1;
  int64_t bytes = 0;

  explicit SourceFile(const std::string& name) : path(name) {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts {};
    if (fd < 0 || ::fstat(fd, &facts) != 0) {
      const int error = errno;
      if (fd >= 0) ::close(fd);
      throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(error)));
    }
    if (!S_ISREG(facts.st_mode)) {
      ::close(fd);
      throw UserError(fmt::format("cannot read {}: it is a {}\nhelp: name a file that numpy.save wrote", path,
                                  S_ISDIR(facts.st_mode) ? "folder" : "pipe or a device"));
    }
    bytes = facts.st_size;
  }
  ~SourceFile() { ::close(fd); }
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  void read(void* into, int64_t count, int64_t offset) const {
    char* to = static_cast<char*>(into);
    while (count > 0) {
      const ssize_t got = ::pread(fd, to, static_cast<size_t>(std::min<int64_t>(count, 1 << 30)), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
      if (got == 0) reject(path, "it became shorter while it was read");
      to += got;
      offset += got;
      count -= got;
    }
  }
};

// Bytes that the elements take, or nothing when that does not fit 64 bits.
std::optional<int64_t> data_bytes(const NpyHeader& header) {
  int64_t bytes = size_of(header.dtype);
  bool overflow = false;
  for (const int64_t size : header.dims) {
    if (size == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(bytes, size, &bytes);
  }
  if (overflow) return std::nullopt;
  return bytes;
}

NpyHeader read_header(const SourceFile& file) {
  unsigned char start[12] = {};
  if (file.bytes < 10) reject(file.path, fmt::format("it has {} bytes, too few for a header", file.bytes));
  file.read(start, std::min<int64_t>(file.bytes, 12), 0);
  if (std::memcmp(start, kMagic.data(), kMagic.size()) != 0) {
    const bool zip = std::memcmp(start, "PK\x03\x04", 4) == 0;
    const bool pickle = start[0] == 0x80 && start[1] <= 5;
    if (zip)
      throw UserError(
          fmt::format("{} is an archive of arrays (.npz), and smelt reads one array per file\n"
                      "help: write one of them: numpy.save('x.npy', numpy.load('{}')['NAME'])",
                      file.path, file.path));
    reject(file.path, pickle ? "it is a pickle, which smelt never opens" : "it does not begin as one");
  }
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0)
    reject(file.path, fmt::format("its format version is {}.{}; smelt reads 1.0, 2.0 and 3.0", major, start[7]));
  const int64_t begin = major == 1 ? 10 : 12;
  if (file.bytes < begin) reject(file.path, fmt::format("it has {} bytes, too few for a header", file.bytes));
  int64_t length = start[8] | start[9] << 8;
  if (major > 1) length |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
  if (length > kMaxHeader) reject(file.path, fmt::format("its header says to be {} bytes long", length));
  if (length > file.bytes - begin)
    reject(file.path,
           fmt::format("its header says to be {} bytes long, and the file ends after {}", length, file.bytes - begin));
  std::string text(static_cast<size_t>(length), '\0');
  file.read(text.data(), length, begin);
  NpyHeader header = parse_npy_dictionary(text, file.path);
  header.data_offset = begin + length;
  return header;
}

// The header's claim against the file's real size.
void check_length(const SourceFile& file, const NpyHeader& header) {
  const std::string claim = fmt::format("{}{}", name_of(header.dtype), str(header.dims));
  const std::optional<int64_t> bytes = data_bytes(header);
  if (!bytes) reject(file.path, fmt::format("its header says {}, more than 64 bits can address", claim));
  const int64_t held = file.bytes - header.data_offset;
  if (held == *bytes) return;
  if (held < *bytes) {
    reject(
        file.path,
        fmt::format("its header says {}, which takes {} bytes, and it holds {}: it is truncated or its header is wrong",
                    claim, *bytes, held));
  }
  reject(file.path, fmt::format("its header says {}, which takes {} bytes, and {} follow", claim, *bytes, held));
}

void swap_elements(char* data, int64_t count, int size) {
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

Dims fortran_strides(const Dims& dims) {
  Dims strides = contiguous_strides(Dims(dims.rbegin(), dims.rend()));
  std::reverse(strides.begin(), strides.end());
  return strides;
}

std::string_view code_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "|b1";
    case DType::I8: return "|i1";
    case DType::I16: return "<i2";
    case DType::I32: return "<i4";
    case DType::I64: return "<i8";
    case DType::U8: return "|u1";
    case DType::U16: return "<u2";
    case DType::U32: return "<u4";
    case DType::U64: return "<u8";
    case DType::F16: return "<f2";
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::BF16: return "";
    case DType::F32: return "<f4";
    case DType::F64: return "<f8";
  }
  return "";
}

// Padded so that the elements begin at a multiple of 64 bytes, as NumPy does.
std::string header_text(const TensorView& array) {
  std::string dims = fmt::format("{}", fmt::join(array.dims, ", "));
  if (array.dims.size() == 1) dims += ",";
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code_of(array.dtype), dims);
  const size_t unpadded = 10 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return out + text;
}

}  // namespace

NpyHeader read_npy_header(const std::string& path) {
  const SourceFile file(path);
  NpyHeader header = read_header(file);
  check_length(file, header);
  return header;
}

Tensor read_npy(const std::string& path) {
  const SourceFile file(path);
  const NpyHeader header = read_header(file);
  check_length(file, header);
  Tensor array = Tensor::empty(header.dtype, header.dims);
  const int64_t count = array.count();
  char* data = static_cast<char*>(array.data);
  file.read(data, count * size_of(header.dtype), header.data_offset);
  if (header.swapped) swap_elements(data, count, size_of(header.dtype));
  if (header.dtype == DType::Bool)
    std::transform(data, data + count, data, [](char c) { return c != 0 ? '\1' : '\0'; });
  if (header.fortran_order) array.strides = fortran_strides(array.dims);
  return array;
}

void check_npy_dtype(DType dtype, const std::string& what) {
  if (!code_of(dtype).empty()) return;
  throw UserError(fmt::format("{} is {}, which NumPy does not have\nhelp: cast it in the program: return f32(...)",
                              what, name_of(dtype)));
}

void write_npy(const std::vector<NpyOutput>& outputs) {
  for (const NpyOutput& output : outputs) check_npy_dtype(output.array.dtype, output.path);
  std::vector<std::unique_ptr<StagedFile>> files;
  for (const NpyOutput& output : outputs) {
    files.push_back(std::make_unique<StagedFile>(output.path));
    files.back()->write(header_text(output.array));
    Tensor copy;  // keeps the rows alive when the array is a strided view
    TensorView rows = output.array;
    if (!rows.contiguous()) rows = copy = contiguous_copy(output.array);
    files.back()->write(rows.data, static_cast<size_t>(rows.bytes()));
  }
  for (const auto& file : files) file->commit();
}

void write_npy(const std::string& path, const TensorView& array) { write_npy({NpyOutput{path, array}}); }

}  // namespace smelt::report
