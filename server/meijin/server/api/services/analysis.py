"""Positions outside of games, evaluated by connected bots."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import ExitStack, aclosing
from datetime import timedelta

from sqlalchemy import Connection

from meijin.game import Board, TimeControl, decode_moves
from meijin.server.access.bots import bot_of
from meijin.server.access.caller import Caller, current_caller
from meijin.server.api.calls.interceptor import Context
from meijin.server.api.calls.limits import Limits, address_of
from meijin.server.errors import (
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    WrongStateError,
    invalid_request,
)
from meijin.server.match.live.commands import Evaluation
from meijin.server.match.live.evaluations import Evaluations, Search
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.store.bots import bot_record, find_bot, get_bot
from meijin.store.schema import BotId, ChallengePolicy
from meijin.v1 import analysis_service_pb2 as pb
from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceServicer
from meijin.wire.capabilities import Capabilities
from meijin.wire.mapping import to_message
from meijin.wire.values import variant_from_proto

MAX_POSITIONS = 256
"""Of one call: some hundred milliseconds of play at most, a few at a time."""

MAX_POSITIONS_OF_A_PERSON = 4
"""Of one call: hints, and no analysis of a game."""

MAX_TIME_OF_A_PERSON = timedelta(seconds=5)
"""Of one search."""

USUAL_TIME = timedelta(seconds=1)
LONGEST_TIME = timedelta(minutes=1)
"""Of one search; that of one which is to end by its nodes."""


class AnalysisServicer(AnalysisServiceServicer):
    def __init__(self, lobby: Lobby, storage: Storage, limits: Limits) -> None:
        self._lobby = lobby
        self._storage = storage
        self._limits = limits

    async def Evaluate(
        self, request: pb.EvaluateRequest, context: Context
    ) -> AsyncIterator[pb.EvaluateResponse]:
        """Have a bot evaluate positions, and tell each answer as soon as it is there."""
        with ExitStack() as held:
            held.enter_context(self._limits.evaluations.hold(address_of(context.peer())))
            held.enter_context(self._limits.evaluations_of_all.hold("all"))
            caller = current_caller.get()
            if caller.person_id is not None:
                held.enter_context(self._limits.evaluations_of_person.hold(caller.person_id))
            session = await self._session(caller, request.bot)
            searches = await _searches(request, session, is_person=caller.person_id is not None)
            async with aclosing(_answers(session.evaluations, searches)) as answers:
                async for index, found in answers:
                    variant = request.positions[index].variant
                    yield to_message(found, pb.EvaluateResponse, position=index, variant=variant)

    async def _session(self, caller: Caller, name: str) -> Session:
        """The stream of a bot that the caller may ask."""
        bot_id = await self._storage.read(_bot, caller, name)
        player = self._lobby.players.get(bot_id)
        session = None if player is None else player.session
        if session is None:
            raise WrongStateError(f'bot "{name}" is not connected; start it')
        if not session.capabilities.evaluates:
            raise WrongStateError(
                f'bot "{name}" does not evaluate positions outside of games; '
                "its capabilities have to say so"
            )
        return session


def _bot(connection: Connection, caller: Caller, name: str) -> BotId:
    """The bot of a name, where the caller may ask it.

    Raises:
        NotAllowedError: it does not play people, and the caller is one.
        NotFoundError: there is none; for an owner or a bot, or it is another one.
    """
    if caller.person_id is not None:
        bot = bot_record(connection, get_bot(connection, name))
        if bot.challenges is not ChallengePolicy.ANYONE:
            raise NotAllowedError(f'"{name}" does not play people, and gives no hints')
        return bot.id
    identity = caller.identity
    if identity is None or identity.bot_id is None:
        return bot_of(connection, caller, name).id
    if find_bot(connection, name) != identity.bot_id:
        raise NotFoundError(f'your token is of another bot than "{name}"')
    return identity.bot_id


async def _searches(
    request: pb.EvaluateRequest, session: Session, *, is_person: bool
) -> Sequence[Search]:
    """The positions of a request, each played on its own so that nobody waits for all of them."""
    most = MAX_POSITIONS_OF_A_PERSON if is_person else MAX_POSITIONS
    if len(request.positions) > most:
        message = f"positions: {len(request.positions)} of them; at most {most} a call"
        raise InvalidRequestError(message)
    time = time_from_proto(request)
    if is_person and time > MAX_TIME_OF_A_PERSON:
        longest = MAX_TIME_OF_A_PERSON // timedelta(milliseconds=1)
        raise InvalidRequestError(f"time_ms: at most {longest} for a person; say so")
    searches = []
    for index in range(len(request.positions)):
        searches.append(search_from_proto(request, index, time, session.capabilities))
        await asyncio.sleep(0)
    return searches


async def _answers(
    evaluations: Evaluations, searches: Sequence[Search]
) -> AsyncGenerator[tuple[int, Evaluation]]:
    """What is found in each position, in the order in which it comes."""
    answers: asyncio.Queue[tuple[int, Evaluation]] = asyncio.Queue()

    async def search(index: int) -> None:
        answers.put_nowait((index, await evaluations.evaluate(searches[index])))

    tasks = [asyncio.create_task(search(index)) for index in range(len(searches))]
    try:
        for _ in tasks:
            yield await answers.get()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def time_from_proto(request: pb.EvaluateRequest) -> timedelta:
    """What each search may take.

    Raises:
        InvalidRequestError: it is too long.
    """
    if not request.time_ms:
        return LONGEST_TIME if request.nodes else USUAL_TIME
    time = timedelta(milliseconds=request.time_ms)
    if time > LONGEST_TIME:
        longest_ms = int(LONGEST_TIME.total_seconds() * 1000)
        raise InvalidRequestError(f"time_ms {request.time_ms} is above {longest_ms}")
    return time


def search_from_proto(
    request: pb.EvaluateRequest, index: int, time: timedelta, capabilities: Capabilities
) -> Search:
    """One of the positions, as a bot of these capabilities searches it.

    Raises:
        InvalidRequestError: it can't be, is over, or the bot doesn't play it.
    """
    message = request.positions[index]
    with invalid_request(f"positions[{index}]"):
        variant = variant_from_proto(message.variant)
        control = TimeControl(initial=None, per_move=time)
        if (objection := capabilities.objection(variant, control)) is not None:
            raise ValueError(f"the bot {objection}")
        board = Board.from_moves(decode_moves(message.moves), variant)
        if board.is_over:
            raise ValueError("the game is over there; give positions with a move to choose")
    return Search(board, time, request.nodes)
