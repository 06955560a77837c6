"""New connections, which the pool has not taken yet."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def closed_on_failure(connection: Any) -> Iterator[None]:  # noqa: ANN401 - the driver's own
    """Close a new connection whose preparation fails: nobody else would."""
    try:
        yield
    except BaseException:
        connection.close()
        raise
