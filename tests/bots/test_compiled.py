"""Bots that search with the compiled core."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from typing import TYPE_CHECKING

import numba
import pytest

from meijin.bots.builtin.compiled import COMPILING, NOTICE_INTERVAL, CompiledBot, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from meijin.bots import Position

SOURCE = """
from meijin.bots.core.jit import int64, jit

@jit(int64(int64))
def add_one(number):
    return number + 1

@jit(int64(int64))
def add_two(number):
    return add_one(add_one(number))
"""


class TinyBot(CompiledBot):
    """A bot whose search is two functions in a file."""

    def __init__(self, source: Path) -> None:
        super().__init__()
        self._source = source

    def warm_up(self) -> None:
        """Import the file anew, as another process would."""
        spec = importlib.util.spec_from_file_location("tiny", self._source)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))

    def choose(self, position: Position) -> int:
        """Never asked."""
        raise NotImplementedError(position)


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> pytest.LogCaptureFixture:
    """What bots have said; compiled code is kept in a folder of the test's own."""
    importlib.import_module("meijin.bots.core.jit")  # sets the folder when it is first imported
    monkeypatch.setitem(vars(numba.config), "CACHE_DIR", str(tmp_path / "cache"))
    caplog.set_level(logging.INFO, "meijin.bots")
    return caplog


def start(folder: Path) -> None:
    """Start a bot that is installed in a folder."""
    source = folder / "tiny.py"
    if not source.exists():
        folder.mkdir()
        source.write_text(SOURCE)
    TinyBot(source).prepare()


COMPILED = [f"{COMPILING}, once; it takes a minute, or more on a busy machine"]
COMPILED += ["compiled the search: 2 functions"]


def test_says_that_it_compiles(tmp_path: Path, said: pytest.LogCaptureFixture) -> None:
    """Once; what is compiled already is loaded without a word."""
    start(tmp_path / "environment")
    assert said.messages == COMPILED
    said.clear()
    start(tmp_path / "environment")
    assert not said.messages


def test_says_so_in_a_second_environment(tmp_path: Path, said: pytest.LogCaptureFixture) -> None:
    """Code that was compiled for another installation is of no use to this one."""
    start(tmp_path / "environment")
    said.clear()
    start(tmp_path / "second")
    assert said.messages == COMPILED


def test_says_it_again_while_it_lasts(said: pytest.LogCaptureFixture) -> None:
    """Not with every function, but as time goes by."""
    later = NOTICE_INTERVAL.total_seconds()
    times = iter((0.0, 1.0, later, later + 1))
    progress = Progress(lambda: next(times))
    for functions in range(1, 5):
        progress.begin(functions)
    progress.end()
    assert said.messages == [
        COMPILED[0],
        f"{COMPILING}: 3 functions so far",
        "compiled the search: 4 functions",
    ]
