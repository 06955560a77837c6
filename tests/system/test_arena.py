"""Matches played from Python: bots of the process and processes, on servers of both kinds."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.processes import Processes, eventually, processes_of
from tests.system.server import NO_LADDER, Server

from meijin.bots import Bot, BotLoadError, Choice, Position, RandomBot
from meijin.game import Analysis, Ending
from meijin.local import Arena, ArenaError, MatchResult, TestDecision, play_match
from meijin.local.connection import get_tournament
from meijin.local.first_fault import first_faults
from meijin.local.match_play import finished_games
from meijin.local.match_result import result_of
from meijin.local.match_settings import MatchOptions
from meijin.wire.capabilities import Capabilities

SCRIPT = """
from meijin.local import play_match
from meijin.bots import RandomBot
play_match(RandomBot(), "random", games=100_000, time="1/move")
"""
PROGRAM = """
import os
from meijin.bots import Bot


class Filed(Bot):
    def choose(self, position):
        {}
"""


class Scholar(Bot):
    """Plays the first free cell, and says what it thinks of it."""

    capabilities = Capabilities(min_size=5)

    def choose(self, position: Position) -> Choice:
        cell = position.legal_cells()[0]
        return Choice(cell, Analysis(score=7, depth=1, nodes=2, pv=(cell,)))


class Faulty(Bot):
    """Fails at every turn."""

    def choose(self, _position: Position) -> int:
        raise RuntimeError("no idea")


class Unready(RandomBot):
    """Fails before it connects."""

    def prepare(self) -> None:
        raise RuntimeError("no weights")


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def arena(told: list[str]) -> Iterator[Arena]:
    with Arena(tell=told.append) as opened:
        yield opened


def check(result: MatchResult, games: int) -> None:
    """Every game has its place in the result, whose arithmetic has tests of its own."""
    assert len(result.games) == result.wins + result.draws + result.losses == games
    assert all({game.black, game.white} == {result.first, result.second} for game in result.games)


def test_bots_of_the_process_play(arena: Arena) -> None:
    """With their openings, times and analysis; each opening is played with both colours."""
    result = arena.play_match(
        Scholar(), RandomBot(seed=1), games=4, seed=1, openings=["h8 i9", "h8 i8"]
    )
    check(result, 4)
    assert (result.first, result.second) == ("scholar", "random")
    assert [game.opening_plies for game in result.games] == [2] * 4
    assert [game.black for game in result.games].count("scholar") == 2
    game = result.games[0]
    ply = next(ply for ply in range(2, 4) if (ply % 2 == 0) == (game.black == "scholar"))
    assert game.analysis[ply] == Analysis(score=7, depth=1, nodes=2, pv=(game.moves[ply],))
    assert all(time.total_seconds() >= 0 for time in game.times)
    assert game._repr_svg_().startswith("<svg")


def test_functions_play(arena: Arena) -> None:
    """Under their names, by cells or by points, and what they raise is theirs."""

    def last(position: Position) -> int:
        return position.legal_cells()[-1]

    result = arena.play_match(last, lambda _: "z9", games=2, variant="9x9")
    check(result, 2)
    assert (result.first, result.second) == ("last", "lambda")
    assert (result.wins, result.faults) == (2, (0, 2))
    outcome = result.games[0].outcome
    assert outcome is not None
    assert outcome.detail == "ValueError: column 25, row 0 is off the 9x9 board"


def test_notebooks_have_a_running_loop(arena: Arena) -> None:
    """A match is played within one all the same; each side may have its clock."""

    async def cell() -> MatchResult:
        return arena.play_match(
            RandomBot(seed=1), Scholar(), games=2, variant="7x7", time=("20", "30")
        )

    check(asyncio.run(cell()), 2)
    with pytest.raises(ArenaError, match="time_controls"):
        arena.play_match(Scholar(), RandomBot(), time=("20", "30", "40"))  # type: ignore[arg-type]


def test_a_process_plays_a_test(arena: Arena, tmp_path: Path) -> None:
    """A file against a bot with an option, until a test is decided or the games are used up."""
    (tmp_path / "firm.py").write_text(PROGRAM.format("return position.legal_cells()[-1]"))
    seeded = ["random", "option.seed=1"]
    result = arena.play_match(tmp_path / "firm.py", seeded, games=20, sprt=(0, 5))
    check(result, 20)
    assert (result.first, result.second) == ("firm", "random")
    assert result.decision is TestDecision.OPEN
    assert "undecided after 20 games" in result.verdict


def test_a_failing_bot_is_told_in_its_games(arena: Arena) -> None:
    """It loses them by its own faults, and the result says so; this many may end the match."""
    result = arena.play_match(Faulty(), RandomBot(), games=2)
    check(result, 2)
    assert result.faults == (2, 0)
    assert result.advantage is None
    assert result.elo_bound is not None
    assert f"Elo below {result.elo_bound:+.0f} (95%)" in str(result)
    (fault,) = result.first_faults
    assert "no idea" in fault.text
    assert str(result).splitlines()[3:] == fault.lines()
    for game in result.games:
        assert game.outcome is not None
        assert game.outcome.ending is Ending.CRASH
        assert "no idea" in game.outcome.detail
    result = arena.play_match(RandomBot(), Faulty(), games=1000, max_faults=3)
    assert 3 <= result.faults[1] == len(result.games) < 1000
    assert result.verdict.startswith("faulty has lost 3 games by its own faults; the last: crash")


def test_a_bot_that_takes_long_is_told_of(
    arena: Arena, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meijin.local.match_play.NOTICE_INTERVAL", timedelta(0))
    begin = "not ready yet: patient"

    class Patient(RandomBot):
        def prepare(self) -> None:
            eventually(lambda: any(line.startswith(begin) for line in told))

    check(arena.play_match(Patient(), RandomBot(), games=2), 2)
    assert sum(line.startswith(begin) for line in told) == 1


def test_a_bot_that_does_not_come_ends_the_match(arena: Arena, tmp_path: Path) -> None:
    """Or that leaves, or that can't play so; the arena can be used again."""
    leaver = tmp_path / "leaver.py"
    leaver.write_text(PROGRAM.format("os._exit(3)"))
    for bot, reason in (
        (Unready(), "unready ended: no weights"),
        (leaver, r"leaver ended, exit status 3: .*; see .*leaver\.log"),
    ):
        with pytest.raises(ArenaError, match=reason):
            arena.play_match(bot, RandomBot(), games=2)
    with pytest.raises(BotLoadError, match=r"no file nowhere\.py"):
        arena.play_match(Path("nowhere.py"), RandomBot())
    with pytest.raises(TypeError, match="RandomBot'> is no bot; give an instance"):
        arena.play_match(RandomBot, RandomBot())  # type: ignore[arg-type]
    with pytest.raises(ArenaError, match="faulty needs boards of at least 15x15"):
        arena.play_match(Faulty(), RandomBot(), variant="7x7")
    with pytest.raises(BotLoadError, match=r"no file nowhere\.py"):
        arena.play_match(Path("nowhere.py"), RandomBot())
    check(arena.play_match(RandomBot(), RandomBot(), games=2), 2)


