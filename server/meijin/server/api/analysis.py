"""Positions outside of games, evaluated by connected bots."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import ExitStack, aclosing
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.bots import bot_of
from meijin.server.access.caller import Caller, current_caller
from meijin.server.api.convert_analysis import found_to_proto, search_from_proto, time_from_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.limits import Limits, address_of
from meijin.server.errors import InvalidRequestError, NotFoundError, WrongStateError
from meijin.server.match.evaluations import Evaluations, Found, Search
from meijin.server.match.lobby import Lobby
from meijin.server.match.session import Session
from meijin.server.storage import Storage
from meijin.store.bots import find_bot
from meijin.store.schema import BotId
from meijin.v1 import analysis_service_pb2 as pb
from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceServicer

MAX_POSITIONS = 256
"""Of one call: some hundred milliseconds of play at most, a few at a time."""


class AnalysisServicer(AnalysisServiceServicer):
    """Asks bots what they would play."""

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
            session = await self._session(current_caller.get(), request.bot)
            searches = await _searches(request, session)
            async with aclosing(_answers(session.evaluations, searches)) as answers:
                async for index, found in answers:
                    yield found_to_proto(index, found)

    async def _session(self, caller: Caller, name: str) -> Session:
        """The stream of a bot that the caller may ask."""
        bot_id = await self._storage.read(partial(_bot, caller=caller, name=name))
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


def _bot(connection: Connection, *, caller: Caller, name: str) -> BotId:
    """The bot of a name, where the caller may ask it.

    Raises:
        NotFoundError: there is none; for an owner or a bot, or it is another one.
    """
    identity = caller.identity
    if identity is None or identity.bot_id is None:
        return bot_of(connection, caller, name).id
    bot_id = find_bot(connection, name)
    if bot_id != identity.bot_id:
        raise NotFoundError(f'your token is of another bot than "{name}"')
    return identity.bot_id


async def _searches(request: pb.EvaluateRequest, session: Session) -> Sequence[Search]:
    """The positions of a request, each played on its own so that nobody waits for all of them."""
    if len(request.positions) > MAX_POSITIONS:
        message = f"positions: {len(request.positions)} of them; at most {MAX_POSITIONS} a call"
        raise InvalidRequestError(message)
    time = time_from_proto(request)
    searches = []
    for index in range(len(request.positions)):
        searches.append(search_from_proto(request, index, time, session.capabilities))
        await asyncio.sleep(0)
    return searches


async def _answers(
    evaluations: Evaluations, searches: Sequence[Search]
) -> AsyncGenerator[tuple[int, Found]]:
    """What is found in each position, in the order in which it comes."""
    answers: asyncio.Queue[tuple[int, Found]] = asyncio.Queue()

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
