// Dtypes: each expression has the one that its kind and its operands give it, and small floats
// occur in memory only.
#include "kernel/fragment.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"

namespace smelt::kernel {
namespace {

// An expression in words, written only where a check fails: of thousands it would take longer than
// all that is checked.
struct InWords {
  const Kernel& kernel;
  ExprId id;
};
std::string in_words(const InWords& words) { return expr_text(words.kernel, words.id); }

}  // namespace
}  // namespace smelt::kernel

template <>
struct fmt::formatter<smelt::kernel::InWords> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const smelt::kernel::InWords& words, Context& context) const {
    return fmt::formatter<std::string>::format(smelt::kernel::in_words(words), context);
  }
};

namespace smelt::kernel {
namespace {

class Types {
 public:
  explicit Types(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (size_t i = 0; i < kernel_.exprs.size(); ++i) expr(static_cast<ExprId>(i));
    for (const Phase& phase : kernel_.phases) {
      threads_ = phase.team.threads;
      block(phase.body);
    }
  }

 private:
  template <class... Args>
  void need(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail(kernel_, format, std::forward<Args>(args)...);
  }
  DType dtype(ExprId id) const { return kernel_.at(id).dtype; }
  InWords text(ExprId id) const { return {kernel_, id}; }

  void need_dtype(ExprId id, DType wanted, std::string_view why) const {
    need(dtype(id) == wanted, "{} is {}, but {} is {}", text(id), name_of(dtype(id)), why, name_of(wanted));
  }
  void need_result(ExprId id, DType wanted) const { need_dtype(id, wanted, "its value"); }

  void expr(ExprId id) const {
    const Expr& e = kernel_.at(id);
    e.match([&](const Const& c) { need_result(id, c.value.dtype); },
            [&](const ReadLocal& read) { need_result(id, kernel_.locals[static_cast<size_t>(read.local)].dtype); },
            [&](const IndexValue&) { need_result(id, DType::I64); },
            [&](const Random& random) {
              for (const ExprId arg : random.args) need_dtype(arg, DType::U64, "what it is drawn by");
              need_result(id, DType::U32);
            },
            [&](const Apply& applied) { apply(id, applied); }, [&](const Raw& applied) { raw(id, applied, e.dtype); },
            [&](const Cast& cast) {
              const DType from = dtype(cast.x);
              const DType other = is_small_float(from) ? e.dtype : from;
              if (is_small_float(from) || is_small_float(e.dtype))
                need(other == DType::F32, "{}: {} becomes {}, which takes f32 in between", text(id), name_of(from),
                     name_of(e.dtype));
            },
            [&](const Bitcast& cast) {
              const DType from = dtype(cast.x);
              need(!is_bool(e.dtype) && !is_bool(from) && size_of(e.dtype) == size_of(from),
                   "{}: {} and {} have not the same number of bits", text(id), name_of(from), name_of(e.dtype));
            },
            [&](const Load& load) {
              need_result(id, kernel_.dtype_of(load.access));
              if (load.mask == kNoExpr) return;
              need_dtype(load.mask, DType::Bool, "a mask");
              need_dtype(load.other, e.dtype, "the value beside it");
            });
  }

  void need_operands(ExprId id, const std::vector<ExprId>& args, size_t wanted) const {
    need(args.size() == wanted, "{} has {} operands, not {}", text(id), args.size(), wanted);
  }

  void apply(ExprId id, const Apply& e) const {
    need_operands(id, e.args, static_cast<size_t>(info(e.op).arity));
    const DType argument = dtype(e.args.back());
    need(accepts(e.op, argument) && !is_small_float(argument), "{}: {} does not take {}", text(id),
         smelt::name_of(e.op), name_of(argument));
    for (size_t i = 0; i < e.args.size(); ++i) {
      const bool condition = info(e.op).rule == TypeRule::Select && i == 0;
      need_dtype(e.args[i], condition ? DType::Bool : argument, condition ? "a condition" : "another operand");
    }
    need_result(id, result_type(e.op, argument));
  }

  static size_t operands_of(RawOp op) {
    switch (op) {
      case RawOp::TruncDiv:
      case RawOp::TruncRem:
      case RawOp::Shl:
      case RawOp::Shr:
      case RawOp::Quotient:
      case RawOp::TruncatedRemainder:
      case RawOp::FlooredRemainder:
      case RawOp::FlooredQuotient:
      case RawOp::FromThread:
      case RawOp::FromThreadAround: return 2;
      case RawOp::DotBF16:
      case RawOp::DotBytes:
      case RawOp::SaturatedFma: return 3;
      case RawOp::ToInt:
      case RawOp::PowerOfTwo:
      case RawOp::PowerOfTwoFull:
      case RawOp::Reciprocal:
      case RawOp::InverseRoot:
      case RawOp::Root:
      case RawOp::Sine:
      case RawOp::Cosine:
      case RawOp::Tangent:
      case RawOp::RoundF16:
      case RawOp::RoundBF16: return 1;
    }
    return 0;
  }

