"""Games of the contract, as a server would send them."""

from datetime import UTC, datetime, timedelta

from meijin.game import GOMOKU, Color, Ending, Outcome, Party, TimeControl, encode_moves
from meijin.game.records.position_string import parse_position
from meijin.v1 import game_pb2
from meijin.wire import outcome_to_proto, time_control_to_proto, variant_to_proto

START = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECOND_NS = 10**9


def game(
    number: int,
    moves: str = "h8i9h9i8h7i7h6i6h5",
    *,
    outcome: Outcome | None = None,
    detail: str = "",
) -> game_pb2.Game:
    """An ended game whose opening are its first two moves, a second a move."""
    found = outcome or Outcome(Ending.FIVE, Color.BLACK, detail=detail)
    is_void = found.ending is Ending.VOID
    made = game_pb2.Game(
        game_id=str(number),
        tournament_id="3",
        black="ada",
        white='b"o,b',
        black_version="1.0",
        variant=variant_to_proto(GOMOKU),
        time_control=time_control_to_proto(TimeControl.parse("60+0.5")),
        state=game_pb2.GAME_STATE_VOID if is_void else game_pb2.GAME_STATE_FINISHED,
        outcome=outcome_to_proto(found),
        opening_plies=2,
    )
    made.start_time.FromDatetime(START)
    made.end_time.FromDatetime(START + timedelta(seconds=20))
    cells = parse_position(moves, GOMOKU)
    for ply, cell in enumerate(cells):
        move = made.moves.add(cell=cell)
        if ply >= made.opening_plies:
            move.charged_time.FromNanoseconds(SECOND_NS)
            move.raw_time.FromNanoseconds(2 * SECOND_NS)
    made.moves[2].analysis.CopyFrom(
        game_pb2.MoveAnalysis(score=-7, depth=3, nodes=2**64 - 1, pv=encode_moves(cells[2:4]))
    )
    made.ply = len(cells)
    return made


WON = game(1)
VOID = game(2, "h8i9h9", outcome=Outcome(Ending.VOID, None, Party.SERVER, "a\nline, =1+1"))
RUNNING = game(3, "h8i9h9")
RUNNING.state = game_pb2.GAME_STATE_RUNNING
RUNNING.ClearField("outcome")
RUNNING.ClearField("end_time")
