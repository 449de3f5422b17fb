/// \file
/// All of smelt: arrays, functions of arrays, compiling, devices, errors.
#pragma once

#include "smelt/array.hpp"
#include "smelt/compile.hpp"
#include "smelt/custom.hpp"
#include "smelt/custom_call.hpp"
#include "smelt/device.hpp"
#include "smelt/dlpack.hpp"
#include "smelt/dtype.hpp"
#include "smelt/error.hpp"
#include "smelt/explain.hpp"
#include "smelt/export.hpp"
#include "smelt/functions.hpp"
#include "smelt/gradient.hpp"
#include "smelt/program.hpp"
#include "smelt/scalar_function.hpp"
