"""A bot as an engine, line by line."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Analysis, Bot, Capabilities, Choice, Position
from meijin.bots.bridge.brain import Brain
from meijin.bots.bridge.rules import RULE_NUMBERS
from meijin.bots.sdk.answer import RESIGN, Answer
from meijin.game import FREESTYLE, OPENING_RULES, RULES, STANDARD, Color


class FirstCell(Bot):
    """Plays on the first cell, and keeps what it was asked."""

    capabilities = Capabilities(rules=(FREESTYLE, STANDARD), min_size=5, max_size=20)

    def __init__(self) -> None:
        self.asked: list[Position] = []
        self.ended = 0

    def choose(self, position: Position) -> Answer:
        """The first cell."""
        self.asked.append(position)
        return position.legal_cells()[0]

    def game_ended(self, game_id: str, outcome: object) -> None:  # noqa: ARG002 - a hook
        """Count."""
        self.ended += 1


def answers(bot: Bot, *lines: str) -> list[str]:
    """What a new brain answers to lines."""
    brain = Brain(bot)
    return [answer for line in lines for answer in brain.answer(line)]


def test_a_game() -> None:
    """START, BEGIN and TURN."""
    lines = ("START 15", "BEGIN", "TURN 7,7", "TURN  1 , 0", "END")
    assert answers(FirstCell(), *lines) == ["OK", "0,0", "1,0", "ERROR b15 is occupied"]


def test_about() -> None:
    """The name and the version of the bot."""
    assert answers(FirstCell(), "about")[0].startswith('name="first-cell", version="1", author=')


@pytest.mark.parametrize(
    ("lines", "moves"),
    [
        (("0,0,2", "5,5,1", "1,0,2"), [0, 80, 1]),
        (("3,3,1", "4,4,2"), [48, 64]),
        ((), []),
    ],
)
def test_board(lines: Sequence[str], moves: list[int]) -> None:
    """Stones of both sides, in turn; black is to move where there are as many."""
    bot = FirstCell()
    assert answers(bot, "START 15", "BOARD", *lines, "DONE")[0] == "OK"
    assert list(bot.asked[0].board.moves) == moves


@pytest.mark.parametrize(
    "lines",
    [("0,0,1",), ("0,0,3",), ("0,0,2", "0,0,1"), ("99,0,2",), ("0,0",), ("nonsense",)],
)
def test_board_that_is_none(lines: Sequence[str]) -> None:
    """It is refused, and the next one is read."""
    told = answers(FirstCell(), "START 15", "BOARD", *lines, "DONE", "BOARD", "DONE")
    assert told[0] == "OK"
    assert told[1].startswith("ERROR")
    assert told[-1] == "0,0"


def test_sizes() -> None:
    """Sizes beyond its capabilities are refused; boards need not be square."""
    bot = FirstCell()
    assert answers(bot, "START 21")[0].startswith("ERROR unsupported size")
    assert answers(bot, "START big", "START -5", "RECTSTART 9") == [
        "ERROR START needs a size",
        "ERROR START needs a size",
        "ERROR RECTSTART needs a width and a height",
    ]
    assert answers(bot, "RECTSTART 6,8", "BEGIN") == ["OK", "0,0"]
    assert bot.asked[-1].variant.size == "6x8"


def test_order_of_commands() -> None:
    """Nothing is played before START."""
    for line in ("BEGIN", "TURN 1,1", "BOARD", "RESTART", "TAKEBACK 1,1"):
        assert answers(FirstCell(), line) == ["ERROR no board; START comes first"]


def test_restart() -> None:
    """The board is empty again, and the bot hears of the end of the game."""
    bot = FirstCell()
    assert answers(bot, "START 15", "BEGIN", "RESTART", "BEGIN", "END") == ["OK", "0,0"] * 2
    assert bot.ended == 2
    assert len({position.game_id for position in bot.asked}) == 2


def test_take_back_and_play() -> None:
    """The last stone is taken back; PLAY puts one down for the engine."""
    told = answers(
        FirstCell(), "START 15", "BEGIN", "TAKEBACK 5,5", "TAKEBACK 0,0", "PLAY 3,4", "TURN 9,9"
    )
    assert told == ["OK", "0,0", "ERROR no stone stands there", "OK", "3,4", "0,0"]


def test_rule() -> None:
    """INFO rule counts for the game; one that isn't played is refused at the first move."""
    bot = FirstCell()
    answers(bot, "START 15", "INFO rule 1", "BEGIN")
    assert bot.asked[-1].variant.rule == STANDARD
    told = answers(bot, "START 15", "INFO rule 2", "BEGIN", "INFO rule 0", "BEGIN")
    assert told == ["OK", "ERROR rule 2 is not played", "0,0"]


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, "freestyle"), (1, "standard"), (4, "renju"), (8, "caro"), (9, "caro-exact")],
)
def test_numbers_of_rules(number: int, name: str) -> None:
    """A bot that plays all rules is asked for each by its number, told before START or after."""

    class All(FirstCell):
        capabilities = replace(FirstCell.capabilities, rules=tuple(RULES.values()))

    for lines in (("START 15", f"INFO rule {number}"), (f"INFO rule {number}", "START 15")):
        bot = All()
        assert answers(bot, *lines, "BEGIN") == ["OK", "0,0"]
        assert bot.asked[-1].variant.rule.name == name
    assert {rule.name for rule in RULES.values()} == set(RULE_NUMBERS)


