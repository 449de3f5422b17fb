// Text into tokens. Ends of lines count only outside brackets; comments and other blank space
// vanish.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/diagnostics.hpp"
#include "graph/build.hpp"

namespace smelt::lang {

enum class TokenKind : uint8_t {
  Name,
  Word,  // reserved: and or not if else return True False None
  Number,
  Unsigned,  // an integer from 2^63 to 2^64 - 1
  String,
  Operator,
  EndOfLine,  // or ';'
  EndOfText,
};

struct Token {
  TokenKind kind;
  Span span;
  std::string_view text;  // of a String: the text between the quotes
  Literal literal;        // of a Number; of an Unsigned its bits as i64

  bool is(std::string_view operator_or_word) const {
    return (kind == TokenKind::Operator || kind == TokenKind::Word) && text == operator_or_word;
  }
};

// Never empty: the last token is EndOfText. Views point into the source.
std::vector<Token> tokenize(const Source& source);

bool is_reserved(std::string_view word);

}  // namespace smelt::lang
