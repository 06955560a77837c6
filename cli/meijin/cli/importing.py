"""Imports without garbage collection."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Leave what is imported to no garbage collection, now or later: it stays.

    Collections look through all modules a dozen times while a server's are imported: a fifth of
    the 1.4 s of processor time that this took.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
