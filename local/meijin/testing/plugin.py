"""The pytest plugin: ``pytest_plugins = ["meijin.testing.plugin"]`` in a ``conftest.py``."""

from collections.abc import Iterator

import pytest

from meijin.testing.running_server import RunningServer, run_server


@pytest.fixture
def meijin_server() -> Iterator[RunningServer]:
    """A server of the test's own; bots play on it until the test ends."""
    with run_server() as server:
        yield server
