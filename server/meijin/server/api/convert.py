"""Between the wire's messages and our own types."""

import re
from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from meijin.game import (
    TimeControl,
    Variant,
    decode_moves,
    encode_moves,
)
from meijin.server.api.convert_sprt import sprt_to_proto, standing_to_proto
from meijin.server.api.requests import requested
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.ladder_plan import LadderPlan
from meijin.server.tournaments.formats.schedule import MAX_GAMES
from meijin.server.tournaments.formats.sprt_plan import SprtPlan
from meijin.store.bots import EngineRow
from meijin.store.schema import TournamentFormat, TournamentState
from meijin.store.tournaments import TournamentRow
from meijin.v1 import game_pb2, play_service_pb2, tournament_service_pb2
from meijin.wire import (
    Capabilities,
    capabilities_from_proto,
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

TOURNAMENT_STATES = {
    state: tournament_service_pb2.TournamentState.Value(f"TOURNAMENT_STATE_{state.name}")
    for state in TournamentState
}
FORMATS = {
    form: tournament_service_pb2.TournamentFormat.Value(f"TOURNAMENT_FORMAT_{form.name}")
    for form in TournamentFormat
}


# -- values -----------------------------------------------------------------------


def requested_variant(message: game_pb2.Variant) -> Variant:
    """The variant that a request asks for.

    Raises:
        InvalidRequestError: there is no such board.
    """
    return requested("variant", variant_from_proto, message)


def requested_time_control(message: game_pb2.TimeControl) -> TimeControl:
    """The time control that a request asks for.

    Raises:
        InvalidRequestError: no limit, or one that is out of range.
    """
    control = requested("time_control", time_control_from_proto, message)
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
    return requested("capabilities", capabilities_from_proto, message)


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
    terms = _terms(game.run.variant, game.run.time_control)
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


# -- tournaments and ladders ------------------------------------------------------


def tournament_to_proto(
    row: TournamentRow, waiting_for: str = "", *, with_openings: bool = True
) -> tournament_service_pb2.Tournament:
    """A tournament and how far it is."""
    plan, ladder = SprtPlan.of(row), LadderPlan.of(row)
    message = tournament_service_pb2.Tournament(
        tournament_id=str(row.id),
        settings=tournament_service_pb2.TournamentSettings(
            name=row.name,
            bots=[name for _, name in row.bots],
            format=FORMATS[row.format],
            rounds=row.rounds,
            variant=variant_to_proto(row.variant),
            time_control=time_control_to_proto(row.time_control),
            seed=row.seed,
            openings=row.openings if with_openings else (),
            max_games=row.max_games,
            unrated=row.ladder_id is None,
            sprt=None if plan is None else sprt_to_proto(plan),
            ladder=None if ladder is None else ladder_run_to_proto(ladder),
        ),
        state=TOURNAMENT_STATES[row.state],
        planned_games=row.planned,
        finished_games=row.finished,
        running_games=row.running,
        ladder=row.ladder,
        create_time=time_to_proto(row.create_time),
        waiting_for=waiting_for,
        verdict=row.verdict,
    )
    if plan is not None and row.counts is not None:
        message.sprt.CopyFrom(standing_to_proto(plan, plan.standing(row.counts)))
    if row.end_time is not None:
        message.end_time.CopyFrom(time_to_proto(row.end_time))
    return message


def requested_ladder(message: tournament_service_pb2.LadderRun) -> LadderPlan:
    """What is to end a continuous ladder.

    Raises:
        InvalidRequestError: it can't be what it says.
    """
    if not 0 <= message.confidence < 1:
        raise InvalidRequestError(f"ladder.confidence {message.confidence:g} is not in 0 to 1")
    if message.most_games > MAX_GAMES:
        raise InvalidRequestError(f"ladder.most_games {message.most_games} is above {MAX_GAMES}")
    return LadderPlan(message.confidence, message.most_games)


def ladder_run_to_proto(plan: LadderPlan) -> tournament_service_pb2.LadderRun:
    """What ends a continuous ladder."""
    return tournament_service_pb2.LadderRun(confidence=plan.confidence, most_games=plan.most_games)


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
