// Object files of LLVM, sound and broken. Broken ones are loaded, never run.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "runtime/cpu.hpp"
#include "runtime/elf_loader.hpp"
#include "runtime/elf_relocate.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using namespace smelt::runtime;
using ::testing::HasSubstr;

class Loader : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    llvm_ = Llvm::open(why);
    if (!llvm_) GTEST_SKIP() << why;
  }
  std::string object(const std::string& text) { return llvm_->compile(text); }
  static std::string refusal(const std::string& object) {
    try {
      LoadedObject loaded(object);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "no error";
  }
  std::shared_ptr<Llvm> llvm_;
};

// What kernels have, and a little more: constants, a switch by a table, a table of addresses, calls
// inside and outside, a function whose address is taken.
constexpr const char* kRich = R"(
@table = internal constant [3 x ptr] [ptr @double, ptr @triple, ptr @double]
@numbers = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5], align 64
declare double @fmod(double, double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal i64 @double(i64 %x) noinline { %y = shl i64 %x, 1  ret i64 %y }
define internal i64 @triple(i64 %x) noinline { %y = mul i64 %x, 3  ret i64 %y }
define i64 @by_table(i64 %which, i64 %x) {
  %slot = getelementptr [3 x ptr], ptr @table, i64 0, i64 %which
  %f = load ptr, ptr %slot
  %y = call i64 %f(i64 %x)
  ret i64 %y
}
define i64 @by_switch(i64 %which, i64 %x) {
  switch i64 %which, label %other [i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e]
a: %ya = add i64 %x, 11  ret i64 %ya
b: %yb = mul i64 %x, 12  ret i64 %yb
c: %yc = xor i64 %x, 13  ret i64 %yc
d: %yd = sub i64 %x, 14  ret i64 %yd
e: %ye = call i64 @triple(i64 %x)  ret i64 %ye
other: ret i64 0
}
define double @number(i64 %i) {
  %slot = getelementptr [4 x double], ptr @numbers, i64 0, i64 %i
  %y = load double, ptr %slot, align 8
  ret double %y
}
define double @outside(double %x) { %y = call double @fmod(double %x, double 4.0)  ret double %y }
define ptr @address_outside() { ret ptr @fmod }
define void @copy(ptr %to, ptr %from, i64 %bytes) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}
)";

template <class Signature>
Signature* as(const LoadedObject& object, const char* name) {
  void* const found = object.function(name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Signature*>(found);
}

TEST_F(Loader, LoadsWhatLlvmMakes) {
  const LoadedObject loaded(object(kRich));
  auto* by_table = as<int64_t(int64_t, int64_t)>(loaded, "by_table");
  EXPECT_EQ(by_table(0, 5), 10);
  EXPECT_EQ(by_table(1, 5), 15);
  auto* by_switch = as<int64_t(int64_t, int64_t)>(loaded, "by_switch");
  const int64_t expected[] = {18, 84, 7 ^ 13, -7, 21, 0};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(by_switch(i, 7), expected[i]);
  EXPECT_EQ(as<double(int64_t)>(loaded, "number")(2), 3.5);
  EXPECT_EQ(as<double(double)>(loaded, "outside")(7), 3);
  auto* fmod_there = as<double (*())(double, double)>(loaded, "address_outside")();
  EXPECT_EQ(fmod_there(9, 5), 4);
  std::string to(1000, ' '), from(1000, 'x');
  as<void(void*, const void*, size_t)>(loaded, "copy")(to.data(), from.data(), to.size());
  EXPECT_EQ(to, from);
  EXPECT_EQ(loaded.function("double"), nullptr) << "internal";
  EXPECT_EQ(loaded.function("absent"), nullptr);
}

TEST_F(Loader, NothingIsWritableAndExecutable) {
  const LoadedObject loaded(object(kRich));
  const auto code = reinterpret_cast<uintptr_t>(loaded.function("number"));
  std::ifstream maps("/proc/self/maps");
  bool seen = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char rights[5] = {};
    ASSERT_EQ(std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights), 3);
    EXPECT_FALSE(rights[1] == 'w' && rights[2] == 'x') << line;
    if (code < begin || code >= end) continue;
    seen = true;
    EXPECT_EQ(std::string(rights), "r-xp");
  }
  EXPECT_TRUE(seen);
}

TEST_F(Loader, RefusesWhatNoKernelHas) {
  EXPECT_THAT(refusal(object("@x = global i64 7\ndefine ptr @f() { ret ptr @x }\n")), HasSubstr("can be written"));
  EXPECT_THAT(
      refusal(object("@x = thread_local global i64 7\ndefine i64 @f() { %y = load i64, ptr @x  ret i64 %y }\n")),
      HasSubstr("thread-local"));
  EXPECT_THAT(refusal(object("@x = external global i64\ndefine ptr @f() { ret ptr @x }\n")),
              HasSubstr("x, which is not known"));
  EXPECT_THAT(
      refusal(object("declare void @system(ptr)\ndefine void @f() { call void @system(ptr null)  ret void }\n")),
      HasSubstr("system, which is not known"));
  EXPECT_THAT(refusal(object("@f = ifunc void (), ptr @r\ndefine internal ptr @r() { ret ptr null }\n"
                             "define void @g() { call void @f()  ret void }\n")),
              HasSubstr("type"));
}

TEST_F(Loader, EveryTruncationAndEveryFlippedBit) {
  const std::string whole = object(kRich);
  int refused = 0, taken = 0;
  const auto load = [&](const std::string& bytes) {
    try {
      LoadedObject loaded(bytes);
      ++taken;
    } catch (const InternalError&) {
      ++refused;
    }
  };
  for (size_t length = 0; length < whole.size(); ++length) {
    load(whole.substr(0, length));
    EXPECT_EQ(taken, 0) << "its table of sections stands at the end; cut to " << length;
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    load(changed);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 1000) << "many bits are instructions, which a loader does not read";
}

