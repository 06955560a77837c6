"""The files that hold a server's locks."""

import os
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy import create_engine

from meijin.store import FileClaim, StoreInUseError
from meijin.store.claims import AdvisoryClaim
from meijin.store.errors import ForeignLockError
from meijin.store.fence import Fence


def claim(path: Path) -> FileClaim:
    return FileClaim(path, of="the data")


def test_nobody_else_may_open_the_file(tmp_path: Path) -> None:
    """Whoever opens it may lock it; one that an earlier release left open to all is closed."""
    new, old = tmp_path / "new.lock", tmp_path / "old.lock"
    old.touch()
    old.chmod(0o666)
    for path in (new, old):
        with claim(path):
            assert path.stat().st_mode & 0o777 == 0o600


def test_a_claim_is_taken_once(tmp_path: Path) -> None:
    """And is free again after its release."""
    path = tmp_path / "server.lock"
    with claim(path), pytest.raises(StoreInUseError, match="running on the data"), claim(path):
        pass
    with claim(path):
        pass


def test_who_is_refused_is_told_where_the_server_is(tmp_path: Path) -> None:
    """But of an earlier one nothing."""
    path = tmp_path / "server.lock"
    for address, told in (("[::1]:7464", r"data at \[::1\]:7464; stop"), ("", "the data; stop")):
        first = claim(path)
        with first:
            first.tell(address)
            with pytest.raises(StoreInUseError, match=told), claim(path):
                pass


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """It would make a file elsewhere, or change the mode of one that is there."""
    path, target = tmp_path / "server.lock", tmp_path / "precious"
    target.write_text("kept")
    target.chmod(0o644)
    path.symlink_to(target)
    with pytest.raises(ForeignLockError, match="is a symbolic link; remove it"), claim(path):
        pass
    assert target.read_text() == "kept"
    assert target.stat().st_mode & 0o777 == 0o644


def test_a_pipe_is_no_lock(tmp_path: Path) -> None:
    """And opening it doesn't wait for its other end."""
    path = tmp_path / "server.lock"
    os.mkfifo(path)
    with pytest.raises(ForeignLockError, match="is no plain file"), claim(path):
        pass


def test_somebody_elses_file_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner might hold the lock forever."""
    path = tmp_path / "server.lock"
    path.touch()
    found = path.stat()
    foreign = os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))
    monkeypatch.setattr(os, "fstat", lambda _number: foreign)
    with pytest.raises(ForeignLockError, match=f"belongs to user {found.st_uid + 1}"), claim(path):
        pass


def test_a_connection_that_breaks_off_at_the_lock_is_closed() -> None:
    """The pool has not taken it yet, and nobody else would close it."""
    engine = create_engine("postgresql+psycopg://")
    broken = Mock()
    broken.cursor.side_effect = OSError("gone")
    claim = AdvisoryClaim(engine, Fence(engine))
    with pytest.raises(OSError, match="gone"):
        claim._lock(broken, None)
    broken.close.assert_called_once_with()
