#include "smelt/error.hpp"

namespace smelt {

InternalError::InternalError(const std::string& what)
    : Error("internal error in smelt: " + what +
            "\nThis is a bug in smelt, not in your program. Please report it with the program and the output of "
            "`smelt explain PROGRAM --dump graph,plan,kernel`.") {}

}  // namespace smelt
