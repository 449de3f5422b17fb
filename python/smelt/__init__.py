"""smelt: array programs as few kernels.

    import numpy, smelt

    @smelt.jit
    def softmax(x):
        e = smelt.exp(x - smelt.max(x, axis=-1, keepdims=True))
        return e / smelt.sum(e, axis=-1, keepdims=True)

    softmax(numpy.random.rand(1000, 512).astype("f4"))  # one kernel; a numpy.ndarray
"""

from . import _smelt, _llvmlite
from ._smelt import (
    DType as DType, Error as Error, Explanation as Explanation, InternalError as InternalError, Size as Size,
    UserError as UserError, bfloat16 as bfloat16, float8_e4m3fn as float8_e4m3fn,
    float8_e5m2 as float8_e5m2, float16 as float16, float32 as float32, float64 as float64, int8 as int8, int16 as int16,
    int32 as int32, int64 as int64, uint8 as uint8, uint16 as uint16, uint32 as uint32, uint64 as uint64,
)
from ._array import (
    Array as Array,
)
from ._functions import *  # noqa: F403
from ._more import (
    chunk as chunk, max_and_argmax as max_and_argmax, split as split, top1 as top1,
)
from ._create import (
    asarray as asarray, empty as empty, eval as eval, from_dlpack as from_dlpack,
)
from ._dtypes import *  # noqa: F403
from ._standard import *  # noqa: F403
from ._jit import (
    Jit as Jit, Loaded as Loaded, Lowered as Lowered, Spec as Spec, disable_jit as disable_jit, jit as jit,
    load as load,
)
from ._grad import (
    grad as grad, value_and_grad as value_and_grad,
)
gradient = grad
value_and_gradient = value_and_grad

from ._config import (
    config as config, fusion_savings as fusion_savings, log_events as log_events, on_event as on_event,
    show_config as show_config,
)

bool = _smelt.bool
e, pi, inf, nan, newaxis = 2.718281828459045, 3.141592653589793, float("inf"), float("nan"), None

__array_api_version__ = "2024.12"

__version__: str = _smelt.version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import linalg as linalg
    from ._bench import (
        Bench as Bench, Measurement as Measurement, bench as bench,
    )
else:

    def __getattr__(name):
        # Imported when it is used.
        if name in ("Bench", "Measurement", "bench"):
            from . import _bench

            return getattr(_bench, name)
        if name == "linalg":
            import importlib

            return importlib.import_module(".linalg", __name__)
        raise AttributeError(f"module 'smelt' has no attribute {name!r}")
