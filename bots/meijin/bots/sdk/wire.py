"""What a bot says, as messages of `Play`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from inspect import iscoroutinefunction
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
from meijin.bots.sdk.errors import MAX_FAILURE_BYTES
from meijin.game import Choose, Declare, Offer, OpeningAction, Placement, encode_moves
from meijin.v1 import play_service_pb2
from meijin.wire.capabilities import capabilities_to_proto
from meijin.wire.contract import MAX_PV, PROTOCOL_VERSION
from meijin.wire.values import color_to_proto

MAX_BATCH_BYTES = 48 * 1024
"""A bigger batch is split: servers refuse messages above `MAX_MESSAGE_BYTES`, or less."""
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


class ReturningGame(NamedTuple):
    """What a bot knows of a running game."""

    game_id: str
    moves: bytes
    """As the server has told them with the bot's last turn."""
    answer: Sequence[int]
    """The stones that the bot has answered that turn with."""


def hello_to_proto(
    bot: Bot,
    *,
    name: str,
    digest: str,
    session_id: str,
    hardware: str = "",
    nodes_per_second: int = 0,
    known_games: Sequence[ReturningGame] = (),
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
        capabilities=capabilities_to_proto(
            replace(bot.capabilities, announces_readiness=iscoroutinefunction(bot.game_ended))
        ),
        resume_session_id=session_id,
        hardware=hardware,
        nodes_per_second=nodes_per_second,
        threads=bot.search_threads,
        memory_bytes=bot.memory_bytes,
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
    taken = _thinking_us(read_at, now)
    match answer:
        case Choice(cell, analysis):
            message = None if analysis is None else analysis_to_proto(analysis)
            actions.plays.add(game=number, ply=ply, cell=cell, analysis=message, thinking_us=taken)
        case Placement(cells):
            actions.placements.add(game=number, ply=ply, cells=cells, thinking_us=taken)
        case Choose(color):
            side = color_to_proto(color)
            actions.choices.add(game=number, ply=ply, color=side, thinking_us=taken)
        case Declare(offers):
            actions.declarations.add(game=number, ply=ply, offers=offers, thinking_us=taken)
        case Offer(cells):
            actions.offers.add(game=number, ply=ply, cells=cells, thinking_us=taken)
        case Resignation():
            actions.resigns.add(game=number)
        case Evaluated():
            actions.evaluations.append(_evaluation_to_proto(number, answer))
        case Failure(_, is_suppliers, traceback):
            actions.failures.add(
                game=number,
                message=_failure_text(answer),
                cause=_CAUSES[is_suppliers],
                traceback=traceback.encode(errors="backslashreplace").decode(),
            )


def _failure_text(failure: Failure) -> str:
    text = failure.message.encode(errors="backslashreplace")
    return text[:MAX_FAILURE_BYTES].decode(errors="ignore")


def _evaluation_to_proto(number: int, found: Evaluated) -> play_service_pb2.Evaluation:
    """What was found outside of games; a bot that resigns there names no cell."""
    thinking_us = max(int(found.seconds * 1_000_000), 1)
    message = play_service_pb2.Evaluation(evaluation=number, thinking_us=thinking_us)
    match found.answer:
        case Failure() as failure:
            message.failure = _failure_text(failure)
        case Choice(cell, analysis):
            message.cell = cell
            if analysis is not None and (told := analysis_to_proto(analysis)) is not None:
                message.analysis.CopyFrom(told)
        case int(cell) | Unchecked(cell):
            message.cell = cell
    return message


def analysis_to_proto(analysis: Analysis) -> play_service_pb2.Analysis | None:
    """Clip an analysis to what the wire can carry; leave it out if it is none at all."""
    try:
        return play_service_pb2.Analysis(
            score=None
            if analysis.score is None
            else max(-_MAX_SCORE, min(int(analysis.score), _MAX_SCORE)),
            depth=None if analysis.depth is None else min(int(analysis.depth), _MAX_DEPTH),
            nodes=None if analysis.nodes is None else min(int(analysis.nodes), _MAX_NODES),
            pv=encode_moves([int(cell) for cell in analysis.pv[:MAX_PV]]),
        )
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        logger.warning("left out %r: %s", analysis, error)
        return None
