"""Between the wire's messages and our own types: the one place that knows both."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from meijin.game import (
    Ending,
    Outcome,
    TimeControl,
    Variant,
    decode_moves,
    encode_moves,
)
from meijin.server.errors import InvalidRequestError
from meijin.store.bots import EngineRow
from meijin.store.games import GameRow, decode_times
from meijin.store.schema import GameState
from meijin.v1 import bot_service_pb2, game_pb2, play_service_pb2
from meijin.wire import (
    Capabilities,
    capabilities_from_proto,
    capabilities_to_proto,
    color_to_proto,
    outcome_to_proto,
    time_control_from_proto,
    time_control_to_proto,
    time_to_proto,
    variant_from_proto,
    variant_to_proto,
)

if TYPE_CHECKING:
    from meijin.server.match.live_game import LiveGame
    from meijin.server.match.session import Player

NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
MAX_LABEL = 40
MAX_DIGEST = 64

MAX_PV = 2 * 22 * 22
"""Bytes kept of an expected line: no game is longer."""

MAX_INCREMENT = timedelta(hours=4)
"""A clock is told in milliseconds of 32 bits, 49 days: 7 to begin with and 241 increments."""

GAME_STATES = {state: game_pb2.GameState.Value(f"GAME_STATE_{state.name}") for state in GameState}


# -- values -----------------------------------------------------------------------


def requested_variant(message: game_pb2.Variant) -> Variant:
    """The variant that a request asks for.

    Raises:
        InvalidRequestError: there is no such board.
    """
    try:
        return variant_from_proto(message)
    except ValueError as error:
        raise InvalidRequestError(f"variant: {error}") from None


def requested_time_control(message: game_pb2.TimeControl) -> TimeControl:
    """The time control that a request asks for.

    Raises:
        InvalidRequestError: no limit, or one that is out of range.
    """
    try:
        control = time_control_from_proto(message)
    except ValueError as error:
        raise InvalidRequestError(f"time_control: {error}") from None
    if control.increment > MAX_INCREMENT:
        raise InvalidRequestError(
            f"time_control: increment {control.increment} is above {MAX_INCREMENT}"
        )
    return control


# -- the bot's stream -------------------------------------------------------------


def requested_capabilities(message: play_service_pb2.Capabilities) -> Capabilities:
    """What a bot says that it can play.

    Raises:
        InvalidRequestError: the sizes contradict each other.
    """
    try:
        return capabilities_from_proto(message)
    except ValueError as error:
        raise InvalidRequestError(f"capabilities: {error}") from None


def engine_from_proto(message: play_service_pb2.Engine) -> EngineRow:
    """The program behind a bot; without a digest its label tells versions apart.

    Raises:
        InvalidRequestError: a field is too long.
    """
    if len(message.version) > MAX_LABEL:
        raise InvalidRequestError(f"engine.version is longer than {MAX_LABEL} characters")
    if len(message.digest) > MAX_DIGEST:
        raise InvalidRequestError(f"engine.digest is longer than {MAX_DIGEST} characters")
    return EngineRow(
        label=message.version,
        digest=message.digest or f"version:{message.version}",
        configuration=tuple(message.configuration),
    )


@lru_cache(maxsize=64)
def _terms(variant: Variant, control: TimeControl) -> play_service_pb2.GameStarted:
    """What is the same for all games of a tournament: making it anew costs 10 microseconds."""
    return play_service_pb2.GameStarted(
        variant=variant_to_proto(variant), time_control=time_control_to_proto(control)
    )


def game_started_to_proto(game: "LiveGame", player: "Player") -> play_service_pb2.GameStarted:
    """A game as it starts, or goes on, for one of its players."""
    color = game.color(player)
    terms = _terms(game.run.variant, game.time_control)
    return play_service_pb2.GameStarted(
        game=game.number,
        game_id=str(game.id),
        variant=terms.variant,
        time_control=terms.time_control,
        color=color_to_proto(color),
        opponent=game.player(color.other).name,
        moves=encode_moves(game.settled_moves),
    )


def game_ended_to_proto(game: "LiveGame") -> play_service_pb2.GameEnded:
    """A game's end for its players."""
    outcome = game.arbiter.outcome
    assert outcome is not None
    return play_service_pb2.GameEnded(
        game=game.number,
        outcome=outcome_to_proto(outcome),
        moves=encode_moves(game.arbiter.board.moves),
    )


