"""Matches played from Python: bots of the process and processes, on servers of both kinds."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.system.processes import NO_LADDER, Processes, Server, eventually, processes_of

from meijin.arena import Arena, ArenaError, MatchResult, TestDecision, play_match
from meijin.arena.match_settings import MatchOptions
from meijin.bots import Bot, BotLoadError, Choice, Position, RandomBot
from meijin.game import Analysis, Color, Ending
from meijin.wire import Capabilities

SCRIPT = """
from meijin.arena import play_match
from meijin.bots import RandomBot
play_match(RandomBot(), "random", games=100_000, time="1/move")
"""


class Scholar(Bot):
    """Plays the first free cell, and says what it thinks of it."""

    capabilities = Capabilities(min_size=5)

    def choose(self, position: Position) -> Choice:
        """Take the first of them."""
        cell = position.legal_cells()[0]
        return Choice(cell, Analysis(score=7, depth=1, nodes=2, pv=(cell,)))


class Faulty(Bot):
    """Fails at every turn."""

    def choose(self, _position: Position) -> int:
        """Fail."""
        raise RuntimeError("no idea")


class Unready(Bot):
    """Fails before it connects."""

    def prepare(self) -> None:
        """Fail."""
        raise RuntimeError("no weights")

    def choose(self, position: Position) -> int:
        """Never be asked."""
        return position.legal_cells()[0]


@pytest.fixture(scope="module")
def told() -> list[str]:
    """What was told to people."""
    return []


@pytest.fixture(scope="module")
def arena(told: list[str]) -> Iterator[Arena]:
    """An arena with a server of its own, for all matches."""
    with Arena(tell=told.append) as opened:
        yield opened


def check(result: MatchResult, games: int) -> None:
    """The games are there, and their results are the score."""
    assert len(result.games) == result.wins + result.draws + result.losses == games
    points = 0.0
    for game in result.games:
        assert game.outcome is not None
        assert {game.black, game.white} == {result.first, result.second}
        color = Color.BLACK if game.black == result.first else Color.WHITE
        winner = game.outcome.winner
        points += 0.5 if winner is None else float(winner is color)
    assert result.score == points / games
    assert 2 * sum(result.pairs) <= games


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


def test_notebooks_have_a_running_loop(arena: Arena) -> None:
    """A match is played within one all the same."""

    async def cell() -> MatchResult:
        return arena.play_match(RandomBot(seed=1), Scholar(), games=2, variant="7x7")

    check(asyncio.run(cell()), 2)


def test_a_process_plays_a_test(arena: Arena, tmp_path: Path) -> None:
    """A file against a bot of this process, until a test is decided or the games are used up."""
    file = tmp_path / "firm.py"
    file.write_text(
        "from meijin.bots import Bot\n\n\nclass Firm(Bot):\n"
        "    def choose(self, position):\n        return position.legal_cells()[-1]\n"
    )
    result = arena.play_match(file, RandomBot(), games=20, sprt=(0, 5))
    check(result, 20)
    assert result.first == "firm"
    assert result.decision is TestDecision.OPEN
    assert "undecided after 20 games" in result.verdict


def test_a_failing_bot_is_told_in_its_games(arena: Arena) -> None:
    """It loses them by its own faults, and the result says so."""
    result = arena.play_match(Faulty(), RandomBot(), games=2)
    check(result, 2)
    assert result.faults == (2, 0)
    assert result.advantage is None
    assert "+0 =0 -2, 0.0% of 2 games\nthe results are all the same\n" in str(result)
    for game in result.games:
        assert game.outcome is not None
        assert game.outcome.ending is Ending.CRASH
        assert "no idea" in game.outcome.detail


def test_a_bot_that_does_not_come_ends_the_match(arena: Arena) -> None:
    """Whether it plays in this process or in one of its own; the arena can be used again."""
    with pytest.raises(ArenaError, match="unready ended: no weights"):
        arena.play_match(Unready(), RandomBot(), games=2)
    with pytest.raises(ArenaError, match=r"nowhere ended, exit status 1: no file nowhere\.py"):
        arena.play_match(Path("nowhere.py"), RandomBot(), games=2)
    check(arena.play_match(RandomBot(), RandomBot(), games=2), 2)


def test_a_bot_that_can_not_play_so_is_told_of(arena: Arena) -> None:
    """Before a game is planned that would wait for ever."""
    with pytest.raises(ArenaError, match="faulty needs boards of at least 15x15"):
        arena.play_match(Faulty(), RandomBot(), variant="7x7")


def test_a_process_that_dies_ends_the_match(arena: Arena, tmp_path: Path) -> None:
    """Its exit status and its log are named."""
    file = tmp_path / "leaver.py"
    file.write_text(
        "import os\nfrom meijin.bots import Bot\n\n\nclass Leaver(Bot):\n"
        "    def choose(self, position):\n        os._exit(3)\n"
    )
    with pytest.raises(ArenaError, match=r"leaver ended, exit status 3; see .*leaver\.log"):
        arena.play_match(file, RandomBot(), games=2)


def test_bots_of_a_server_play(processes: Processes) -> None:
    """By their names, and against a bot of this process that has a token."""
    server = Server(processes, "--registration=open", NO_LADDER)
    processes.start("ada", "bot", "run", "random", "--name=ada", f"--server={server.address}")
    eventually(lambda: "ada" in server.connected_bots())
    token = (server.data / "operator.token").read_text().strip()
    with Arena(server.address, token=token, tell=print) as arena:
        check(arena.play_match("ada", RandomBot(), games=2), 2)
        with pytest.raises(ArenaError, match='no bot "adam"; did you mean "ada"'):
            arena.play_match("adam", RandomBot(), games=2)
        with pytest.raises(BotLoadError, match=r"no file nowhere\.py"):
            arena.play_match("ada", Path("nowhere.py"))
    assert "ada" in server.connected_bots()


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
    """Before a bot is looked for."""
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
    assert (result.first, result.second) == ("random-1", "random-2")
    assert capsys.readouterr().out == ""
