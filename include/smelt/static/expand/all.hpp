// Every expansion that ops.def names.
#pragma once

#include "smelt/static/expand/error_function.hpp"
#include "smelt/static/expand/exp.hpp"
#include "smelt/static/expand/hyperbolic.hpp"
#include "smelt/static/expand/integer.hpp"
#include "smelt/static/expand/log.hpp"
#include "smelt/static/expand/minmax.hpp"
#include "smelt/static/expand/modulo.hpp"
#include "smelt/static/expand/power.hpp"
#include "smelt/static/expand/trig.hpp"
