/// \file
/// The functions of smelt/functions.hpp as methods of an array: x.sum(-1) is sum(x, -1).
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/choices.hpp"
#include "smelt/dtype.hpp"
#include "smelt/index.hpp"

namespace smelt {

struct ScanOptions;

/// The methods of Array, which is Self. Each is the function of its name, called with the array.
template <class Self>
class SMELT_API Methods {
 public:
  Self add(const Self& b, Where where = Where::here()) const;                                 ///< add()
  Self subtract(const Self& b, Where where = Where::here()) const;                            ///< subtract()
  Self multiply(const Self& b, Where where = Where::here()) const;                            ///< multiply()
  Self divide(const Self& b, Where where = Where::here()) const;                              ///< divide()
  Self floor_divide(const Self& b, Where where = Where::here()) const;                        ///< floor_divide()
  Self remainder(const Self& b, Where where = Where::here()) const;                           ///< remainder()
  Self fmod(const Self& b, Where where = Where::here()) const;                                ///< fmod()
  Self pow(const Self& b, Where where = Where::here()) const;                                 ///< pow()
  Self negative(Where where = Where::here()) const;                                           ///< negative()
  Self abs(Where where = Where::here()) const;                                                ///< abs()
  Self sign(Where where = Where::here()) const;                                               ///< sign()
  Self fma(const Self& b, const Self& c, Where where = Where::here()) const;                  ///< fma()
  Self square(Where where = Where::here()) const;                                             ///< square()
  Self reciprocal(Where where = Where::here()) const;                                         ///< reciprocal()
  Self maximum(const Self& b, Where where = Where::here()) const;                             ///< maximum()
  Self minimum(const Self& b, Where where = Where::here()) const;                             ///< minimum()
  Self floor(Where where = Where::here()) const;                                              ///< floor()
  Self ceil(Where where = Where::here()) const;                                               ///< ceil()
  Self trunc(Where where = Where::here()) const;                                              ///< trunc()
  Self round(Where where = Where::here()) const;                                              ///< round()
  Self sqrt(Where where = Where::here()) const;                                               ///< sqrt()
  Self rsqrt(Where where = Where::here()) const;                                              ///< rsqrt()
  Self cbrt(Where where = Where::here()) const;                                               ///< cbrt()
  Self hypot(const Self& b, Where where = Where::here()) const;                               ///< hypot()
  Self exp(Where where = Where::here()) const;                                                ///< exp()
  Self exp2(Where where = Where::here()) const;                                               ///< exp2()
  Self expm1(Where where = Where::here()) const;                                              ///< expm1()
  Self log(Where where = Where::here()) const;                                                ///< log()
  Self log2(Where where = Where::here()) const;                                               ///< log2()
  Self log10(Where where = Where::here()) const;                                              ///< log10()
  Self log1p(Where where = Where::here()) const;                                              ///< log1p()
  Self sin(Where where = Where::here()) const;                                                ///< sin()
  Self cos(Where where = Where::here()) const;                                                ///< cos()
  Self tan(Where where = Where::here()) const;                                                ///< tan()
  Self asin(Where where = Where::here()) const;                                               ///< asin()
  Self acos(Where where = Where::here()) const;                                               ///< acos()
  Self atan(Where where = Where::here()) const;                                               ///< atan()
  Self atan2(const Self& b, Where where = Where::here()) const;                               ///< atan2()
  Self sinh(Where where = Where::here()) const;                                               ///< sinh()
  Self cosh(Where where = Where::here()) const;                                               ///< cosh()
  Self tanh(Where where = Where::here()) const;                                               ///< tanh()
  Self asinh(Where where = Where::here()) const;                                              ///< asinh()
  Self acosh(Where where = Where::here()) const;                                              ///< acosh()
  Self atanh(Where where = Where::here()) const;                                              ///< atanh()
  Self erf(Where where = Where::here()) const;                                                ///< erf()
  Self erfc(Where where = Where::here()) const;                                               ///< erfc()
  Self copysign(const Self& b, Where where = Where::here()) const;                            ///< copysign()
  Self equal(const Self& b, Where where = Where::here()) const;                               ///< equal()
  Self not_equal(const Self& b, Where where = Where::here()) const;                           ///< not_equal()
  Self less(const Self& b, Where where = Where::here()) const;                                ///< less()
  Self less_equal(const Self& b, Where where = Where::here()) const;                          ///< less_equal()
  Self greater(const Self& b, Where where = Where::here()) const;                             ///< greater()
  Self greater_equal(const Self& b, Where where = Where::here()) const;                       ///< greater_equal()
  Self isnan(Where where = Where::here()) const;                                              ///< isnan()
  Self isinf(Where where = Where::here()) const;                                              ///< isinf()
  Self isfinite(Where where = Where::here()) const;                                           ///< isfinite()
  Self bitwise_and(const Self& b, Where where = Where::here()) const;                         ///< bitwise_and()
  Self bitwise_or(const Self& b, Where where = Where::here()) const;                          ///< bitwise_or()
  Self bitwise_xor(const Self& b, Where where = Where::here()) const;                         ///< bitwise_xor()
  Self bitwise_not(Where where = Where::here()) const;                                        ///< bitwise_not()
  Self left_shift(const Self& b, Where where = Where::here()) const;                          ///< left_shift()
  Self right_shift(const Self& b, Where where = Where::here()) const;                         ///< right_shift()
  Self where(const Self& x, const Self& y, Where where = Where::here()) const;                ///< where()
  Self logical_and(const Self& y, Where where = Where::here()) const;                         ///< logical_and()
  Self logical_or(const Self& y, Where where = Where::here()) const;                          ///< logical_or()
  Self logical_xor(const Self& y, Where where = Where::here()) const;                         ///< logical_xor()
  Self logical_not(Where where = Where::here()) const;                                        ///< logical_not()
  Self clamp(const Self& lo = {}, const Self& hi = {}, Where where = Where::here()) const;    ///< clamp()
  Self relu(Where where = Where::here()) const;                                               ///< relu()
  Self leaky_relu(const Self& slope = 0.01, Where where = Where::here()) const;               ///< leaky_relu()
  Self elu(const Self& alpha = 1.0, Where where = Where::here()) const;                       ///< elu()
  Self gelu(Approximate approximate = Approximate::None, Where where = Where::here()) const;  ///< gelu()
  Self gelu_tanh(Where where = Where::here()) const;                                          ///< gelu_tanh()
  Self sigmoid(Where where = Where::here()) const;                                            ///< sigmoid()
  Self silu(Where where = Where::here()) const;                                               ///< silu()
  Self softplus(Where where = Where::here()) const;                                           ///< softplus()
  Self mish(Where where = Where::here()) const;                                               ///< mish()
  Self hardswish(Where where = Where::here()) const;                                          ///< hardswish()
  Self quantize_int8(const Self& scale, const Self& zero_point = 0,
                     Where where = Where::here()) const;  ///< quantize_int8()
  Self dequantize(const Self& scale, const Self& zero_point = 0, DType dtype = DType::F32,
                  Where where = Where::here()) const;                                         ///< dequantize()
  Self lerp(const Self& y, const Self& weight, Where where = Where::here()) const;            ///< lerp()
  Self sum(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;     ///< sum()
  Self prod(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;    ///< prod()
  Self max(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;     ///< max()
  Self min(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;     ///< min()
  Self any(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;     ///< any()
  Self all(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;     ///< all()
  Self argmax(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;  ///< argmax()
  Self argmin(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;  ///< argmin()
  Self mean(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;    ///< mean()
  Self var(const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0, Where where = Where::here()) const;  ///< var()
  Self stddev(const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0,
              Where where = Where::here()) const;                                                ///< stddev()
  Self logsumexp(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;  ///< logsumexp()
  Self norm(double ord = 2, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;  ///< norm()
  Self l2norm(const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) const;  ///< l2norm()
  Self cumsum(Axis axis, const ScanOptions& how, Where where = Where::here()) const;          ///< cumsum()
  Self cumsum(Axis axis = -1, Where where = Where::here()) const;                             ///< \overload
  Self cumprod(Axis axis, const ScanOptions& how, Where where = Where::here()) const;         ///< cumprod()
  Self cumprod(Axis axis = -1, Where where = Where::here()) const;                            ///< \overload
  Self cummax(Axis axis, const ScanOptions& how, Where where = Where::here()) const;          ///< cummax()
  Self cummax(Axis axis = -1, Where where = Where::here()) const;                             ///< \overload
  Self cummin(Axis axis, const ScanOptions& how, Where where = Where::here()) const;          ///< cummin()
  Self cummin(Axis axis = -1, Where where = Where::here()) const;                             ///< \overload
  Self cummean(Axis axis = -1, Where where = Where::here()) const;                            ///< cummean()
  Self logcumsumexp(Axis axis = -1, Where where = Where::here()) const;                       ///< logcumsumexp()
  Self softmax(const Axes& axis = -1, Where where = Where::here()) const;                     ///< softmax()
  Self log_softmax(const Axes& axis = -1, Where where = Where::here()) const;                 ///< log_softmax()
  Self layernorm(const Self& weight = {}, const Self& bias = {}, const Axes& axis = -1, const Self& eps = 1e-5,
                 Where where = Where::here()) const;  ///< layernorm()
  Self rmsnorm(const Self& weight = {}, const Axes& axis = -1, const Self& eps = 1e-6,
               Where where = Where::here()) const;  ///< rmsnorm()
  Self groupnorm(const Size& groups, const Self& weight = {}, const Self& bias = {}, const Self& eps = 1e-5,
                 Where where = Where::here()) const;  ///< groupnorm()
  Self batchnorm(const Self& mean, const Self& var, const Self& weight = {}, const Self& bias = {},
                 const Self& eps = 1e-5, Axis axis = 1, Where where = Where::here()) const;  ///< batchnorm()
  Self cross_entropy(const Self& targets, Axis axis = -1, Reduction reduction = Reduction::Mean,
                     Where where = Where::here()) const;  ///< cross_entropy()
  Self mse(const Self& targets, Reduction reduction = Reduction::Mean, Where where = Where::here()) const;  ///< mse()
  Self huber(const Self& targets, const Self& delta = 1.0, Reduction reduction = Reduction::Mean,
             Where where = Where::here()) const;                                                         ///< huber()
  Self matmul(const Self& y, Precision precision = Precision::Full, Where where = Where::here()) const;  ///< matmul()
  Self linear(const Self& weight, const Self& bias = {}, Precision precision = Precision::Full,
              Where where = Where::here()) const;                                                     ///< linear()
  Self dot(const Self& y, Precision precision = Precision::Full, Where where = Where::here()) const;  ///< dot()
  Self vecdot(const Self& y, const Axes& axis = -1, Where where = Where::here()) const;               ///< vecdot()
  Self outer(const Self& y, Where where = Where::here()) const;                                       ///< outer()
  Self scaled_dot_product_attention(const Self& k, const Self& v, const Self& mask = {}, bool causal = false,
                                    const Self& scale = {}, Precision precision = Precision::Full,
                                    Where where = Where::here()) const;      ///< scaled_dot_product_attention()
  Self reshape(const Sizes& shape, Where where = Where::here()) const;       ///< reshape()
  Self flatten(Where where = Where::here()) const;                           ///< flatten()
  Self transpose(const Axes& axes = {}, Where where = Where::here()) const;  ///< transpose()
  Self swapaxes(Axis axis1, Axis axis2, Where where = Where::here()) const;  ///< swapaxes()
  Self moveaxis(const Axes& source, const Axes& destination, Where where = Where::here()) const;  ///< moveaxis()
  Self broadcast_to(const Sizes& shape, Where where = Where::here()) const;                       ///< broadcast_to()
  Self expand_dims(const Axes& axis, Where where = Where::here()) const;                          ///< expand_dims()
  Self squeeze(const Axes& axis = {}, Where where = Where::here()) const;                         ///< squeeze()
  Self pad(const PadWidth& pad_width, const Self& value = 0, PadMode mode = PadMode::Constant,
           Where where = Where::here()) const;                                                 ///< pad()
  Self flip(const Axes& axis = {}, Where where = Where::here()) const;                         ///< flip()
  Self roll(const Sizes& shift, const Axes& axis = {}, Where where = Where::here()) const;     ///< roll()
  Self tile(const Sizes& reps, Where where = Where::here()) const;                             ///< tile()
  Self repeat(const Size& repeats, const Axes& axis = {}, Where where = Where::here()) const;  ///< repeat()
  Self take(const IndexList& indices, const Axes& axis = {}, OutOfRange mode = OutOfRange::Raise,
            Where where = Where::here()) const;  ///< take()
  Self take_along_axis(const IndexList& indices, const Axes& axis = -1, OutOfRange mode = OutOfRange::Raise,
                       Where where = Where::here()) const;                                        ///< take_along_axis()
  Self slice_update(const Indices& index, const Self& value, Where where = Where::here()) const;  ///< slice_update()
  Self tril(int64_t k = 0, Where where = Where::here()) const;                                    ///< tril()
  Self triu(int64_t k = 0, Where where = Where::here()) const;                                    ///< triu()
  Self window(const Sizes& size, const Axes& axis = {}, const Sizes& stride = 1, const Sizes& dilation = 1,
              Where where = Where::here()) const;  ///< window()
  Self max_pool(const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0, const Sizes& dilation = 1,
                Where where = Where::here()) const;  ///< max_pool()
  Self min_pool(const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0, const Sizes& dilation = 1,
                Where where = Where::here()) const;  ///< min_pool()
  Self avg_pool(const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0, bool count_padding = true,
                Where where = Where::here()) const;  ///< avg_pool()
  Self conv(const Self& weight, const Self& bias = {}, const Sizes& stride = 1, const Sizes& padding = 0,
            const Sizes& dilation = 1, const Size& groups = 1, Where where = Where::here()) const;  ///< conv()
  Self correlate(const Self& kernel, Where where = Where::here()) const;                            ///< correlate()
  Self filter(const Self& kernel, PadMode mode = PadMode::Edge, const Self& value = 0,
              Where where = Where::here()) const;  ///< filter()
  Self full_like(const Self& value, std::optional<DType> dtype = {},
                 Where where = Where::here()) const;                                         ///< full_like()
  Self zeros_like(std::optional<DType> dtype = {}, Where where = Where::here()) const;       ///< zeros_like()
  Self ones_like(std::optional<DType> dtype = {}, Where where = Where::here()) const;        ///< ones_like()
  Self astype(DType dtype, Where where = Where::here()) const;                               ///< astype()
  Self wrap_cast(DType dtype, Where where = Where::here()) const;                            ///< wrap_cast()
  Self one_hot(const Size& n, DType dtype = DType::F32, Where where = Where::here()) const;  ///< one_hot()
  Self embedding(const IndexList& ids, OutOfRange mode = OutOfRange::Raise,
                 Where where = Where::here()) const;  ///< embedding()
  Self rotary(const Self& cos, const Self& sin, bool interleaved = false,
              Where where = Where::here()) const;  ///< rotary()
  Self rope(const Self& positions, double base = 10000, bool interleaved = false,
            Where where = Where::here()) const;                                                      ///< rope()
  Self part(int64_t parts, int64_t index, const Axes& axis = 0, Where where = Where::here()) const;  ///< part()
  Self scatter(const IndexList& indices, const Self& updates, const Axes& axis = 0, OutOfRange mode = OutOfRange::Raise,
               Where where = Where::here()) const;  ///< scatter()
  Self scatter_add(const IndexList& indices, const Self& updates, const Axes& axis = 0,
                   OutOfRange mode = OutOfRange::Raise, bool deterministic = true,
                   Where where = Where::here()) const;  ///< scatter_add()
  Self scatter_mul(const IndexList& indices, const Self& updates, const Axes& axis = 0,
                   OutOfRange mode = OutOfRange::Raise,
                   Where where = Where::here()) const;  ///< scatter_mul()
  Self scatter_max(const IndexList& indices, const Self& updates, const Axes& axis = 0,
                   OutOfRange mode = OutOfRange::Raise,
                   Where where = Where::here()) const;  ///< scatter_max()
  Self scatter_min(const IndexList& indices, const Self& updates, const Axes& axis = 0,
                   OutOfRange mode = OutOfRange::Raise,
                   Where where = Where::here()) const;  ///< scatter_min()
  Self segment_sum(const IndexList& segments, const Size& n, bool deterministic = true,
                   Where where = Where::here()) const;  ///< segment_sum()
  Self bincount(const Size& n, const Self& weights = {}, bool deterministic = true,
                Where where = Where::here()) const;                                          ///< bincount()
  Self histogram(int64_t bins, double low, double high, Where where = Where::here()) const;  ///< histogram()
  Self dropout(const Self& p, const Self& seed, const Self& offset = 0, const Self& stream = 0,
               Where where = Where::here()) const;                                           ///< dropout()
  Self stop_gradient(Where where = Where::here()) const;                                     ///< stop_gradient()
  std::vector<Self> split(int64_t parts, Axis axis = 0, Where where = Where::here()) const;  ///< split()
  std::pair<Self, Self> max_and_argmax(Axis axis = -1, KeepDims keep = {},
                                       Where where = Where::here()) const;  ///< max_and_argmax()

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace smelt