def test_time() -> None:
    """What INFO says of the time is the clock of the turn."""
    bot = FirstCell()
    info = ("INFO timeout_turn 1000", "INFO timeout_match 60000", "INFO time_left 5000")
    answers(bot, "START 15", *info, "BEGIN")
    assert (bot.asked[-1].move_ms, bot.asked[-1].clock_ms) == (1000, 5000)
    answers(bot, "START 15", "INFO timeout_turn 0", "INFO time_left 2147483647", "BEGIN")
    assert (bot.asked[-1].move_ms, bot.asked[-1].clock_ms) == (50, 50)
    answers(bot, "START 15", *info, "INFO time_left -40", "BEGIN")
    assert bot.asked[-1].move_ms == 50


def test_unknown_commands_and_keys() -> None:
    """A command is UNKNOWN; a key of INFO is nothing."""
    assert answers(FirstCell(), "YXSTOP", "INFO x y", "INFO", "", "  ") == [
        "UNKNOWN command YXSTOP"
    ]


class Swapper(FirstCell):
    """Places stones on the first cells, and takes the side that it is told, or places more."""

    capabilities = replace(FirstCell.capabilities, opening_rules=tuple(OPENING_RULES.values()))

    def __init__(self, side: Color | None = None) -> None:
        super().__init__()
        self.side = side

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        """The first cells."""
        self.asked.append(position)
        return position.legal_cells()[:stones]

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int]:
        """As told."""
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


def test_opening_rule_that_is_not_played() -> None:
    """It is unknown, as its command would be, with all that belongs to it."""
    told = answers(FirstCell(), "START 15", "SWAP2BOARD", *THREE, "DONE", "BEGIN")
    assert told == ["OK", "UNKNOWN swap2 is not played", "0,0"]


def test_game_after_an_opening() -> None:
    """The stones of the opening stand on the board, whether the next come by TURN or by BOARD."""
    lines = ("SWAP2BOARD", *THREE, "DONE")
    assert answers(Swapper(Color.BLACK), "START 15", *lines, "TURN 3,0")[1:] == ["SWAP", "4,0"]
    board = ("BOARD", "0,0,1", "1,0,2", "2,0,1", "9,9,2", "DONE")
    assert answers(Swapper(Color.BLACK), "START 15", *lines, *board)[1:] == ["SWAP", "3,0"]


def test_game_that_is_over() -> None:
    """No move follows a five."""
    five = (f"{x},{y},{2 - y % 2}" for x in range(5) for y in (0, 1))
    told = answers(FirstCell(), "START 15", "BOARD", *five, "DONE")
    assert told[1].startswith("ERROR")


def test_analysis_is_a_message() -> None:
    """What the bot has found comes before its move; a resignation is a move."""

    class Talker(FirstCell):
        def choose(self, position: Position) -> Answer:
            if position.board.moves:
                return RESIGN
            return Choice(112, Analysis(score=5, depth=3, nodes=9, pv=[112, 98]))

    assert answers(Talker(), "START 15", "BEGIN", "TURN 0,0") == [
        "OK",
        "MESSAGE depth 3 eval 5 nodes 9 bestline [7,7] [8,6]",
        "7,7",
        "1,0",
    ]


@pytest.mark.parametrize("kind", ["async", "many"])
def test_bots_of_other_kinds(kind: str) -> None:
    """A bot may be asynchronous, or answer many at once."""

    class Async(Bot):
        capabilities = FirstCell.capabilities

        async def choose(self, position: Position) -> Answer:  # noqa: ARG002 - see Bot
            return 7

    class Many(Bot):
        capabilities = FirstCell.capabilities

        async def choose_many(self, positions: Sequence[Position]) -> Sequence[Answer]:
            return [7 for _ in positions]

    bot = Async() if kind == "async" else Many()
    assert answers(bot, "START 15", "BEGIN") == ["OK", "7,0"]


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.builds(
                "{} {}".format,
                st.sampled_from(
                    [
                        "START",
                        "TURN",
                        "BOARD",
                        "INFO",
                        "TAKEBACK",
                        "RECTSTART",
                        "PLAY",
                        "SWAP2BOARD",
                    ]
                ),
                st.text("0123456789,- ", max_size=8),
            ),
        ),
        max_size=12,
    )
)
def test_garbage(lines: list[str]) -> None:
    """Whatever comes, the brain answers in its own words, and still plays."""
    brain = Brain(FirstCell())
    for line in lines:
        for answer in brain.answer(line):
            assert answer.isprintable()
    told = [answer for line in ("DONE", "START 15", "RESTART") for answer in brain.answer(line)]
    assert told[-1] == "OK"
