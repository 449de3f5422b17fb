// Every expansion that ops.def names.
#pragma once

#include "ops/expand/error_function.hpp"
#include "ops/expand/exp.hpp"
#include "ops/expand/hyperbolic.hpp"
#include "ops/expand/integer.hpp"
#include "ops/expand/log.hpp"
#include "ops/expand/minmax.hpp"
#include "ops/expand/modulo.hpp"
#include "ops/expand/power.hpp"
#include "ops/expand/trig.hpp"
