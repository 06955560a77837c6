from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes import Processes
from tests.system.server import NO_LADDER, Server


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Starts processes in the test's own folder; all are gone at the end."""
    processes = Processes(tmp_path)
    yield processes
    processes.kill_all()


@pytest.fixture
def server(processes: Processes) -> Server:
    """A server that anybody may play at, without a ladder."""
    return Server(processes, "--open", NO_LADDER)


@pytest.fixture(scope="module")
def guarded_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks for tokens, for all tests of a module."""
    processes = Processes(tmp_path_factory.mktemp("arena"))
    yield Server(processes)
    processes.kill_all()
