#include "report/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>

#include "base/scalar.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "temporary_folder.hpp"

namespace smelt::report {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

// A file with this dictionary and this many bytes of data.
std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string header = dictionary + "\n";
  std::string out = "\x93NUMPY";
  out += {static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + data;
}
std::string dictionary(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::string failure(const std::string& path) {
  try {
    read_npy(path);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

Scalar element(const TensorView& view, const Dims& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * view.strides[d];
  return load_scalar(view.dtype, static_cast<const char*>(view.data) + offset * size_of(view.dtype));
}

TEST(Npy, EveryDtypeComesBackWithTheSameBits) {
  const TemporaryFolder folder;
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::BF16 || is_f8(dtype)) continue;  // which NumPy has not
    Tensor array = Tensor::zeros(dtype, {3, 5});
    auto* bytes = static_cast<unsigned char*>(array.data);
    for (int64_t i = 0; i < array.bytes(); ++i)
      bytes[i] = static_cast<unsigned char>(dtype == DType::Bool ? i % 2 : i * 37 + 11);  // NaN patterns among them
    const std::string path = folder / "array.npy";
    write_npy(path, array);
    const Tensor back = read_npy(path);
    EXPECT_EQ(back.dtype, dtype);
    EXPECT_EQ(back.dims, array.dims);
    EXPECT_EQ(std::memcmp(back.data, array.data, static_cast<size_t>(array.bytes())), 0) << name_of(dtype);
  }
}

TEST(Npy, RanksAndEmptyArraysComeBack) {
  const TemporaryFolder folder;
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{7}, Dims{0}, Dims{3, 0, 2}, Dims{1, 1, 2, 1, 3, 1, 1, 2}}) {
    const Tensor array = Tensor::zeros(DType::F32, dims);
    write_npy(folder / "array.npy", array);
    EXPECT_EQ(read_npy(folder / "array.npy").dims, dims);
  }
}

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  const TemporaryFolder folder;
  Tensor array = Tensor::zeros(DType::F32, {2});
  static_cast<float*>(array.data)[1] = -0.0f;
  write_npy(folder / "array.npy", array);
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expected.append(127 - expected.size(), ' ');
  expected += "\n" + std::string("\0\0\0\0\0\0\0\x80", 8);
  EXPECT_EQ(bytes_of(folder / "array.npy"), expected);
}

TEST(Npy, WritesStridedViewsInRowMajorOrder) {
  const TemporaryFolder folder;
  Tensor array = Tensor::zeros(DType::I32, {2, 3});
  for (int i = 0; i < 6; ++i) static_cast<int32_t*>(array.data)[i] = i;
  TensorView flipped = array;  // transposed, the rows backwards
  flipped.dims = {3, 2};
  flipped.strides = {1, -3};
  flipped.data = static_cast<int32_t*>(array.data) + 3;
  write_npy(folder / "array.npy", flipped);
  const Tensor back = read_npy(folder / "array.npy");
  const int32_t expected[] = {3, 0, 4, 1, 5, 2};
  EXPECT_EQ(std::memcmp(back.data, expected, sizeof expected), 0);
}

TEST(Npy, FortranOrderIsAViewWithItsStrides) {
  const TemporaryFolder folder;
  const std::string data("\0\1\2\3\4\5", 6);  // columns of two
  const Tensor array = read_npy(folder.file("f.npy", npy(dictionary("|u1", "(2, 3)", "True"), data)));
  EXPECT_EQ(array.strides, (Dims{1, 2}));
  EXPECT_EQ(element(array, {1, 0}).as_int(), 1);
  EXPECT_EQ(element(array, {0, 2}).as_int(), 4);
}

// A fuzzer found it: the strides of an array without elements may exceed 64 bits, which the
// sanitizers see.
TEST(Npy, AnEmptyArrayMayHaveAnySizes) {
  const TemporaryFolder folder;
  for (const std::string order : {"True", "False"}) {
    const Tensor array =
        read_npy(folder.file("e.npy", npy(dictionary("|u1", "(1099511627776, 0, 1099511627776, 3)", order), "")));
    EXPECT_EQ(array.dims, (Dims{int64_t{1} << 40, 0, int64_t{1} << 40, 3}));
    EXPECT_EQ(contiguous_copy(array).bytes(), 0);
  }
}

