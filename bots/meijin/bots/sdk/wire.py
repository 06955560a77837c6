"""Converters between the messages of `Play` and the types of this package."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from zlib import crc32

from meijin.bots.sdk.answer import (
    Analysis,
    Answer,
    Choice,
    Evaluated,
    Failure,
    Resignation,
    Unchecked,
)
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.events import (
    Charge,
    Draining,
    Evaluation,
    Events,
    GameEnded,
    GameStarted,
    Notice,
    OpeningTask,
    Paused,
    Ping,
    ServerMessage,
    SideChosen,
    Turn,
    Welcome,
)
from meijin.game import Choose, OpeningAction, Placement, encode_moves
from meijin.v1 import play_service_pb2
from meijin.wire import (
    capabilities_to_proto,
    color_from_proto,
    color_to_proto,
    outcome_from_proto,
    time_control_from_proto,
    variant_from_proto,
)
from meijin.wire.contract import MAX_PV, PROTOCOL_VERSION

MAX_BATCH_BYTES = 48 * 1024
"""A bigger batch is split: servers refuse messages above `MAX_MESSAGE_BYTES`, or less."""
MAX_FAILURE_BYTES = 500
MAX_KNOWN_GAMES = 1_500
"""Of which a hello tells: 28 bytes each, so that it stays as small as a batch."""

_CAUSES = (play_service_pb2.FAILURE_CAUSE_BOT, play_service_pb2.FAILURE_CAUSE_SUPPLIER)
"""By whether it was a supplier that failed."""

_MAX_SCORE = 2**31 - 1
_MAX_DEPTH = 2**32 - 1
_MAX_NODES = 2**64 - 1

logger = logging.getLogger("meijin.bots")


class Action(NamedTuple):
    """An answer on its way to the server; a plain tuple, since every move is one."""

    number: int
    """The game's number on the stream, or an evaluation's."""
    ply: int
    """The ply of the turn that this answers."""
    answer: Answer | OpeningAction | Failure | Evaluated
    read_at: float | None = None
    """When the turn was read off the stream, in seconds of a monotonic clock, if it is told."""


class KnownGame(NamedTuple):
    """What a bot knows of a running game."""

    game_id: str
    moves: bytes
    """As the server has told them with the bot's last turn."""
    answer: Sequence[int]
    """The stones that the bot has answered that turn with."""


# to the server


def hello_to_proto(
    bot: Bot,
    *,
    name: str,
    digest: str,
    session_id: str,
    hardware: str = "",
    nodes_per_second: int = 0,
    known_games: Sequence[KnownGame] = (),
) -> play_service_pb2.PlayRequest:
    """Build the first message of a stream; `session_id` is that of the stream it continues."""
    engine = play_service_pb2.Engine(
        version=bot.version,
        digest=digest,
        configuration=[f"{key}={value}" for key, value in sorted(bot.configuration.items())],
    )
    hello = play_service_pb2.Hello(
        protocol_version=PROTOCOL_VERSION,
        bot_name=name,
        engine=engine,
        capabilities=capabilities_to_proto(bot.capabilities),
        resume_session_id=session_id,
        hardware=hardware,
        nodes_per_second=nodes_per_second,
    )
    for game_id, moves, answer in known_games[:MAX_KNOWN_GAMES]:
        known = hello.known_games[game_id]
        known.ply, known.moves_crc = len(moves) // 2, crc32(moves)
        if answer:
            known.answered_crc = crc32(encode_moves(answer), known.moves_crc)
    return play_service_pb2.PlayRequest(hello=hello)


def actions_to_proto(
    actions: Sequence[Action], *, now: float
) -> list[play_service_pb2.PlayRequest]:
    """All of `actions` in one message, or in as many as their size demands.

    `now` is on the clock that told when the turns were read: moves say what they took.
    """
    request = play_service_pb2.PlayRequest()
    plays = request.actions.plays
    for action in actions:
        number, ply, answer, read_at = action
        if isinstance(answer, int):
            thinking_us = _thinking_us(read_at, now)
            plays.add(game=number, ply=ply, cell=answer, thinking_us=thinking_us)
        else:
            _add_rare(request.actions, action, now)
    if len(actions) > 1 and request.ByteSize() > MAX_BATCH_BYTES:
        middle = len(actions) // 2
        halves = actions[:middle], actions[middle:]
        return [part for half in halves for part in actions_to_proto(half, now=now)]
    return [request]


def _thinking_us(read_at: float | None, now: float) -> int:
    """What a move took, in whole microseconds; 0 would mean that it isn't told."""
    return 0 if read_at is None else max(int((now - read_at) * 1_000_000), 1)


def _add_rare(actions: play_service_pb2.Actions, action: Action, now: float) -> None:
    number, ply, answer, read_at = action
    if isinstance(answer, Choice):
        analysis = None if answer.analysis is None else analysis_to_proto(answer.analysis)
        actions.plays.add(
            game=number,
            ply=ply,
            cell=answer.cell,
            analysis=analysis,
            thinking_us=_thinking_us(read_at, now),
        )
    elif isinstance(answer, Placement):
        thinking_us = _thinking_us(read_at, now)
        actions.placements.add(game=number, ply=ply, cells=answer.cells, thinking_us=thinking_us)
    elif isinstance(answer, Choose):
        color, thinking_us = color_to_proto(answer.color), _thinking_us(read_at, now)
        actions.choices.add(game=number, ply=ply, color=color, thinking_us=thinking_us)
    elif isinstance(answer, Resignation):
        actions.resigns.add(game=number)
    elif isinstance(answer, Evaluated):
        actions.evaluations.append(_evaluation_to_proto(number, answer))
    elif isinstance(answer, Failure):
        message = _failure_text(answer)
        actions.failures.add(
            game=number,
            message=message,
            cause=_CAUSES[answer.is_suppliers],
            traceback=answer.traceback.encode(errors="backslashreplace").decode(),
        )