  void raw(ExprId id, const Raw& e, DType result) const {
    need_operands(id, e.args, operands_of(e.op));
    const DType argument = dtype(e.args[0]);
    if (is_from_thread(e.op)) {
      need(kernel_.dialect != Dialect::Portable, "{} is an operation of GPUs", text(id));
      need_dtype(e.args[1], DType::I32, "the number of threads");
      need(kernel_.at(e.args[1]).is<Const>(), "{}: the number of threads is not constant", text(id));
      return need_result(id, argument);
    }
    if (e.op == RawOp::DotBF16 || e.op == RawOp::DotBytes) {
      need(kernel_.dialect == Dialect::Portable, "{} is an operation of CPUs", text(id));
      need_dtype(e.args[0], e.op == RawOp::DotBF16 ? DType::F32 : DType::I32, "what is added to");
      for (const size_t word : {1, 2}) need_dtype(e.args[word], DType::U32, "a word of factors");
      return need_result(id, argument);
    }
    if (e.op >= RawOp::PowerOfTwo) {
      need(kernel_.dialect != Dialect::Portable, "{} is an operation of GPUs", text(id));
      const bool wide = e.op == RawOp::Sine || e.op == RawOp::Cosine || e.op == RawOp::Tangent;
      if (wide && argument == DType::F64) return need_result(id, argument);
      for (ExprId arg : e.args) need_dtype(arg, DType::F32, "the operand of such an operation");
      return need_result(id, DType::F32);
    }
    if (e.op == RawOp::ToInt) {
      need(is_float(argument) && is_signed_int(result) && size_of(argument) == size_of(result),
           "{}: {} to {} is not a float to the signed integer of its width", text(id), name_of(argument),
           name_of(result));
      return;
    }
    need(is_int(argument), "{}: {} is no integer", text(id), name_of(argument));
    need_dtype(e.args[1], argument, "another operand");
    need_result(id, argument);
  }

  void block(const std::vector<Stmt>& body) const {
    for (const Stmt& s : body) statement(s);
  }

  void statement(const Stmt& s) const {
    s.match(
        [&](const Loop& loop) {
          block(loop.body);
          if (loop.interior) block(loop.interior->body);
        },
        [&](const If& branch) {
          need_dtype(branch.condition, DType::Bool, "a condition");
          block(branch.body);
        },
        [&](const Each& each) {
          need_dtype(each.condition, DType::Bool, "a condition");
          block(each.body);
        },
        [&](const Let& let) { need_local_dtype(let.value, let.local); },
        [&](const Assign& assign) { need_local_dtype(assign.value, assign.local); },
        [&](const Combine& combined) { combine(combined); }, [&](const Scan& scanned) { scan(scanned); },
        [](const Barrier&) {}, [](const Prefetch&) {}, [](const Alloc&) {}, [&](const Turn& turned) { turn(turned); },
        [&](const TileProduct& tiles) { tile_product(tiles); }, [&](const Matrix& step) { matrix(step); },
        [&](const Store& stored) { store(stored); });
  }

  DType local_dtype(LocalId id) const { return kernel_.locals[static_cast<size_t>(id)].dtype; }
  void need_local_dtype(ExprId value, LocalId id) const {
    need_dtype(value, local_dtype(id), fmt::format("local %v{}", id));
  }

  void scan(const Scan& s) const {
    need_reduces(s.op, s.local);
    const DType t = local_dtype(s.local);
    need_local_dtype(s.value, s.local);
    need_local_dtype(s.start, s.local);
    need(kernel_.at(s.start).is<Const>(), "scan %v{} starts at no constant", s.local);
    need(local_dtype(s.carry) == t, "scan %v{} carries another type", s.local);
    if (s.restarts != kNoExpr) need_dtype(s.restarts, DType::Bool, "where a scan restarts");
    if (s.factor == kNoExpr) return;
    need_local_dtype(s.factor, s.local);
    need(s.op == Op::Add && is_float(t) && !s.exclusive && s.restarts == kNoExpr, "scan %v{} has factors", s.local);
  }

