"""Between the wire's messages and our own types: the one place that knows both."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from meijin.game import (
    Ending,
    Outcome,
    TimeControl,
    Variant,
    decode_moves,
)
from meijin.server.api.convert_sprt import sprt_to_proto, standing_to_proto
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.ladder_plan import LadderPlan
from meijin.server.tournaments.formats.schedule import MAX_GAMES
from meijin.server.tournaments.formats.sprt_plan import SprtPlan
from meijin.store.games import GameRow, decode_times
from meijin.store.schema import GameState, TournamentFormat, TournamentState
from meijin.store.tournaments import TournamentRow
from meijin.v1 import bot_service_pb2, game_pb2, tournament_service_pb2
from meijin.wire import (
    capabilities_to_proto,
    contract,
    outcome_to_proto,
    time_control_from_proto,
    time_control_to_proto,
    time_to_proto,
    variant_from_proto,
    variant_to_proto,
)
from meijin.wire.enums import enum_table

if TYPE_CHECKING:
    from meijin.server.match.live_game import LiveGame
    from meijin.server.match.lobby import Player


MAX_INCREMENT = timedelta(hours=4)
"""A clock is told in milliseconds of 32 bits, 49 days: 7 to begin with and 241 increments."""

GAME_STATES = enum_table(GameState, game_pb2.GameState)
TOURNAMENT_STATES = enum_table(TournamentState, tournament_service_pb2.TournamentState)
FORMATS = enum_table(TournamentFormat, tournament_service_pb2.TournamentFormat)


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
        time_control=time_control_to_proto(game.run.time_control),
        state=game_pb2.GAME_STATE_RUNNING,
        opening_plies=game.opening_plies,
        start_time=time_to_proto(game.start_time),
        ply=len(game.committed_moves),
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
    return _moves(
        game.committed_moves, game.opening_plies, arbiter.raw_ns, arbiter.charged_ns, since=since
    )


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
    try:
        contract.check_bot_name(name)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None


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