def _failure_text(failure: Failure) -> str:
    text = failure.message.encode(errors="backslashreplace")
    return text[:MAX_FAILURE_BYTES].decode(errors="ignore")


def _evaluation_to_proto(number: int, found: Evaluated) -> play_service_pb2.Evaluation:
    """What was found outside of games; a bot that resigns there names no cell."""
    thinking_us = max(int(found.seconds * 1_000_000), 1)
    message = play_service_pb2.Evaluation(evaluation=number, thinking_us=thinking_us)
    answer = found.answer
    if isinstance(answer, Failure):
        message.failure = _failure_text(answer)
    elif isinstance(answer, Choice | Unchecked):
        message.cell = answer.cell
    elif isinstance(answer, int):
        message.cell = answer
    if isinstance(answer, Choice) and answer.analysis is not None:
        analysis = analysis_to_proto(answer.analysis)
        if analysis is not None:
            message.analysis.CopyFrom(analysis)
    return message


def analysis_to_proto(analysis: Analysis) -> play_service_pb2.Analysis | None:
    """Clip an analysis to what the wire can carry; leave it out if it is none at all."""
    try:
        return play_service_pb2.Analysis(
            score=max(-_MAX_SCORE, min(int(analysis.score), _MAX_SCORE)),
            depth=min(int(analysis.depth), _MAX_DEPTH),
            nodes=min(int(analysis.nodes), _MAX_NODES),
            pv=encode_moves([int(cell) for cell in analysis.pv[:MAX_PV]]),
        )
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        logger.warning("left out %r: %s", analysis, error)
        return None


def pong_to_proto(sequence: int) -> play_service_pb2.PlayRequest:
    """Build the answer to a ping."""
    return play_service_pb2.PlayRequest(pong=play_service_pb2.Pong(sequence=sequence))


def goodbye_to_proto() -> play_service_pb2.PlayRequest:
    """Build the message that ends the stream on purpose."""
    return play_service_pb2.PlayRequest(goodbye=play_service_pb2.Goodbye())


# from the server


def message_from_proto(
    response: play_service_pb2.PlayResponse, *, read_at: float
) -> ServerMessage | None:
    """Read a message; nothing for one of a kind that a later protocol may add.

    `read_at` is the second at which it came off the stream.

    Raises:
        ValueError: it says what can't be.
    """
    match response.WhichOneof("fact"):
        case "events":
            return events_from_proto(response.events, read_at=read_at)
        case "ping":
            return Ping(response.ping.sequence)
        case "welcome":
            return welcome_from_proto(response.welcome)
        case "draining":
            return Draining()
        case "paused":
            return Paused(response.paused.reason)
        case None:
            return None


def welcome_from_proto(welcome: play_service_pb2.Welcome) -> Welcome:
    """Read the answer to the hello."""
    return Welcome(
        session_id=welcome.session_id,
        bot_name=welcome.bot_name,
        grace=timedelta(milliseconds=welcome.grace_ms),
        running_games=welcome.running_games,
        notice=welcome.notice,
    )


def events_from_proto(events: play_service_pb2.Events, *, read_at: float) -> Events:
    """Read a batch that came off the stream at `read_at`."""
    return Events(
        started=[started_from_proto(started) for started in events.started],
        turns=[
            Turn(
                turn.game,
                turn.ply,
                turn.moves,
                turn.own_clock_ms,
                turn.opponent_clock_ms,
                read_at,
                OpeningTask(turn.task.stones, turn.task.may_choose)
                if turn.HasField("task")
                else None,
                _charge_from_proto(turn.charge) if turn.HasField("charge") else None,
            )
            for turn in events.turns
        ],
        ended=[GameEnded(ended.game, outcome_from_proto(ended.outcome)) for ended in events.ended],
        notices=[Notice(notice.game, notice.ply, notice.detail) for notice in events.notices],
        choices=[SideChosen(each.game, color_from_proto(each.color)) for each in events.choices],
        evaluations=[evaluation_from_proto(each) for each in events.evaluations]
        if events.evaluations
        else (),
    )


def evaluation_from_proto(asked: play_service_pb2.EvaluationRequested) -> Evaluation:
    """Read a question about a position outside of games."""
    return Evaluation(
        number=asked.evaluation,
        variant=variant_from_proto(asked.variant),
        moves=asked.moves,
        time=timedelta(milliseconds=asked.time_ms),
        nodes=asked.nodes,
    )


def _charge_from_proto(charge: play_service_pb2.Charge) -> Charge:
    return Charge(charge.raw_us, charge.lag_us, charge.charged_us)


def started_from_proto(started: play_service_pb2.GameStarted) -> GameStarted:
    """Read the beginning of a game."""
    return GameStarted(
        number=started.game,
        game_id=started.game_id,
        variant=variant_from_proto(started.variant),
        time_control=time_control_from_proto(started.time_control),
        color=color_from_proto(started.color),
        opponent=started.opponent,
        moves=started.moves,
    )
