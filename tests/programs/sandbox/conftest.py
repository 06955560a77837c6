"""A real sandbox for the tests of a module."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.programs.sandbox.laboratory import Laboratory, skip_without


@pytest.fixture(scope="module")
async def laboratory() -> AsyncIterator[Laboratory]:
    """A sandbox of bubblewrap, where this machine can limit all that it limits."""
    with tempfile.TemporaryDirectory(prefix="meijin-laboratory-") as folder:
        sandbox = Laboratory(Path(folder))
        skip_without(sandbox.check())
        async with sandbox:
            yield sandbox
