"""Just-in-time compilation by numba, typed: the one module that knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
from numba.core.event import Event, Listener, install_listener

from meijin.bots.core.cache import cache_folder

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

vars(numba.config)["CACHE_DIR"] = str(cache_folder())

float64: Any = numba.float64
int64: Any = numba.int64
uint64: Any = numba.uint64
void: Any = numba.void


def jit(
    signature: object,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Compile a function for one signature when its module is imported, or load it.

    It runs without the interpreter's lock. Recursion needs the exact types: a call of a
    cached function by itself with others aborts the process the next time it is loaded.
    """
    compiled: Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]] = (
        numba.njit(signature, cache=True, nogil=True, error_model="numpy")
    )
    return compiled


class _Compilations(Listener):
    def __init__(self, told: Callable[[int], None]) -> None:
        self._told = told
        self._functions = 0

    def on_start(self, event: Event) -> None:  # noqa: ARG002 - numba's signature
        self._functions += 1
        self._told(self._functions)

    def on_end(self, event: Event) -> None:
        """One was compiled, or failed."""


@contextmanager
def compilations(told: Callable[[int], None]) -> Iterator[None]:
    """Tell how many functions it makes whenever numba begins to compile one more.

    Nothing is told of those that are loaded. What numba loads depends on more than the
    folder: on its version, the processor and the path of the sources.
    """
    with install_listener("numba:compile", _Compilations(told)):
        yield


def record_type(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - numba's types have none
    """The type of one record of a structured array, handed over as a pointer."""
    return numba.from_dtype(dtype)


def new_record(dtype: np.dtype[Any]) -> np.record:
    """Make a record of zeros whose fields are attributes, compiled or not."""
    record: np.record = np.zeros(1, dtype).view(np.recarray)[0]
    return record


def array_type(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - see `record_type`
    """The type of a contiguous array of records."""
    return numba.types.Array(numba.from_dtype(dtype), 1, "C")


_PRIME = 37
_BITS = np.zeros(_PRIME, np.int64)
_BITS[[(1 << bit) % _PRIME for bit in range(32)]] = range(32)


@jit(int64(int64))
def lowest_bit(mask: int) -> int:
    """The number of the lowest bit of a mask of 32 bits, not 0."""
    return _BITS[(mask & -mask) % _PRIME]
