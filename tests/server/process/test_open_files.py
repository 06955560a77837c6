"""How many files a process may open."""

import resource

import pytest

from meijin.server.process.open_files import MOST, OWN_FILES, allow_open_files, max_connections

ANY = resource.RLIM_INFINITY


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The limits of this process as they are set one after another, the present one last."""
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: found[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: found.append(limit))
    return found


@pytest.mark.parametrize(
    ("soft", "hard", "then"),
    [
        (1024, 4096, 4096),
        (1024, 2**20, MOST),
        (1024, ANY, MOST),
        (2**20, 2**20, 2**20),
        (ANY, ANY, ANY),
    ],
)
def test_as_many_are_allowed_as_may_be(
    limits: list[tuple[int, int]], soft: int, hard: int, then: int
) -> None:
    """The hard limit stays, and nobody who has more is given less."""
    limits.append((soft, hard))
    allow_open_files()
    assert limits[-1] == (then, hard)


@pytest.mark.parametrize(
    ("files", "connections"), [(1024, 1024 - OWN_FILES), (64, 32), (ANY, MOST - OWN_FILES)]
)
def test_connections_leave_some(
    limits: list[tuple[int, int]], files: int, connections: int
) -> None:
    """For the database, the log and the processes around the server."""
    limits.append((files, files))
    assert max_connections() == connections