TEST(Npy, OtherByteOrdersAreSwapped) {
  const TemporaryFolder folder;
  const Tensor floats =
      read_npy(folder.file("a.npy", npy(dictionary(">f4", "(1,)"), std::string("\x40\x49\x0f\xdb", 4))));
  EXPECT_EQ(element(floats, {0}).as_double(), static_cast<double>(3.14159274f));
  const Tensor longs = read_npy(folder.file("b.npy", npy(dictionary(">i8", "()"), std::string("\0\0\0\0\0\0\1\2", 8))));
  EXPECT_EQ(element(longs, {}).as_int(), 258);
}

TEST(Npy, VersionsTwoAndThreeAndOddSpellingsAreRead) {
  const TemporaryFolder folder;
  const std::string data("\1\2\3\4", 4);
  for (const int version : {1, 2, 3})
    EXPECT_EQ(read_npy(folder.file("v.npy", npy(dictionary("|i1", "(4,)"), data, version))).dims, Dims{4});
  EXPECT_EQ(
      read_npy(folder.file("v.npy", npy("{\"shape\":(2L,2L),\"descr\":\"i1\",\"fortran_order\":False}", data))).dims,
      (Dims{2, 2}));
}

TEST(Npy, BoolsBecomeZeroOrOne) {
  const TemporaryFolder folder;
  const Tensor array = read_npy(folder.file("b.npy", npy(dictionary("|b1", "(3,)"), std::string("\2\0\xff", 3))));
  EXPECT_EQ(std::memcmp(array.data, "\1\0\1", 3), 0);
}

struct Lie {
  const char* what;
  std::string bytes;
  const char* says;
};

TEST(Npy, EveryLieIsAnErrorThatNamesIt) {
  const std::string four("\0\0\0\0", 4);
  const std::string good = npy(dictionary("<f4", "(1,)"), four);
  std::string long_header = good, version_nine = good, huge_header = npy(dictionary("<f4", "(1,)"), four, 2);
  long_header[8] = '\xff';
  long_header[9] = '\xff';
  version_nine[6] = 9;
  huge_header[11] = '\x7f';
  const Lie lies[] = {
      {"empty", "", "too few for a header"},
      {"nine bytes", good.substr(0, 9), "too few for a header"},
      {"cut in the header", good.substr(0, 30), "the file ends after"},
      {"cut in the data", good.substr(0, good.size() - 1), "truncated"},
      {"no data", good.substr(0, good.size() - 4), "it holds 0"},
      {"more data", good + "x", "5 follow"},
      {"not npy", "hello, world", "does not begin as one"},
      {"npz", "PK\x03\x04" + good, "help: write one of them: numpy.save"},
      {"pickle", "\x80\x04" + good, "pickle"},
      {"version", version_nine, "version is 9.0"},
      {"header past the end", long_header, "header says to be 65535"},
      {"header of gigabytes", huge_header, "bytes long"},
      {"objects", npy(dictionary("|O", "(1,)"), four), "Python objects"},
      {"complex", npy(dictionary("<c8", "(1,)"), four + four), "complex"},
      {"strings", npy(dictionary("<U1", "(1,)"), four), "strings"},
      {"raw", npy(dictionary("|V2", "(2,)"), four), "bf16"},
      {"dates", npy(dictionary("<M8[ns]", "(1,)"), four), "dates"},
      {"long double", npy(dictionary("<f16", "(1,)"), four), "floats of 16 bytes"},
      {"dtype of nothing", npy(dictionary("", "(1,)"), four), "does not read"},
      {"records", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", four), "named fields"},
      {"no byte order", npy(dictionary("|f4", "(1,)"), four), "no byte order"},
      {"negative size", npy(dictionary("<f4", "(-1,)"), four), "negative size"},
      {"huge size", npy(dictionary("<f4", "(1000000000000,)"), four), "which takes 4000000000000 bytes"},
      {"product past 64 bits", npy(dictionary("<f4", "(4294967296, 4294967296)"), four), "more than 64 bits"},
      {"size past 64 bits", npy(dictionary("<f4", "(99999999999999999999,)"), four), "past 64 bits"},
      {"number for a shape", npy(dictionary("<f4", "(1)"), four), "not a tuple"},
      {"shape without an end", npy(dictionary("<f4", "(1, 2"), four), "its shape holds no number"},
      {"float size", npy(dictionary("<f4", "(1.0,)"), four), "its header"},
      {"order", npy(dictionary("<f4", "(1,)", "0"), four), "neither True nor False"},
      {"no shape", npy("{'descr': '<f4', 'fortran_order': False}", four), "lacks one of"},
      {"twice", npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four), "twice"},
      {"another key", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", four), "none of"},
      {"code", npy("__import__('os').system('true')", four), "its header"},
      {"tail", npy(dictionary("<f4", "(1,)") + " + 1", four), "goes on after"},
      {"escape", npy(dictionary("<\\x664", "(1,)"), four), "escape"},
      {"zero byte", npy(dictionary("<f4", "(1,)") + std::string(1, '\0'), four), "goes on after"},
  };
  const TemporaryFolder folder;
  for (const Lie& lie : lies) {
    const std::string path = folder.file("lie.npy", lie.bytes);
    const std::string message = failure(path);
    EXPECT_NE(message.find(lie.says), std::string::npos) << lie.what << ": " << message;
    EXPECT_EQ(message.find(path), 0u) << lie.what << ": " << message;
    EXPECT_EQ(message_of([&] { read_npy_header(path); }), message) << lie.what;
  }
}

TEST(Npy, ManyDimensionsAreRefused) {
  const TemporaryFolder folder;
  std::string shape = "(";
  for (int i = 0; i < 10000; ++i) shape += "1,";
  EXPECT_NE(
      failure(folder.file("deep.npy", npy(dictionary("|i1", shape + ")"), "x", 2))).find("more than 64 dimensions"),
      std::string::npos);
}

TEST(Npy, EveryPrefixOfAFileIsRefused) {
  const TemporaryFolder folder;
  write_npy(folder / "whole.npy", Tensor::zeros(DType::I16, {2, 3}));
  const std::string whole = bytes_of(folder / "whole.npy");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(failure(folder.file("part.npy", whole.substr(0, length))),
                HasSubstr("part.npy is not a valid .npy file"))
        << length;
}

TEST(Npy, OneWrongByteNeverDoesMoreThanThrow) {
  const TemporaryFolder folder;
  write_npy(folder / "whole.npy", Tensor::zeros(DType::I16, {2, 3}));
  const std::string whole = bytes_of(folder / "whole.npy");
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\xff', '9', ')'}) {
      std::string wrong = whole;
      wrong[at] = byte;
      const std::string path = folder.file("wrong.npy", wrong);
      try {
        EXPECT_LE(read_npy(path).bytes(), 12);
      } catch (const UserError&) {
      }
    }
  }
}

