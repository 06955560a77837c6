"""A bot as an engine, line by line."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Analysis, Bot, Capabilities, Choice, Position
from meijin.bots.bridge.brain import Brain
from meijin.bots.bridge.gomocup import RULE_NUMBERS
from meijin.bots.sdk.answer import RESIGN, Answer
from meijin.game import FREESTYLE, OPENING_RULES, RULES, STANDARD, Color


class FirstCell(Bot):
    """Plays on the first cell, and keeps what it was asked."""

    capabilities = Capabilities(rules=(FREESTYLE, STANDARD), min_size=5, max_size=20)

    def __init__(self) -> None:
        self.asked: list[Position] = []
        self.ended = 0

    def choose(self, position: Position) -> Answer:
        self.asked.append(position)
        return position.legal_cells()[0]

    def game_ended(self, game_id: str, outcome: object) -> None:  # noqa: ARG002 - a hook
        self.ended += 1


def answers(bot: Bot, *lines: str) -> list[str]:
    brain = Brain(bot)
    return [answer for line in lines for answer in brain.answer(line)]


def test_what_a_bot_is_is_told_before_it_is_ready() -> None:
    """A board is set up when it is: it says OK no earlier, and no move waits for a search."""
    ready: list[str] = []
    brain = Brain(FirstCell(), lambda: ready.append("waited"))
    assert [*brain.answer("ABOUT"), *brain.answer("INFO timeout_turn 9")][0].startswith("name=")
    assert not ready
    assert [*brain.answer("START 15")] == ["OK"]
    assert ready == ["waited"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        pytest.param(
            ["START 15", "BEGIN", "TURN 7,7", "TURN  1 , 0", "END"],
            ["OK", "0,0", "1,0", "ERROR b15 is occupied"],
            id="a game",
        ),
        pytest.param(
            ["START 21"], ["ERROR unsupported size: 5 to 20 are played"], id="a large one"
        ),
        pytest.param(
            ["START big", "START -5", "RECTSTART 9"],
            [*["ERROR START needs a size"] * 2, "ERROR RECTSTART needs a width and a height"],
            id="sizes that are none",
        ),
        pytest.param(["RECTSTART 6,8", "TURN 5,7"], ["OK", "0,0"], id="a rectangle"),
        pytest.param(
            ["BEGIN", "TURN 1,1", "BOARD", "RESTART", "TAKEBACK 1,1"],
            ["ERROR no board; START comes first"] * 5,
            id="nothing before START",
        ),
        pytest.param(
            ["START 15", "BEGIN", "TAKEBACK 5,5", "TAKEBACK 0,0", "PLAY 3,4", "TURN 9,9"],
            ["OK", "0,0", "ERROR no stone stands there", "OK", "3,4", "0,0"],
            id="stones taken back and put down",
        ),
        pytest.param(
            ["START 15", "PLAY 0,0", "PLAY 1,0", "TAKEBACK 0,0", "TURN here"],
            [
                *("OK", "0,0", "1,0", "ERROR stones are taken back from the last on"),
                "ERROR a move is written x,y",
            ],
            id="the last stone first",
        ),
        pytest.param(
            ["START 15", "INFO rule 2", "BEGIN", "INFO rule 0", "BEGIN", "BEGIN"],
            ["OK", "ERROR rule 2 is not played", "0,0", "ERROR the board is not empty"],
            id="a rule that isn't played",
        ),
        pytest.param(
            ["YXSTOP", "INFO x y", "INFO", "", "  "],
            ["UNKNOWN command YXSTOP"],
            id="unknown commands and keys",
        ),
        pytest.param(
            ["START 15", "SWAP2BOARD", "0,0", "1,0", "2,0", "DONE", "BEGIN"],
            ["OK", "UNKNOWN swap2 is not played", "0,0"],
            id="an opening rule that isn't played",
        ),
    ],
)
def test_dialogues(lines: Sequence[str], told: list[str]) -> None:
    """What is answered to what."""
    assert answers(FirstCell(), *lines) == told


def test_about() -> None:
    """The name and the version of the bot."""
    assert answers(FirstCell(), "about")[0].startswith('name="first-cell", version="1", author=')


@pytest.mark.parametrize(
    ("lines", "moves"),
    [
        (("0,0,2", "5,5,1", "1,0,2"), [0, 80, 1]),
        (("3,3,1", "4,4,2"), [48, 64]),
        ((), []),
        *((lines, None) for lines in (("0,0,1",), ("0,0,3",), ("0,0,2", "0,0,1"), ("99,0,2",))),
        *(((line,), None) for line in ("0,0", "nonsense")),
        ([f"{x},{y},{2 - y % 2}" for x in range(5) for y in (0, 1)], None),  # a five
    ],
)
def test_board(lines: Sequence[str], moves: list[int] | None) -> None:
    """Stones of both sides, in turn, black to move where there are as many; or it is refused.

    Then the next one is read.
    """
    bot = FirstCell()
    told = answers(bot, "START 15", "BOARD", *lines, "DONE", "BOARD", "DONE")
    assert told[0] == "OK"
    if moves is None:
        assert told[1].startswith("ERROR")
        assert told[2] == "0,0"
    else:
        assert list(bot.asked[0].board.moves) == moves


def test_restart() -> None:
    """The board is empty again, and the bot hears of the end of the game."""
    bot = FirstCell()
    assert answers(bot, "START 15", "BEGIN", "RESTART", "BEGIN", "END") == ["OK", "0,0"] * 2
    assert bot.ended == 2
    assert len({position.game_id for position in bot.asked}) == 2


@pytest.mark.parametrize(("name", "number"), RULE_NUMBERS.items())
def test_numbers_of_rules(name: str, number: int) -> None:
    """A bot that plays all rules is asked for each by its number, told before START or after."""

    class All(FirstCell):
        capabilities = replace(FirstCell.capabilities, rules=tuple(RULES.values()))

    for lines in (("START 15", f"INFO rule {number}"), (f"INFO rule {number}", "START 15")):
        bot = All()
        assert answers(bot, *lines, "BEGIN") == ["OK", "0,0"]
        assert bot.asked[-1].variant.rule.name == name


@pytest.mark.parametrize(
    ("info", "move_ms", "clock_ms"),
    [
        (("timeout_turn 1000", "timeout_match 60000", "time_left 5000"), 1000, 5000),
        (("timeout_turn 0", "time_left 2147483647"), 50, 50),
        (("timeout_turn 1000", "timeout_match 60000", "time_left -40"), 50, 50),
    ],
)
def test_time(info: Sequence[str], move_ms: int, clock_ms: int) -> None:
    """What INFO says of the time is the clock of the turn."""
    bot = FirstCell()
    answers(bot, "START 15", *(f"INFO {each}" for each in info), "BEGIN")
    assert (bot.asked[-1].move_ms, bot.asked[-1].clock_ms) == (move_ms, clock_ms)


class Swapper(FirstCell):
    """Places stones on the first cells, and takes the side that it is told, or places more."""

    capabilities = replace(FirstCell.capabilities, opening_rules=tuple(OPENING_RULES.values()))

    def __init__(self, side: Color | None = None) -> None:
        super().__init__()
        self.side = side

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        self.asked.append(position)
        return position.legal_cells()[:stones]

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int]:
        self.asked.append(position)
        return self.side or position.legal_cells()[:stones]


THREE = ("0,0", "1,0", "2,0")
FIVE = (*THREE, "3,0", "4,0")


@pytest.mark.parametrize(
    ("side", "lines", "told", "color"),
    [
        (None, ("SWAP2BOARD",), "0,0 1,0 2,0", Color.BLACK),
        (Color.BLACK, ("SWAP2BOARD", *THREE), "SWAP", Color.WHITE),
        (Color.WHITE, ("SWAP2BOARD", *THREE), "3,0", Color.WHITE),
        (None, ("SWAP2BOARD", *THREE), "3,0 4,0", Color.WHITE),
        (Color.BLACK, ("SWAP2BOARD", *FIVE), "SWAP", Color.BLACK),
        (Color.WHITE, ("swap2board", *FIVE), "5,0", Color.BLACK),
        (None, ("SWAPBOARD",), "0,0 1,0 2,0", Color.BLACK),
        (Color.BLACK, ("SWAPBOARD", *THREE), "SWAP", Color.WHITE),
        (None, ("SWAP1STBOARD",), "0,0", Color.BLACK),
        (Color.WHITE, ("SWAP1STBOARD", "0,0"), "1,0", Color.WHITE),
    ],
)
def test_openings(side: Color | None, lines: Sequence[str], told: str, color: Color) -> None:
    """Stones, SWAP for black, or a move for white; the bot knows which side it has so far."""
    bot = Swapper(side)
    assert answers(bot, "START 15", *lines, "DONE") == ["OK", told]
    assert bot.asked[0].color is color
    assert bot.asked[0].variant.opening_rule.name.startswith("swap")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("SWAP2BOARD", "0,0"), "swap2 has no choice after 1 stones"),
        (("SWAPBOARD", *FIVE), "swap has no choice after 5 stones"),
        (("SWAP2BOARD", "0,0", "0,0", "1,1"), "occupied"),
        (("SWAP2BOARD", "0,0,1", "1,1,2", "2,2,1"), "stones are 225 lines x,y at most"),
        (("SWAP2BOARD", "0,0", "1,1", "15,2"), "off the 15x15 board"),
        (("SWAPBOARD", *THREE), "swapper places 0 stones, asked to choose a side"),
    ],
)
def test_opening_that_is_none(lines: Sequence[str], words: str) -> None:
    """It is refused once, at its end, and the next game is played."""
    told = answers(Swapper(), "START 15", *lines, "DONE", "RESTART", "BEGIN")
    assert told[1].startswith("ERROR")
    assert words in told[1]
    assert told[2:] == ["OK", "0,0"]


def test_game_after_an_opening() -> None:
    """The stones of the opening stand on the board, whether the next come by TURN or by BOARD."""
    lines = ("SWAP2BOARD", *THREE, "DONE")
    assert answers(Swapper(Color.BLACK), "START 15", *lines, "TURN 3,0")[1:] == ["SWAP", "4,0"]
    board = ("BOARD", "0,0,1", "1,0,2", "2,0,1", "9,9,2", "DONE")
    assert answers(Swapper(Color.BLACK), "START 15", *lines, *board)[1:] == ["SWAP", "3,0"]


def test_analysis_is_a_message() -> None:
    """What the bot has found comes before its move; a resignation is a move."""

    class Talker(FirstCell):
        def choose(self, position: Position) -> Answer:
            match len(position.board.moves):
                case 0:
                    return Choice(112, Analysis(score=5, depth=3, nodes=9, pv=[112, 98]))
                case 2:
                    return Choice(113, Analysis(nodes=9))
            return RESIGN

    assert answers(Talker(), "START 15", "BEGIN", "TURN 0,0", "TURN 1,0") == [
        "OK",
        "MESSAGE depth 3 eval 5 nodes 9 bestline [7,7] [8,6]",
        "7,7",
        "MESSAGE nodes 9",
        "8,7",
        "2,0",
    ]


class Async(Bot):
    """Is asked for a move, and waited for."""

    capabilities = FirstCell.capabilities

    async def choose(self, position: Position) -> Answer:  # noqa: ARG002 - see Bot
        return 7


class Many(Bot):
    """Is asked for many moves at once."""

    capabilities = FirstCell.capabilities

    async def choose_many(self, positions: Sequence[Position]) -> Sequence[Answer]:
        return [7 for _ in positions]


@pytest.mark.parametrize("kind", [Async, Many])
def test_bots_of_other_kinds(kind: type[Bot]) -> None:
    """A bot may be asynchronous, or answer many at once."""
    assert answers(kind(), "START 15", "BEGIN") == ["OK", "7,0"]


COMMANDS = ["START", "TURN", "BOARD", "INFO", "TAKEBACK", "RECTSTART", "PLAY", "SWAP2BOARD"]
LINES = st.text(max_size=30) | st.builds(
    "{} {}".format, st.sampled_from(COMMANDS), st.text("0123456789,- ", max_size=8)
)


@given(st.lists(LINES, max_size=12))
def test_garbage(lines: list[str]) -> None:
    """Whatever comes, the brain answers in its own words, and still plays."""
    told = answers(FirstCell(), *lines, "DONE", "START 15", "RESTART")
    assert all(answer.isprintable() for answer in told)
    assert told[-1] == "OK"
