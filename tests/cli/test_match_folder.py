"""The folder of a local match."""

import tempfile
from pathlib import Path

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.match_folder import MatchFolder


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New folders are the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def fill(folder: Path) -> None:
    """What a server and a bot write."""
    for name in ("server.log", "ada.log", "meijin.db", "operator.token"):
        (folder / name).touch()
    (folder / "valkey").mkdir()


def test_nothing_stays(tmp_path: Path) -> None:
    """Of a match in which nothing went wrong."""
    with MatchFolder(None) as folder:
        fill(folder.path)
    assert not list(tmp_path.iterdir())


def test_logs_stay_where_they_are_wanted(tmp_path: Path) -> None:
    """And nothing else."""
    with MatchFolder(None) as folder:
        fill(folder.path)
        assert not folder.has_logs_to_keep
        logs = folder.keep_logs()
        assert folder.has_logs_to_keep
    assert {path.name for path in logs.iterdir()} == {"server.log", "ada.log"}
    assert list(tmp_path.iterdir()) == [logs]


def test_a_folder_that_is_given_stays_whole(tmp_path: Path) -> None:
    """It is made where there is none, and a file in its place is named."""
    with MatchFolder(tmp_path / "mine" / "match") as folder:
        fill(folder.path)
    assert len(list(folder.path.iterdir())) == 5
    with pytest.raises(CommandError, match=r"can't use .*ada\.log"):
        MatchFolder(folder.path / "ada.log")