def test_bots_of_a_server_play(processes: Processes) -> None:
    """By their names, and against a bot of this process that has a token."""
    server = Server(processes, "--registration=open", NO_LADDER)
    server.run_bots(ada="random")
    with Arena(server.address, token=server.token, tell=print) as arena:
        check(arena.play_match("ada", RandomBot(), games=2), 2)
        with pytest.raises(ArenaError, match='no bot "adam"; did you mean "ada"'):
            arena.play_match("adam", RandomBot(), games=2)
        with pytest.raises(BotLoadError, match=r"no file nowhere\.py"):
            arena.play_match("ada", Path("nowhere.py"))
    assert "ada" in server.connected_bots()


@pytest.mark.parametrize("terms", [("--games=6",), ("--games=20", "--sprt=-200,200")])
def test_the_terminal_says_the_same(processes: Processes, terms: tuple[str, ...]) -> None:
    """Of one match, line by line; meanwhile too, and when it is shown again."""
    server = Server(processes, "--registration=open", NO_LADDER)
    server.run_bots(ada="random", bob="random")
    done = server.run("match", "ada", "bob", "--time=5/move", "--rating-interval=2", *terms)
    response = get_tournament(server.connection, "1", with_match_report=True)
    games = finished_games(server.connection, "1")
    result = result_of(response, games, first_faults(server.connection, games))
    lines = str(result).splitlines()
    assert len(lines) == (5 if result.verdict else 3)
    assert done.stdout.splitlines() == lines
    assert "ada against bob: " in done.stderr
    assert set(lines) < set(server.tell("tournament", "show", "1").splitlines())


def test_an_interrupted_script_leaves_nothing(processes: Processes) -> None:
    """Ctrl-C ends its processes and removes its folder; a bot's games may be half played."""
    script = processes.start_command(
        "script", sys.executable, "-c", SCRIPT, TMPDIR=str(processes.folder)
    )
    logs = "meijin-*/random-2.log"
    eventually(lambda: any("connected" in log.read_text() for log in processes.folder.glob(logs)))
    assert len(processes_of(processes.folder)) > 2
    assert script.stop(signal.SIGINT) == -signal.SIGINT
    assert "KeyboardInterrupt" in script.words
    assert processes_of(processes.folder) == set()
    assert list(processes.folder.glob("meijin-*")) == []


def test_a_match_needs_an_open_arena() -> None:
    """And settings that can be; nothing is started before."""
    with pytest.raises(ArenaError, match="with Arena"):
        Arena().play_match("random", "random")
    with pytest.raises(ValueError, match="data goes with"):
        Arena("localhost", data="here")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (MatchOptions(variant="15y15"), '"15y15" is no variant'),
        (MatchOptions(time="soon"), "soon"),
        (MatchOptions(openings=["h8 z99"]), "column 25"),
        (MatchOptions(opening_rule="first"), "the opening rules are free"),
    ],
)
def test_settings_are_looked_at_first(arena: Arena, settings: MatchOptions, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        arena.play_match("nobody", "random", **settings)


def test_one_match_needs_no_arena(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has one for itself; a token for another server is not heard of."""
    monkeypatch.setenv("MEIJIN_TOKEN", "secret")
    first, second = RandomBot(seed=1), RandomBot(seed=2)
    result = play_match(first, second, games=2, variant="7x7", time="5+0.1")
    check(result, 2)
    assert (result.first, result.second) == ("random:seed=1", "random:seed=2")
    assert capsys.readouterr().out == ""