TEST(Npy, FoldersAndMissingFilesAreNamed) {
  const TemporaryFolder folder;
  EXPECT_NE(failure(folder.path.string()).find("it is a folder"), std::string::npos);
  EXPECT_NE(failure(folder / "none.npy").find("No such file"), std::string::npos);
  EXPECT_NE(failure("/dev/zero").find("a device"), std::string::npos);
}

TEST(Npy, Bf16IsRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  const Tensor good = Tensor::zeros(DType::F32, {2}), bad = Tensor::zeros(DType::BF16, {2});
  try {
    write_npy({{folder / "a.npy", good}, {folder / "b.npy", bad}});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("return f32("), std::string::npos);
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Npy, AFailedWriteLeavesNothingAndKeepsWhatWasThere) {
  const TemporaryFolder folder;
  const Tensor old = Tensor::zeros(DType::U8, {3});
  write_npy(folder / "a.npy", old);
  const std::string before = bytes_of(folder / "a.npy");
  const Tensor fresh = Tensor::zeros(DType::F32, {9});
  EXPECT_EQ(message_of([&] {
              write_npy({{folder / "a.npy", fresh}, {folder / "no/b.npy", fresh}});
            }),
            "cannot write " + (folder / "no/b.npy") +
                ": No such file or directory\nhelp: make the folder first: mkdir -p " + (folder / "no"));
  EXPECT_EQ(bytes_of(folder / "a.npy"), before);
  EXPECT_EQ(folder.entries(), 1u);

  // A disk that is full in the middle of the array.
  struct rlimit limit {};
  getrlimit(RLIMIT_FSIZE, &limit);
  struct rlimit small = limit;
  small.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = message_of([&] { write_npy(folder / "a.npy", Tensor::zeros(DType::F64, {100000})); });
  setrlimit(RLIMIT_FSIZE, &limit);  // what this test prints may go to a file, too
  EXPECT_EQ(message,
            "cannot write " + (folder / "a.npy") + ": File too large\nhelp: files have a limit here: ulimit -f");
  EXPECT_EQ(bytes_of(folder / "a.npy"), before);
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace smelt::report
