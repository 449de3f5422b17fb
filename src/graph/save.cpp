#include "graph/save.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/kept_text.hpp"
#include "graph/custom_code.hpp"

namespace smelt {

namespace {

constexpr int kDeepest = 200;  // of an expression inside expressions

void write_symbol(ByteWriter& out, Symbol symbol) {
  SMELT_CHECK(symbol.is_size() && !symbol.is_open_size(), "{} is no size of a program that can be saved", symbol);
  out.text(symbol.name());
}

Symbol read_symbol(ByteReader& in) {
  const std::string_view name = in.text();
  if (name.empty()) throw DamagedBytes();
  return Symbol::size(name);
}

IntExpr read_expr(ByteReader& in, int depth) {
  if (depth > kDeepest) throw DamagedBytes();
  IntExpr sum;
  in.list([&] {
    IntExpr product = in.number<int64_t>();
    in.list([&] {
      const auto kind = in.one_of(AtomKind::Max);
      if (kind == AtomKind::Symbol) {
        product = product * IntExpr::symbol(read_symbol(in));
        return;
      }
      const IntExpr a = read_expr(in, depth + 1), b = read_expr(in, depth + 1);
      switch (kind) {
        case AtomKind::FloorDiv:
          if (b.is(0)) throw DamagedBytes();
          product = product * floordiv(a, b);
          break;
        case AtomKind::Mod: product = product * mod(a, b); break;
        case AtomKind::Min: product = product * min(a, b); break;
        case AtomKind::Max: product = product * max(a, b); break;
        case AtomKind::Symbol: break;
      }
    });
    sum = sum + product;
  });
  return sum;
}

void write(ByteWriter& out, const Scalar& scalar) {
  out.number(scalar.dtype);
  out.number(scalar.f);
  out.number(scalar.i);
  out.number(scalar.u);
}

Scalar read_scalar(ByteReader& in) {
  Scalar scalar;
  scalar.dtype = in.one_of(DType::F64);
  scalar.f = in.real();
  scalar.i = in.number<int64_t>();
  scalar.u = in.word();
  return scalar;
}

void write(ByteWriter& out, const Origin& origin) {
  out.number(origin.line);
  out.number(origin.column);
  out.number(origin.length);
  out.text(origin.file ? origin.file : "");
}

Origin read_origin(ByteReader& in) {
  Origin origin;
  origin.line = in.number<int>();
  origin.column = in.number<int>();
  origin.length = in.number<int>();
  if (const std::string_view file = in.text(); !file.empty()) origin.file = kept_text(file);
  return origin;
}

template <class T>
std::vector<T> read_numbers(ByteReader& in) {
  std::vector<T> numbers;
  in.list([&] { numbers.push_back(in.number<T>()); });
  return numbers;
}

std::vector<IntExpr> read_exprs(ByteReader& in) {
  std::vector<IntExpr> exprs;
  in.list([&] { exprs.push_back(read_expr(in, 0)); });
  return exprs;
}

void write(ByteWriter& out, const Node& node) {
  const auto numbers = [&](const auto& list) { out.list(list, [&](auto value) { out.number(value); }); };
  const auto exprs = [&](const auto& list) { out.list(list, [&](const IntExpr& e) { write(out, e); }); };
  if (node.custom)
    throw UserError(
        fmt::format("save(): the operation {} is code of the program's own, which a file cannot hold\n"
                    "help: save what comes before it and what comes after it as functions of their own",
                    node.custom->code->name));
  out.number(node.kind);
  out.number(node.op);
  out.number(node.precision);
  out.number(node.reduce);
  out.number(node.gather);
  out.number(node.scatter);
  out.number(node.draw);
  out.number(node.extend);
  for (const bool flag : {node.wrap, node.stops, node.atomic, node.local, node.along, node.reverse, node.exclusive})
    out.number(flag);
  out.number(node.dtype);
  exprs(node.shape);
  numbers(node.args);
  numbers(node.axes);
  exprs(node.starts);
  numbers(node.steps);
  numbers(node.dilation);
  write(out, node.constant);
  write(out, node.size);
  out.text(node.name);
  write(out, node.origin);
  out.text(node.label);
}

Node read_node(ByteReader& in, size_t number) {
  Node node{};
  node.kind = in.one_of(NodeKind::Scatter);
  if (node.kind == NodeKind::Custom) throw DamagedBytes();
  node.op = in.one_of(static_cast<Op>(kOpCount - 1));
  node.precision = in.one_of(Precision::Bf16x3);
  node.reduce = in.one_of(ReduceKind::ArgMin);
  node.gather = in.one_of(GatherMode::Drop);
  node.scatter = in.one_of(ScatterKind::Min);
  node.draw = in.one_of(philox::Draw::Turns);
  node.extend = in.one_of(ExtendMode::Wrap);
  for (bool* flag : {&node.wrap, &node.stops, &node.atomic, &node.local, &node.along, &node.reverse, &node.exclusive})
    *flag = in.word() != 0;
  node.dtype = in.one_of(DType::F64);
  node.shape = read_exprs(in);
  node.args = read_numbers<NodeId>(in);
  for (const NodeId arg : node.args)
    if (arg < 0 || static_cast<size_t>(arg) >= number) throw DamagedBytes();
  node.axes = read_numbers<int>(in);
  node.starts = read_exprs(in);
  node.steps = read_numbers<int64_t>(in);
  node.dilation = read_numbers<int64_t>(in);
  node.constant = read_scalar(in);
  node.size = read_expr(in, 0);
  node.name = in.text();
  node.origin = read_origin(in);
  node.label = in.text();
  return node;
}

}  // namespace

void write(ByteWriter& out, const IntExpr& expr) {
  out.list(expr.terms(), [&](const IntExpr::Term& term) {
    out.number(term.coefficient);
    out.list(term.atoms, [&](const IntExpr::AtomPtr& atom) {
      out.number(atom->kind);
      if (atom->kind == AtomKind::Symbol) return write_symbol(out, *atom->symbol);
      write(out, atom->a);
      write(out, atom->b);
    });
  });
}

void write(ByteWriter& out, const Shape& shape) {
  out.list(shape, [&](const IntExpr& size) { write(out, size); });
}

void write(ByteWriter& out, const SizeBinding& sizes) {
  out.list(sizes, [&](const auto& size) {
    write_symbol(out, size.first);
    out.number(size.second);
  });
}

void write(ByteWriter& out, const Graph& graph) {
  out.list(graph.nodes, [&](const Node& node) { write(out, node); });
  out.list(graph.inputs, [&](NodeId id) { out.number(id); });
  out.list(graph.outputs, [&](NodeId id) { out.number(id); });
  out.list(graph.constraints, [&](const Constraint& c) {
    out.number(c.kind);
    write(out, c.left);
    write(out, c.right);
    out.text(c.message);
    write(out, c.origin);
  });
  out.text(graph.source);
}

IntExpr read_expr(ByteReader& in) { return read_expr(in, 0); }
Shape read_shape(ByteReader& in) { return read_exprs(in); }

SizeBinding read_sizes(ByteReader& in) {
  SizeBinding sizes;
  in.list([&] {
    const Symbol symbol = read_symbol(in);
    sizes[symbol] = in.number<int64_t>();
  });
  return sizes;
}

Graph read_graph(ByteReader& in) {
  Graph graph;
  in.list([&] { graph.nodes.push_back(read_node(in, graph.nodes.size())); });
  const auto ids = [&] {
    std::vector<NodeId> list = read_numbers<NodeId>(in);
    for (const NodeId id : list)
      if (id < 0 || static_cast<size_t>(id) >= graph.nodes.size()) throw DamagedBytes();
    return list;
  };
  graph.inputs = ids();
  graph.outputs = ids();
  in.list([&] {
    Constraint c{in.one_of(Constraint::Divisible), {}, {}, "", {}};
    c.left = read_expr(in, 0);
    c.right = read_expr(in, 0);
    c.message = in.text();
    c.origin = read_origin(in);
    graph.constraints.push_back(std::move(c));
  });
  graph.source = in.text();
  return graph;
}

}  // namespace smelt
