"""Boards: running games as they were told so far, and how scripts read them."""

from collections.abc import Callable, Mapping

from meijin.game import Variant
from meijin.game.board.moves import MOVE_BYTES
from meijin.v1 import game_pb2
from meijin.v1.game_service_pb2 import Clocks, GameEvaluation, GameUpdate
from meijin.web.templating import plain
from meijin.wire.json import board_of, cell_names
from meijin.wire.values import outcome_from_proto, told_numbers

COLORS = {game_pb2.COLOR_BLACK: "black", game_pb2.COLOR_WHITE: "white"}


class LiveBoard:
    """A running game: all that was told of it, taken together."""

    __slots__ = ("clocks_ms", "ended_ms", "whole")

    def __init__(self) -> None:
        self.whole = GameUpdate()
        self.clocks_ms = 0
        """When the clocks were told."""
        self.ended_ms: int | None = None
        """When its end was told; ``None`` while it runs."""

    def take(self, update: GameUpdate, now_ms: int) -> None:
        whole = self.whole
        whole.game_id = update.game_id
        whole.variant.CopyFrom(update.variant)
        if update.HasField("game"):
            whole.game.CopyFrom(update.game)
            if update.game.state != game_pb2.GAME_STATE_RUNNING:
                self.ended_ms = now_ms
        if update.moves:
            whole.moves = whole.moves[: MOVE_BYTES * update.ply] + update.moves
        if update.HasField("clocks"):
            whole.clocks.CopyFrom(update.clocks)
            self.clocks_ms = now_ms
        if update.HasField("black_evaluation"):
            whole.black_evaluation.CopyFrom(update.black_evaluation)
        if update.HasField("white_evaluation"):
            whole.white_evaluation.CopyFrom(update.white_evaluation)


def to_json(
    update: GameUpdate, clocks_ms: int, shown: Callable[[str], str]
) -> Mapping[str, object]:
    """An update, or all of a game, as a script reads it; what is absent has not changed.

    Args:
        clocks_ms: When the clocks were told, by the clock of the frames.
        shown: What people call a bot of a name.
    """
    found: dict[str, object] = {"id": update.game_id}
    board = board_of(update.variant)
    if update.HasField("game"):
        found["game"] = _game(update.game, shown)
    if update.moves:
        found |= {"ply": update.ply, "moves": cell_names(update.moves, board)}
    if update.HasField("clocks"):
        found["clocks"] = _clocks(update.clocks, clocks_ms)
    if update.HasField("black_evaluation"):
        found["black"] = _evaluation(update.black_evaluation, board)
    if update.HasField("white_evaluation"):
        found["white"] = _evaluation(update.white_evaluation, board)
    return found


def _game(game: game_pb2.Game, shown: Callable[[str], str]) -> Mapping[str, object]:
    has_ended = game.state != game_pb2.GAME_STATE_RUNNING
    return {
        "black": plain(game.black),
        "white": plain(game.white),
        "names": {"black": plain(shown(game.black)), "white": plain(shown(game.white))},
        "tournament": game.tournament_id,
        "width": game.variant.width,
        "height": game.variant.height,
        "line": game.variant.line,
        "ended": has_ended,
        "outcome": _outcome(game.outcome) if has_ended else "",
        "won": game.outcome.ending == game_pb2.ENDING_FIVE,
    }


def _outcome(outcome: game_pb2.Outcome) -> str:
    """How a game ended, in words; of an ending that a later release has added, its detail."""
    try:
        return str(outcome_from_proto(outcome))
    except ValueError:
        return plain(outcome.detail)


def _clocks(clocks: Clocks, at_ms: int) -> Mapping[str, object]:
    running = COLORS.get(clocks.running)
    sides = {"black_ms": clocks.black_ms, "white_ms": clocks.white_ms}
    return sides | {"running": running, "at_ms": at_ms}


def _evaluation(evaluation: GameEvaluation, board: Variant) -> Mapping[str, object]:
    analysis = evaluation.analysis
    score, depth, nodes = told_numbers(analysis)
    return {
        "ply": evaluation.ply,
        "score": score,
        "depth": depth,
        "nodes": nodes,
        "pv": cell_names(analysis.pv, board),
    }
