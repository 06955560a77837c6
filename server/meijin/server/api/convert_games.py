"""Converters of games: views in, messages out."""

from collections.abc import Iterable

from meijin.server.views.games import GameChoice, GameDetail, GameMove, GameSummary
from meijin.store.schema import GameState
from meijin.v1 import game_pb2
from meijin.wire import (
    analysis_to_proto,
    color_to_proto,
    outcome_to_proto,
    time_control_to_proto,
    time_to_proto,
    variant_to_proto,
)

GAME_STATES = {state: game_pb2.GameState.Value(f"GAME_STATE_{state.name}") for state in GameState}


def game_to_proto(game: GameSummary) -> game_pb2.Game:
    """A game without its moves."""
    message = game_pb2.Game(
        game_id=str(game.id),
        tournament_id=str(game.tournament_id),
        black=game.black,
        white=game.white,
        black_version=game.black_version,
        white_version=game.white_version,
        variant=variant_to_proto(game.variant),
        time_control=time_control_to_proto(game.time_control),
        state=GAME_STATES[game.state],
        opening_plies=game.opening_plies,
        start_time=time_to_proto(game.start_time),
        ply=game.ply,
        repeat=game.is_repeat,
        pairing_reason=game.reason,
        swapped=game.is_swapped,
        ladder=game.ladder,
        tournament_name=game.tournament_name,
    )
    if game.white_time_control is not None:
        message.white_time_control.CopyFrom(time_control_to_proto(game.white_time_control))
    if game.outcome is not None:
        message.outcome.CopyFrom(outcome_to_proto(game.outcome))
    if game.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(game.end_time))
    return message


def game_detail_to_proto(game: GameDetail) -> game_pb2.Game:
    """A game with its moves."""
    message = game_to_proto(game.summary)
    message.moves.extend(moves_to_proto(game.moves))
    if game.choice is not None:
        message.choice.CopyFrom(choice_to_proto(game.choice))
    return message


def choice_to_proto(choice: GameChoice) -> game_pb2.SideChoice:
    """The choice of a side with its time."""
    message = game_pb2.SideChoice(ply=choice.side.ply, color=color_to_proto(choice.side.color))
    message.raw_time.FromNanoseconds(choice.raw_ns)
    message.charged_time.FromNanoseconds(choice.charged_ns)
    return message


def moves_to_proto(moves: Iterable[GameMove]) -> list[game_pb2.Move]:
    """Moves with their times."""
    messages = []
    for move in moves:
        message = game_pb2.Move(cell=move.cell)
        if move.raw_ns is not None and move.charged_ns is not None:
            message.raw_time.FromNanoseconds(move.raw_ns)
            message.charged_time.FromNanoseconds(move.charged_ns)
        if move.analysis is not None:
            message.analysis.CopyFrom(analysis_to_proto(move.analysis))
        messages.append(message)
    return messages