  // Blocks begin, and go on, where whole vectors of them are aligned.
  void turn(const Turn& s) const {
    const DType t = kernel_.dtype_of(s.into);
    const auto whole = [](const IntExpr& e) { return mod(e, 16).is(0); };
    need(t == kernel_.dtype_of(s.from) && (size_of(t) == 4 || size_of(t) == 8) && whole(s.rows) && whole(s.columns),
         "turn {} x {} from scratch{} to scratch{}: no multiples of 16, or not of one type of 4 or 8 bytes",
         s.rows.str(), s.columns.str(), s.from.array, s.into.array);
    for (const Access* a : {&s.into, &s.from}) {
      const std::vector<IntExpr>& dims = kernel_.buffers[static_cast<size_t>(a->array)].dims;
      need(whole(dims.back()) && whole(a->index.back()), "turn scratch{}: rows are not aligned", a->array);
    }
  }

  void tile_product(const TileProduct& s) const {
    const auto is_byte = [](DType t) { return t == DType::I8 || t == DType::U8; };
    const bool halves = s.rows_type == DType::BF16 && s.columns_type == DType::BF16;
    need(halves || (is_byte(s.rows_type) && is_byte(s.columns_type)), "tiles of {} by {}", name_of(s.rows_type),
         name_of(s.columns_type));
    for (const Access* a : {&s.rows, &s.columns})
      need(kernel_.dtype_of(*a) == (a->scratch ? DType::U32 : s.rows_type), "tiles of {}, which has no words",
           access_text(kernel_, *a));
    need(kernel_.dtype_of(s.into) == (halves ? DType::F32 : DType::I32), "tiles of {} go to scratch{} of {}",
         name_of(s.rows_type), s.into.array, name_of(kernel_.dtype_of(s.into)));
  }

  // Buffers are as the fragment has them.
  void matrix(const Matrix& s) const {
    const Fragment& f = kernel_.fragments[static_cast<size_t>(s.fragment)];
    const auto is = [&](int buffer, DType t, std::initializer_list<int64_t> dims) {
      const ScratchBuffer& b = kernel_.buffers[static_cast<size_t>(buffer)];
      return b.dtype == t && std::equal(b.dims.begin(), b.dims.end(), dims.begin(), dims.end(),
                                        [](const IntExpr& have, int64_t want) { return have.is(want); });
    };
    const auto factor = [&](int buffer, int own, bool along_inner) {
      const ScratchBuffer& b = kernel_.buffers[static_cast<size_t>(buffer)];
      const auto stages = b.dims.front().constant();
      const int64_t fast = along_inner ? f.inner : own, width = Fragment::width(fast);
      return stages && b.swizzled &&
             is(buffer, f.factors, {*stages, Fragment::pieces(fast), along_inner ? own : f.inner, width});
    };
    if (f.of_warps) return matrix_of_warps(s, f);
    const bool held = s.step == Matrix::Step::Multiply && s.by >= 0;
    if (held || s.step == Matrix::Step::Weigh) {
      const Fragment& by = kernel_.fragments[static_cast<size_t>(s.by)];
      need(by.rows == f.rows && by.down == f.down && by.columns == f.inner && has_pairs(f) && has_pairs(by),
           "fragment {} and fragment {} are not in the registers of the same threads", s.by, s.fragment);
      need(!held || factor(s.columns, f.columns, f.columns_along_inner),
           "scratch{} does not lie as fragment {} has its factors", s.columns, s.fragment);
      need(f.holds_rows, "the rows' factor of fragment {} is a buffer", s.fragment);
      need(held || f.has_weights, "the rows of fragment {} have no weights", s.fragment);
    }
    if (s.step == Matrix::Step::Add || s.step == Matrix::Step::AddFinite) {
      const Fragment& by = kernel_.fragments[static_cast<size_t>(s.by)];
      need(by.rows == f.rows && by.down == f.down && by.columns == f.columns,
           "fragment {} and fragment {} are not in the registers of the same threads", s.by, s.fragment);
    }
    if (s.step == Matrix::Step::PutRows)
      need(f.has_weights && is(s.into, DType::F32, {2, f.rows}), "scratch{} is no place for the rows of fragment {}",
           s.into, s.fragment);
    if (f.registers >= 0)
      need(has_pairs(f) && is(f.registers, f.sums, {f.pairs(), 2}) &&
               kernel_.buffers[static_cast<size_t>(f.registers)].scope == Scope::Lane,
           "scratch{} is not what fragment {} has in registers", f.registers, s.fragment);
    if (s.step == Matrix::Step::Multiply && !held)
      need(factor(s.rows, f.rows, f.rows_along_inner) && factor(s.columns, f.columns, f.columns_along_inner),
           "scratch{} and scratch{} do not lie as fragment {} has its factors", s.rows, s.columns, s.fragment);
    if (s.step == Matrix::Step::Put)
      need(is(s.into, f.sums, {f.rows, f.columns + Fragment::kApart}), "scratch{} is no place for fragment {}", s.into,
           s.fragment);
    const bool adds_whole = s.step == Matrix::Step::Clear || s.step == Matrix::Step::Put || s.step == Matrix::Step::Add;
    need(is_half(f.factors) && (f.sums == DType::F32 || (f.sums == DType::I32 && adds_whole)) && f.inner % 16 == 0 &&
             f.rows % (16 * f.down) == 0 && f.columns % 16 == 0,
         "fragment {} is none of matrix units", s.fragment);
  }

