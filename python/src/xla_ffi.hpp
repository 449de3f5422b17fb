// What a handler of XLA's foreign function interface is called with: the part of
// xla/ffi/api/c_api.h (0.1 and later, to which newer versions only append) that a handler of
// buffers and numbers needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace smelt::python::xla {

struct Error;
struct Context;

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int kMetadataExtension = 1;

enum class Code : int { InvalidArgument = 3, Internal = 13 };
enum class Stage : int { Instantiate, Prepare, Initialize, Execute };

// Types of elements, by XLA's numbers.
enum class Type : int {
  Pred = 1,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  BF16 = 16,
  F8E5M2 = 19,
  F8E4M3FN = 20,
};

struct Buffer {
  size_t struct_size;
  Extension* extension;
  Type type;
  void* data;
  int64_t rank;
  int64_t* dims;
};

struct Text {
  const char* data;
  size_t size;
};
struct Scalar {
  Type type;
  void* value;
};
inline constexpr int kScalarAttribute = 3;

struct Buffers {
  size_t struct_size;
  Extension* extension;
  int64_t size;
  int* kinds;  // 1: a buffer
  Buffer** buffers;
};
struct Attributes {
  size_t struct_size;
  Extension* extension;
  int64_t size;
  int* kinds;
  Text** names;
  void** values;
};

struct Version {
  size_t struct_size;
  Extension* extension;
  int major, minor;
};
struct Metadata {
  size_t struct_size;
  Version version;
  uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct ErrorCreateArgs {
  size_t struct_size;
  Extension* extension;
  const char* message;
  Code code;
};
struct StreamGetArgs {
  size_t struct_size;
  Extension* extension;
  Context* context;
  void* stream;  // out
};
struct OrdinalGetArgs {
  size_t struct_size;
  Extension* extension;
  Context* context;
  int32_t ordinal;  // out
};

struct Api {
  size_t struct_size;
  Extension* extension;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorCreateArgs*);
  void* between[3];  // Error_GetMessage, Error_Destroy, Handler_Register
  Error* (*get_stream)(StreamGetArgs*);
  void* after[12];  // from Type_Register to RunId_Get
  Error* (*get_ordinal)(OrdinalGetArgs*);
};

struct CallFrame {
  size_t struct_size;
  Extension* extension;
  const Api* api;
  Context* context;
  Stage stage;
  Buffers arguments, results;
  Attributes attributes;
};

}  // namespace smelt::python::xla
