"""Games of the contract, as a server would send them."""

from datetime import timedelta

from tests.web.pages.game_messages import NOON, game_message

from meijin.game import (
    GOMOKU,
    Analysis,
    Color,
    Ending,
    GameEngine,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
)
from meijin.game.records.record import parse_position
from meijin.v1 import game_pb2

SECOND = timedelta(seconds=1)
FIVE = Outcome(Ending.FIVE, Color.BLACK)


def game(
    number: int, moves: str = "h8i9h9i8h7i7h6i6h5", outcome: Outcome | None = FIVE
) -> game_pb2.Game:
    """A game whose opening are its first two moves, a second a move."""
    cells = parse_position(moves, GOMOKU)
    said = Analysis(-7, 3, 2**64 - 1, cells[2:4])
    record = GameRecord(
        GOMOKU,
        "ada",
        'b"o,b',
        cells,
        times=(SECOND,) * len(cells),
        raw_times=(2 * SECOND,) * len(cells),
        analysis=(None, None, said, *[None] * (len(cells) - 3)),
        opening_plies=2,
        time_control=TimeControl.parse("60+0.5"),
        outcome=outcome,
        end_time=NOON + 20 * SECOND,
        game_id=str(number),
        black_version="1.0",
        black_engine=GameEngine("ab12", ("depth=4", "nodes=3000"), "EPYC, 2 cores", 2, 2**40),
        pair=3,
        round=5,
        seed=7,
        release="0.1.0",
    )
    return game_message(record)


WON = game(1)
VOID = game(2, "h8i9h9", Outcome(Ending.VOID, None, Party.SERVER, "a\nline, =1+1"))
RUNNING = game(3, "h8i9h9", None)