def analysis_from_proto(message: play_service_pb2.Analysis) -> dict[str, object]:
    """What a bot thought, as it is stored."""
    return {
        "score": message.score,
        "depth": message.depth,
        "nodes": message.nodes,
        "pv": list(decode_moves(message.pv[: min(len(message.pv) // 2 * 2, MAX_PV)])),
    }


# -- games ------------------------------------------------------------------------


def live_game_to_proto(game: "LiveGame", *, with_moves: bool) -> game_pb2.Game:
    """A running game, or one that has just ended."""
    arbiter = game.arbiter
    message = game_pb2.Game(
        game_id=str(game.id),
        tournament_id=str(game.run.id),
        black=game.black.name,
        white=game.white.name,
        variant=variant_to_proto(game.run.variant),
        time_control=time_control_to_proto(game.time_control),
        state=game_pb2.GAME_STATE_RUNNING,
        opening_plies=game.opening_plies,
        start_time=time_to_proto(game.start_time),
        ply=len(game.settled_moves),
        pairing_reason=game.pairing.reason,
    )
    if arbiter.outcome is not None:
        is_void = arbiter.outcome.ending is Ending.VOID
        message.state = game_pb2.GAME_STATE_VOID if is_void else game_pb2.GAME_STATE_FINISHED
        message.outcome.CopyFrom(outcome_to_proto(arbiter.outcome))
    if game.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(game.end_time))
    if with_moves:
        message.moves.extend(live_moves_to_proto(game, since=0))
    return message


def live_moves_to_proto(game: "LiveGame", *, since: int) -> list[game_pb2.Move]:
    """The moves of a running game from a ply on."""
    arbiter = game.arbiter
    return _moves(game.settled_moves, game.opening_plies, arbiter.raw, arbiter.charged, since=since)


def game_to_proto(row: GameRow, *, with_moves: bool) -> game_pb2.Game:
    """A game as it is stored."""
    cells = decode_moves(row.moves)
    message = game_pb2.Game(
        game_id=str(row.id),
        tournament_id=str(row.tournament_id),
        black=row.black,
        white=row.white,
        black_version=row.black_version,
        white_version=row.white_version,
        variant=variant_to_proto(Variant.parse(row.variant)),
        time_control=time_control_to_proto(TimeControl.parse(row.time_control)),
        state=GAME_STATES[row.state],
        opening_plies=row.opening_plies,
        start_time=time_to_proto(row.start_time),
        ply=len(cells),
        repeat=row.is_repeat,
        pairing_reason=row.reason,
    )
    if row.ending is not None:
        outcome = Outcome(row.result, row.ending, row.at_fault, row.detail)
        message.outcome.CopyFrom(outcome_to_proto(outcome))
    if row.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(row.end_time))
    if with_moves:
        raw, charged = decode_times(row.times)
        message.moves.extend(_moves(cells, row.opening_plies, raw, charged, since=0))
    return message


def _moves(
    cells: Sequence[int],
    opening_plies: int,
    raw: Sequence[int],
    charged: Sequence[int],
    *,
    since: int,
) -> list[game_pb2.Move]:
    moves = []
    for ply in range(since, len(cells)):
        message = game_pb2.Move(cell=cells[ply])
        place = ply - opening_plies
        if 0 <= place < len(raw):
            message.raw_time.FromNanoseconds(raw[place])
            message.charged_time.FromNanoseconds(charged[place])
        moves.append(message)
    return moves


# -- openings, names and bots ------------------------------------------------------


def openings_from_proto(openings: Iterable[bytes]) -> tuple[tuple[int, ...], ...]:
    """Openings as cells.

    Raises:
        InvalidRequestError: one has an odd number of bytes.
    """
    try:
        return tuple(tuple(decode_moves(opening)) for opening in openings)
    except ValueError as error:
        raise InvalidRequestError(f"openings: {error}") from None


def check_bot_name(name: str) -> None:
    """Accept a name that may be given to a bot.

    Raises:
        InvalidRequestError: it may not.
    """
    if not NAME.fullmatch(name):
        raise InvalidRequestError(
            f'"{name}" is no bot name; take 1 to 40 letters, digits, "-", "_" or "."'
        )


def bot_to_proto(
    name: str,
    owner: str,
    create_time: datetime,
    player: "Player | None",
) -> bot_service_pb2.Bot:
    """A bot and whether it is there."""
    message = bot_service_pb2.Bot(name=name, owner=owner, create_time=time_to_proto(create_time))
    if player is not None:
        message.running_games = len(player.games)
        if player.session is not None:
            message.connected = True
            message.capabilities.CopyFrom(capabilities_to_proto(player.session.capabilities))
    return message