  // Threads of a phase are whole warps, each of which has the fragment.
  void matrix_of_warps(const Matrix& s, const Fragment& f) const {
    using Step = Matrix::Step;
    const auto buffer = [&](int b) -> const ScratchBuffer& { return kernel_.buffers[static_cast<size_t>(b)]; };
    const int64_t warps = threads_ / 32;
    const auto is_factor = [&](int b, int own) {
      return buffer(b).scope == Scope::Lane && (buffer(b).dtype == f.factors || buffer(b).dtype == DType::F32) &&
             count(buffer(b).dims).is(warps * own * f.inner);
    };
    need(s.step == Step::Clear || s.step == Step::Multiply || s.step == Step::Put, "fragment {} is of single warps",
         s.fragment);
    need(is_half(f.factors) && f.sums == DType::F32 && f.inner % 64 == 0 && f.rows % 16 == 0 && f.columns % 8 == 0 &&
             f.down == 1 && !f.holds_rows && f.registers < 0,
         "fragment {} is none of matrix units", s.fragment);
    if (s.step == Step::Multiply)
      need(s.by < 0 && is_factor(s.rows, f.rows) && is_factor(s.columns, f.columns),
           "scratch{} and scratch{} are not what lanes have of the factors of fragment {}", s.rows, s.columns,
           s.fragment);
    if (s.step == Step::Put) {
      const auto& dims = buffer(s.into).dims;
      need(buffer(s.into).dtype == f.sums && dims.size() == 3 && dims[0].is(warps) && dims[1].is(f.rows) &&
               dims[2].is(f.columns + f.apart()),
           "scratch{} is no place for fragment {} of each warp", s.into, s.fragment);
    }
  }

  void store(const Store& s) const {
    const DType memory = kernel_.dtype_of(s.access);
    need(dtype(s.value) == memory, "store {}: the value {} is {}, not {}", access_text(kernel_, s.access),
         text(s.value), name_of(dtype(s.value)), name_of(memory));
    if (s.mask != kNoExpr) need_dtype(s.mask, DType::Bool, "a mask");
    if (!s.atomic) return;
    if (s.cursor) {
      const DType counts = kernel_.dtype_of(*s.cursor);
      need(is_int(counts) && size_of(counts) >= 4 && kernel_.dialect != Dialect::Portable,
           "append by {}: no {} counts there", access_text(kernel_, *s.cursor), name_of(counts));
      return;
    }
    const bool joins = s.atomic == Op::Add || ((s.atomic == Op::Max || s.atomic == Op::Min) && is_int(memory));
    need(kernel_.dialect != Dialect::Portable && joins && !is_bool(memory) && size_of(memory) >= 4,
         "store {}: no {} of {} is atomic there", access_text(kernel_, s.access), smelt::name_of(*s.atomic),
         name_of(memory));
  }

  void need_reduces(Op op, LocalId id) const {
    const bool reduces =
        op == Op::Add || op == Op::Mul || op == Op::Max || op == Op::Min || op == Op::And || op == Op::Or;
    need(reduces && accepts(op, local_dtype(id)), "combine %v{}: {} does not combine {}", id, smelt::name_of(op),
         name_of(local_dtype(id)));
  }

  void combine(const Combine& s) const {
    need_reduces(s.op, s.local);
    if (s.index_local < 0) return;
    need(s.op == Op::Max || s.op == Op::Min, "combine %v{}, %v{}: {} has no index", s.local, s.index_local,
         smelt::name_of(s.op));
    need(is_signed_int(local_dtype(s.index_local)), "combine %v{}, %v{}: the index is no signed integer", s.local,
         s.index_local);
  }

  const Kernel& kernel_;
  int threads_ = 0;  // of the phase at hand
};

}  // namespace

void verify_types(const Kernel& kernel) { Types(kernel).run(); }

}  // namespace smelt::kernel