TEST_F(Loader, BytesChangedAtRandom) {
  const std::string whole = object(kRich);
  std::mt19937 random(7);
  const uint64_t nasty[] = {0,          1,          0x7f,       0xff,         0x8000,           0xffff,
                            0x7fffffff, 0x80000000, 0xffffffff, ~uint64_t{0}, uint64_t{1} << 63};
  for (int i = 0; i < 50'000; ++i) {
    std::string changed = whole;
    for (int change = static_cast<int>(random() % 4); change >= 0; --change) {
      // Headers and tables are at the ends of the file.
      const size_t span = random() % 3 == 0 ? changed.size() : random() % 2 ? 64 : 1500;
      size_t at = random() % std::min(span, changed.size());
      if (span == 1500) at = changed.size() - 1 - at;
      const uint64_t value = random() % 2 ? nasty[random() % std::size(nasty)] : random();
      const size_t width = std::min<size_t>(size_t{1} << random() % 4, changed.size() - at);
      std::memcpy(changed.data() + at, &value, width);
    }
    try {
      LoadedObject loaded(changed);
    } catch (const InternalError&) {
    }
  }
  EXPECT_THAT(refusal(""), HasSubstr("shorter than its header"));
  EXPECT_THAT(refusal(std::string(10000, '\x7f')), HasSubstr("no relocatable"));
}

// Against the ABI's own formulas, worked out by hand.
TEST(Relocate, X86_64) {
  char bytes[16] = {};
  const elf::Place place{bytes, sizeof bytes, 0x10000};
  int32_t narrow = 0;
  int64_t wide = 0;
  elf::relocate_x86_64(R_X86_64_PC32, place, 0x12000, -4);
  std::memcpy(&narrow, bytes, 4);
  EXPECT_EQ(narrow, 0x1ffc);
  elf::relocate_x86_64(R_X86_64_PLT32, place, 0xf000, -4);
  std::memcpy(&narrow, bytes, 4);
  EXPECT_EQ(narrow, -0x1004);
  elf::relocate_x86_64(R_X86_64_64, place, 0x123456789abc, 2);
  std::memcpy(&wide, bytes, 8);
  EXPECT_EQ(wide, 0x123456789abe);
  elf::relocate_x86_64(R_X86_64_PC32, place, 0x10000 + uint64_t{0x7fffffff}, 0);
  EXPECT_EQ(
      message_of<InternalError>([&] { elf::relocate_x86_64(R_X86_64_PC32, place, 0x10000 + uint64_t{0x80000000}, 0); }),
      "internal error in smelt: the code of a kernel cannot be loaded: a relocation of type 2 does not reach so far");
  EXPECT_EQ(message_of<InternalError>([&] { elf::relocate_x86_64(R_X86_64_TPOFF32, place, 0, 0); }),
            "internal error in smelt: the code of a kernel cannot be loaded: a relocation of type 23 is unknown");
  EXPECT_EQ(message_of<InternalError>([&] {
              elf::relocate_x86_64(R_X86_64_64, {bytes, 7, 0}, 0, 0);
            }),
            "internal error in smelt: the code of a kernel cannot be loaded: a relocation of type 1 reaches beyond its "
            "section");
}

TEST(Relocate, AArch64) {
  char bytes[16] = {};
  const elf::Place place{bytes, sizeof bytes, 0x10000};
  const auto relocated = [&](uint32_t type, uint32_t instruction, uint64_t symbol, int64_t addend) {
    std::memcpy(bytes, &instruction, 4);
    elf::relocate_aarch64(type, place, symbol, addend);
    std::memcpy(&instruction, bytes, 4);
    return instruction;
  };
  EXPECT_EQ(relocated(R_AARCH64_CALL26, 0x94000000, 0x10010, 0), 0x94000004u);               // bl +16
  EXPECT_EQ(relocated(R_AARCH64_JUMP26, 0x14000000, 0xfffc, 0), 0x17ffffffu);                // b -4
  EXPECT_EQ(relocated(R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0x13abc, 0), 0xf0000000u);     // adrp x0, +3 pages
  EXPECT_EQ(relocated(R_AARCH64_ADR_PREL_PG_HI21, 0x90000001, 0xf008, 0), 0xf0ffffe1u);      // adrp x1, -1 page
  EXPECT_EQ(relocated(R_AARCH64_ADD_ABS_LO12_NC, 0x91000000, 0x13abc, 0), 0x912af000u);      // add x0, x0, #0xabc
  EXPECT_EQ(relocated(R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400000, 0x13ab8, 0), 0xf9455c00u);   // ldr x0, [x0, #0xab8]
  EXPECT_EQ(relocated(R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0x13ab0, 0), 0x3dc2ac00u);  // ldr q0, [x0, #0xab0]
  EXPECT_EQ(message_of<InternalError>([&] { relocated(R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0x13ab8, 0); }),
            "internal error in smelt: the code of a kernel cannot be loaded: a relocation of type 299 is not aligned");
  EXPECT_EQ(
      message_of<InternalError>([&] { relocated(R_AARCH64_CALL26, 0x94000000, 0x10000 + (1 << 27), 0); }),
      "internal error in smelt: the code of a kernel cannot be loaded: a relocation of type 283 does not reach so far");
  EXPECT_EQ(message_of<InternalError>([&] { relocated(R_AARCH64_TLSLE_ADD_TPREL_HI12, 0, 0, 0); }),
            "internal error in smelt: the code of a kernel cannot be loaded: a relocation of type 549 is unknown");
}

}  // namespace
}  // namespace smelt::testing
