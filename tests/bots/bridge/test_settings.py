"""Engines' commands, and the time that they are told of."""

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Position
from meijin.bots.bridge.dialogue import EngineStartError, EngineTime
from meijin.bots.bridge.settings import (
    NO_LIMITS,
    EngineLimits,
    WrapSettings,
    display_name,
    engine_time,
    find_command,
    program_files,
    threads_of,
    unnamed_files,
    worst_overrun,
)
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.game import Board, TimeControl


def program(folder: Path, name: str, mode: int = 0o755) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_program_on_the_path_or_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either is found, with its whole path; its arguments stay as they are."""
    path = program(tmp_path, "pbrain-mine")
    assert find_command([str(path), "-x", "./y"]) == [str(path), "-x", "./y"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_command(["pbrain-mine"]) == [str(path)]


def test_program_that_is_none(tmp_path: Path) -> None:
    """The message says what to do."""
    for words, error in (
        ([], "give its command behind --"),
        ([str(tmp_path / "nothing")], "no program .*nothing; give its path"),
        ([str(tmp_path)], "is a folder"),
        ([str(program(tmp_path, "text", 0o644))], r"can't be run; chmod \+x"),
        ([str(tmp_path / "nothing.exe")], "no file"),
    ):
        with pytest.raises(EngineStartError, match=error):
            find_command(words)


def test_windows_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is run by wine where that is installed, and refused where it isn't."""
    engine = program(tmp_path, "pbrain-win.EXE", 0o644)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineStartError, match="wine, which would run it, is not installed"):
        find_command([str(engine)])
    wine = program(tmp_path, "wine")
    assert find_command([str(engine), "x"]) == [str(wine), str(engine), "x"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/opt/pbrain-rapfi"], "rapfi"),
        (["/usr/bin/wine", "/opt/pbrain-Yixin2018.exe"], "Yixin2018"),
        ([sys.executable, "-S", "brains.py", "mode"], "brains"),
        (["/usr/bin/python3"], "python3"),
        (["/opt/my engine (new)"], "my-engine-new"),
        (["/opt/\u65e5\u672c"], "engine"),
        (["/opt/" + "x" * 90], "x" * 40),
    ],
)
def test_names(command: list[str], name: str) -> None:
    """An engine is called what its file is, as far as a bot may be."""
    assert display_name(command) == name


def position(control: str, left_ms: int | None = None) -> Position:
    made = Position(Board(), TimeControl.parse(control))
    if left_ms is not None:
        made.set_clocks(left_ms, left_ms)
    return made


@pytest.mark.parametrize(
    ("control", "left_ms", "told"),
    [
        ("5/move", None, EngineTime(4900, 0, None)),  # the cap less the margin
        ("60+0.5", 30_000, EngineTime(5400, 59_900, 29_900)),  # a share of clock and increment
        ("60,2/move", None, EngineTime(1900, 59_900, 59_900)),  # whichever is less
    ],
)
def test_time(control: str, left_ms: int | None, told: EngineTime) -> None:
    """What a move may take, and what is left of the game, less the margin."""
    assert engine_time(position(control, left_ms)) == told


def test_overrun_is_kept_back() -> None:
    """What the engine took beyond its time is kept back as well, half of the time at most."""
    late = timedelta(milliseconds=300)
    assert engine_time(position("5/move"), overrun=late).turn_ms == 4600
    assert engine_time(position("5/move"), overrun=timedelta(hours=1)).turn_ms == 2400


def test_the_road_is_kept_back() -> None:
    """What the last move lost on it beyond the margin, half of the time at most."""
    made = position("5/move")
    made.lost_us = 80_000
    assert engine_time(made).turn_ms == 4900
    made.lost_us = 700_000
    assert engine_time(made).turn_ms == 4300
    made.lost_us = 60_000_000
    assert engine_time(made).turn_ms == 2400


@given(
    st.integers(1, 100_000),
    st.integers(1, 100_000),
    st.integers(0, 60_000),
    st.integers(0, 60_000),
)
def test_time_is_told_that_there_is(left: int, cap: int, margin: int, overrun: int) -> None:
    """However little is left, it is more than nothing, and no more than there is but for 5 ms."""
    control = TimeControl(timedelta(seconds=60), per_move=timedelta(milliseconds=cap))
    made = Position(Board(), control)
    made.set_clocks(left, left)
    told = engine_time(made, timedelta(milliseconds=margin), timedelta(milliseconds=overrun))
    assert 5 <= told.turn_ms <= max(5, min(left, cap))
    assert told.left_ms is not None
    assert 5 <= told.left_ms <= max(5, left)


def test_overrun_is_forgotten_slowly() -> None:
    """The worst counts, and less with each move that is in time."""
    second = timedelta(seconds=1)
    overrun = worst_overrun(timedelta(0), second, 1.5 * second)
    assert overrun == second / 2
    assert worst_overrun(overrun, second, second / 2) == 0.45 * second
    for _ in range(100):
        overrun = worst_overrun(overrun, second, second / 2)
    assert overrun < timedelta(milliseconds=1)


def test_what_an_engine_plays_with_is_its_configuration() -> None:
    """Its arguments, its memory and its own options, each of which makes another version."""
    bots = [
        WrappedBot(WrapSettings(("engine", "--quick"), limits=limits, options={"thread_num": "4"}))
        for limits in (EngineLimits(memory=2**20), EngineLimits(memory=2**21), NO_LIMITS)
    ]
    assert [dict(bot.configuration) for bot in bots] == [
        {"arguments": "--quick", "memory": "1048576 bytes", "thread_num": "4"},
        {"arguments": "--quick", "memory": "2097152 bytes", "thread_num": "4"},
        {"arguments": "--quick", "thread_num": "4"},
    ]
    assert len({bot.digest for bot in bots}) == 3


def test_what_an_engine_plays_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are named are part of its version; those beside it that nobody names are told of."""
    engine = program(tmp_path, "pbrain-mine")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "weights").mkdir()
    weights = tmp_path / "weights" / "net.bin"
    weights.write_bytes(b"1")
    (tmp_path / "config.toml").write_text("")
    settings = WrapSettings(command=["pbrain-mine"], files=(tmp_path / "weights",))
    digests = set()
    for file, text in ((engine, b"1"), (engine, b"2"), (weights, b"2")):
        file.write_bytes(text)
        digests.add(WrappedBot(settings).digest)
    assert len(digests) == 3
    settings = WrapSettings(command=[str(engine)], files=(tmp_path / "weights",))
    monkeypatch.setenv("PATH", "/nowhere")
    assert unnamed_files(settings) == ["config.toml"]
    with pytest.raises(EngineStartError, match=r"no file .*absent"):
        program_files(WrapSettings(command=["x"], files=(tmp_path / "absent",)))


@pytest.mark.parametrize(
    ("options", "threads"),
    [
        ({}, None),
        ({"depth": "3"}, None),
        ({"Threads": "4"}, 4),
        ({"thread_num": "2", "THREADS": "8"}, 8),
        ({"threads": "0"}, None),
        ({"threads": "auto"}, None),
        ({"threads": "9" * 5000}, None),
        ({"threads": "65537"}, None),
    ],
)
def test_options_say_how_many_threads(options: dict[str, str], threads: int | None) -> None:
    """Where they don't it is unknown; the bot of an engine says so, and what memory it has."""
    assert threads_of(options) == threads
    limits = EngineLimits(memory=2**28)
    bot = WrappedBot(WrapSettings([sys.executable], options=options, limits=limits))
    assert (bot.search_threads, bot.memory_bytes) == (threads, 2**28)
    bot.close()
