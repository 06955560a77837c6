"""Players of real processes: bots of the SDK and engines, well and badly behaved."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import brain
from tests.processes import children_of, eventually, processes_of

from meijin.bots.bridge.dialogue import last_words
from meijin.bots.sdk.answer import RESIGN, Failure
from meijin.game import Board, Color, Ending, Outcome, TimeControl, Variant
from meijin.worker.engine_player import EnginePlayer
from meijin.worker.plan import SidePlan
from meijin.worker.players import GameStart, Player, PlayerError, PlaysManyError, Turn
from meijin.worker.sides import BotSide, EngineSide, Side

SECOND_NS = 1_000_000_000
CONTROL = TimeControl.parse("20/move")
WON = Outcome(Ending.FIVE, Color.BLACK)
HEAD = """
import os, time
from meijin.bots import RESIGN, Bot, Capabilities
class Mine(Bot):
    capabilities = Capabilities(max_games={games})
    def {method}:
        {body}
"""

MakeSide = Callable[..., Side]


@pytest.fixture
def side(tmp_path: Path) -> Iterator[MakeSide]:
    """Makes a side: a bot of a built-in name, one of a program, or an engine of a mode."""
    with ExitStack() as stack:

        def make(
            bot: str = "",
            body: str = "",
            mode: str = "",
            method: str = "choose(self, position)",
            games: int = 1,
        ) -> Side:
            made: Side
            if mode:
                made = EngineSide(SidePlan("mine", command=brain(mode)), Variant())
            else:
                path = tmp_path / "mine.py"
                if body:
                    path.write_text(HEAD.format(body=body, method=method, games=games))
                made = BotSide(SidePlan("mine", bot=bot or str(path)), tmp_path, tmp_path)
            stack.callback(made.close)
            return made

        yield make


def start(player: Player) -> None:
    player.get_ready(GameStart("1", Variant(), CONTROL, Color.BLACK, b"", "other"))


def turn(*moves: int, limit_ns: int = 20 * SECOND_NS) -> Turn:
    board = Board.from_moves(moves)
    return Turn(board, board.side_to_move, None, limit_ns, limit_ns, limit_ns)


def test_a_built_in_bot_is_forked_for_each_player(side: MakeSide) -> None:
    """What it says of itself is told once; each player has a process, and keeps it."""
    random = side("random")
    hello = random.find_out()
    assert (hello.bot_name, bool(hello.engine.digest)) == ("mine", True)
    one, other = random.player(0), random.player(1)
    for player in (one, other):
        start(player)
        thought = player.think(turn(112))
        assert isinstance(thought.action, int)
        assert thought.asked_ns < thought.answered_ns
        player.end(WON)
    one.close()
    start(other)
    assert isinstance(other.think(turn(112)).action, int)
    other.close()


def test_a_bot_that_raises_says_where(side: MakeSide) -> None:
    """It can go on: the process is the same for the next game."""
    made = side(body="return [position.board.ply][position.board.ply]")
    made.find_out()
    player = made.player(0)
    start(player)
    thought = player.think(turn(112))
    assert isinstance(thought.action, Failure)
    assert thought.action.message == "IndexError: list index out of range (mine.py, line 7)"
    assert "in choose" in str(thought.evidence["traceback"])
    player.end(None)
    start(player)
    assert player.think(turn()).action == 0
    player.close()


def test_a_bot_that_dies_is_named_and_replaced(side: MakeSide) -> None:
    made = side(body="os._exit(3) if position.board.ply else None; return RESIGN")
    made.find_out()
    player = made.player(0)
    start(player)
    thought = player.think(turn(112))
    assert thought.action == Failure("its process has ended, exit status 3")
    player.end(None)
    start(player)
    assert player.think(turn()).action is RESIGN
    player.close()


def test_a_bot_that_is_killed_between_games_is_replaced(side: MakeSide) -> None:
    made = side(body="return os.getpid() % 225")
    made.find_out()
    player = made.player(0)
    start(player)
    cell = player.think(turn()).action
    player.end(None)
    os.kill(player._pid, signal.SIGKILL)  # type: ignore[attr-defined]
    start(player)
    assert isinstance(player.think(turn()).action, int)
    assert isinstance(cell, int)
    player.close()


def test_a_bot_that_does_not_answer_is_ended(side: MakeSide, tmp_path: Path) -> None:
    """Nobody waits longer than its clock; nothing of it is left when the side is closed."""
    made = side(body="time.sleep(600)")
    made.find_out()
    player = made.player(0)
    start(player)
    assert player.think(turn(limit_ns=1000)).action is None
    player.end(None)
    player.close()
    made.close()
    eventually(lambda: not processes_of(tmp_path))


@pytest.mark.parametrize(
    ("body", "method", "games", "error", "words"),
    [
        ("1 / 0", "prepare(self)", 1, PlayerError, "mine can't be loaded: ZeroDivisionError"),
        ("os._exit(4)", "prepare(self)", 1, PlayerError, "exit status 4"),
        ("return [0]", "choose_many(self, positions)", 9, PlaysManyError, "mine"),
    ],
    ids=["raises", "ends", "plays many"],
)
def test_a_bot_that_can_not_be_had_says_why(  # noqa: PLR0917 - of a table
    side: MakeSide, body: str, method: str, games: int, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        side(body=body, method=method, games=games).find_out()


def test_an_engine_plays_game_after_game(side: MakeSide) -> None:
    """It is asked what it can do once, and stands ready with an empty board for each game."""
    made = side(mode="Brain")
    hello = made.find_out()
    assert (hello.engine.version, hello.capabilities.max_board_size) == ("1.5", 15)
    player = made.player(0)
    for _ in range(3):
        start(player)
        first = player.think(turn())
        assert first.action == 0
        assert player.think(turn(0, 112)).action == 1
        player.end(WON)
    player.close()


def test_an_engine_that_fails_is_replaced_for_the_next_game(side: MakeSide) -> None:
    """Its cause is told with what it wrote; the next game finds another process."""
    made = side(mode="DiesThird")
    made.find_out()
    player = made.player(0)
    for _ in range(2):
        start(player)  # with a trial move
        moves = [player.think(each).action for each in (turn(), turn(0, 112))]
        assert moves == [0, 1]
        thought = player.think(turn(0, 112, 1, 113))
        assert thought.action == Failure(
            "the engine has ended with status 7; it wrote: out of ideas"
        )
        assert thought.evidence["stderr"] == ["out of ideas"]
        assert str(thought.evidence["traceback"]).endswith("< 1,0\n> TURN 8,7")
        player.end(None)
    player.close()


@pytest.mark.parametrize(
    ("dialogue", "words"),
    [
        (["> TURN 7,7", "< 3,3", "> TURN 4,4"], "the engine said nothing"),
        (["> TURN 7,7", "< banana", "< split"], "the engine said only 'split'"),
    ],
)
def test_a_time_loss_says_what_came_instead(dialogue: list[str], words: str) -> None:
    assert last_words(dialogue) == words


def test_an_engine_that_can_not_be_asked_for_options_says_why() -> None:
    plan = SidePlan("mine", command=brain("DiesAtStart"), protocol="gomocup", options={"k": "1"})
    side = EngineSide(plan, Variant())
    with pytest.raises(PlayerError, match=r"mine can't be asked for its options: .*no licence"):
        side.check_options(["k"])
    side.close()


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads /proc")
def test_an_engine_that_may_not_ponder_stands_still() -> None:
    """Between its own turns alone."""
    plan = SidePlan("mine", command=brain("Brain"), is_suspended=True)
    side = EngineSide(plan, Variant())
    side.find_out()
    player = side.player(0)
    start(player)
    assert isinstance(player, EnginePlayer)
    assert player._session is not None
    (engine,) = children_of(player._session.process.pid)
    stat = Path(f"/proc/{engine}/stat")
    for moves in ((), (0, 224)):
        assert player.think(turn(*moves)).action is not None
        eventually(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")
    player.close()
    side.close()


def test_files_beside_an_engine_make_another_version(tmp_path: Path) -> None:
    """Named for a side, they are in the digest of what it says of itself."""
    weights, digests = tmp_path / "weights", set()
    for content in ("one", "two"):
        weights.write_text(content)
        side = EngineSide(SidePlan("mine", command=brain("Brain"), files=[str(weights)]), Variant())
        digests.add(side.find_out().engine.digest)
        side.close()
    assert len(digests) == 2
