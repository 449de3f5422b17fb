"""smelt: array programs as few kernels.

    import numpy, smelt

    @smelt.jit
    def softmax(x):
        e = smelt.exp(x - smelt.max(x, axis=-1, keepdims=True))
        return e / smelt.sum(e, axis=-1, keepdims=True)

    softmax(numpy.random.rand(1000, 512).astype("f4"))  # one kernel; a numpy.ndarray
"""

from . import _smelt
from ._smelt import (
    DType, Error, Explanation, InternalError, Size, UserError, bfloat16, float16, float32, float64, int8, int16, int32, int64,
    uint8, uint16, uint32, uint64,
)
from ._array import Array
from ._functions import *  # noqa: F403
from ._more import chunk, max_and_argmax, split, top1
from ._create import asarray, empty, eval, from_dlpack
from ._dtypes import *  # noqa: F403
from ._standard import *  # noqa: F403
from ._jit import Jit, Loaded, Lowered, Spec, disable_jit, jit, load
from ._grad import grad, value_and_grad
gradient = grad
value_and_gradient = value_and_grad

from ._config import config, fusion_savings, log_events, on_event, show_config

bool = _smelt.bool
e, pi, inf, nan, newaxis = 2.718281828459045, 3.141592653589793, float("inf"), float("nan"), None

__array_api_version__ = "2024.12"

__version__: str = _smelt.version
