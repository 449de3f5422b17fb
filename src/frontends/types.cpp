// Types by name.
#include <utility>

#include "frontends/language.hpp"
#include "frontends/parser.hpp"

namespace smelt::lang {

std::optional<DType> dtype_named(std::string_view name) {
  constexpr std::pair<std::string_view, DType> kLong[] = {{"float64", DType::F64},
                                                          {"float32", DType::F32},
                                                          {"float16", DType::F16},
                                                          {"bfloat16", DType::BF16},
                                                          {"float8_e4m3fn", DType::F8E4M3},
                                                          {"float8_e5m2", DType::F8E5M2},
                                                          {"int8", DType::I8},
                                                          {"int16", DType::I16},
                                                          {"int32", DType::I32},
                                                          {"int64", DType::I64},
                                                          {"uint8", DType::U8},
                                                          {"uint16", DType::U16},
                                                          {"uint32", DType::U32},
                                                          {"uint64", DType::U64}};
  for (const auto& [text, dtype] : kLong)
    if (text == name) return dtype;
  return dtype_from_name(name);
}

ArrayType parse_type(const std::string& text, const std::string& what) {
  const Source source(text, what);
  return parse_whole_type(source);
}

}  // namespace smelt::lang
