// Programs as bytes: what is read is what was written, and the same kernels are made of it, whose
// code is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/saved.hpp"
#include "frontends/language.hpp"
#include "graph/save.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

struct Source {
  std::string name, text;
};
std::vector<Source> programs() {
  std::vector<Source> found;
  for (const char* folder : {"/examples", "/bench/common/programs"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(SMELT_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".smelt") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      found.push_back({entry.path().stem().string(), text.str()});
    }
  std::sort(found.begin(), found.end(), [](const Source& a, const Source& b) { return a.name < b.name; });
  return found;
}

// Arrays of any rank as matrices of one size that is open, as they are when a program is called.
Graph parse(const Source& source) {
  const Graph declared = lang::parse_program(source.text, source.name);
  std::vector<lang::InputType> types;
  for (const NodeId id : declared.inputs) {
    const Node& node = declared.at(id);
    const bool open = std::any_of(node.shape.begin(), node.shape.end(), [](const IntExpr& size) {
      return size.as_symbol() && size.as_symbol()->is_open_size();
    });
    Shape shape = node.shape;
    if (open) shape = {IntExpr::symbol(Symbol::size("R")), IntExpr(96)};
    types.push_back({node.name, node.dtype, shape});
  }
  return lang::parse_program(source.text, source.name, types);
}

std::string bytes_of(const Graph& graph) {
  ByteWriter out;
  write(out, graph);
  return out.bytes();
}
Graph graph_of(const std::string& bytes) {
  ByteReader in(bytes);
  Graph graph = read_graph(in);
  EXPECT_TRUE(in.done());
  return graph;
}

TEST(SavedPrograms, AreReadAsTheyWere) {
  int checked = 0;
  for (const Source& source : programs()) {
    Graph graph;
    try {
      graph = parse(source);
    } catch (const UserError&) {
      continue;  // takes the inputs of its caller
    }
    const std::string bytes = bytes_of(graph);
    const Graph read = graph_of(bytes);
    EXPECT_EQ(print(read), print(graph)) << source.name;
    EXPECT_EQ(bytes_of(read), bytes) << source.name;
    verify(read);
    for (size_t cut = 0; cut < bytes.size(); cut += bytes.size() / 50 + 1) {
      ByteReader in(std::string_view(bytes).substr(0, cut));
      EXPECT_EQ(message_of<DamagedBytes>([&] { read_graph(in); }), "its contents make no sense")
          << source.name << " " << cut;
    }
    ++checked;
  }
  EXPECT_GT(checked, 30);
}

// Saves for one machine, loads on another; returns how many programs.
int check_on(const Machine& with_compiler, const Machine& without, size_t every) {
  int checked = 0;
  const std::vector<Source> all = programs();
  for (size_t i = 0; i < all.size(); i += every) {
    Graph graph;
    try {
      graph = graph_of(bytes_of(parse(all[i])));
    } catch (const UserError&) {
      continue;
    }
    Saver saver(with_compiler);
    ByteWriter out;
    write(out, saver.add(graph, {}, nullptr));
    write(out, saver.target("here"));
    ByteReader in(out.bytes());
    CompileOptions options;
    options.settled = std::make_shared<const Settled>(read_settled(in));
    const SavedTarget target = read_target(in);
    EXPECT_TRUE(in.done());
    EXPECT_EQ(why_not_here(target, without), "") << all[i].name;
    EXPECT_FALSE(target.code.empty()) << all[i].name;
    const Executable loaded = compile(graph, machine_with_code(target, without), options);
    const Executable made = compile(graph, with_compiler);
    EXPECT_EQ(loaded.dump("kernel"), made.dump("kernel")) << all[i].name;
    EXPECT_FALSE(loaded.interpreted());
    ++checked;
  }
  return checked;
}

TEST(SavedPrograms, HaveTheirCodeOnTheCpu) {
  const Machine cpu = Machine::cpu();
  if (!cpu.compiles()) GTEST_SKIP() << cpu.missing;
  Machine without = cpu;
  without.llvm = nullptr;
  EXPECT_GT(check_on(cpu, without, 4), 8);
}

// By an NVRTC that passes texts on, for a driver over host memory.
TEST(SavedPrograms, HaveTheirCodeOnAGpu) {
  fresh_fake();
  const Variable driver("SMELT_CUDA", SMELT_FAKE_CUDA), nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA);
  const Variable cache("SMELT_CACHE_DIR", "off");
  const Machine gpu = Machine::cuda();
  ASSERT_TRUE(gpu.compiles()) << gpu.missing;
  Machine without = gpu;
  without.nvrtc = nullptr;
  EXPECT_GT(check_on(gpu, without, 6), 5);
}

TEST(SavedPrograms, TakeOverWhatWasSettled) {
  const Machine cpu = Machine::cpu();
  if (!cpu.compiles()) GTEST_SKIP() << cpu.missing;
  const Graph graph = lang::parse_program("input x: f32[B, 1024]\nreturn layernorm(x) * 2\n", "<test>");
  CompileOptions tuned;
  tuned.tune = true;
  tuned.sizes = {{Symbol::size("B"), 64}};
  const Executable made = compile(graph, cpu, tuned);
  tuned.tune = false;
  Saver saver(cpu);
  const Settled settled = saver.add(graph, tuned, std::make_shared<const Settled>(made.settled()));
  ASSERT_EQ(settled.tunings.size(), made.settled().tunings.size());
  for (size_t k = 0; k < settled.tunings.size(); ++k) EXPECT_EQ(settled.tunings[k], made.settled().tunings[k]);
  tuned.settled = std::make_shared<const Settled>(settled);
  const Executable loaded = compile(graph, machine_with_code(saver.target("cpu"), cpu), tuned);
  EXPECT_EQ(loaded.dump("kernel"), made.dump("kernel"));
}

}  // namespace
}  // namespace smelt::testing
