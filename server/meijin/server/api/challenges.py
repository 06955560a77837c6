"""Challenges: made, listed and taken back; and the people who come to play."""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.caller import Caller, current_caller
from meijin.server.access.challenges import ChallengeControl, maker_of
from meijin.server.access.people import People
from meijin.server.api.convert_challenges import challenge_to_proto, request_from_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.limits import address_of
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.storage import Storage
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store import challenges as store
from meijin.store.challenges import ChallengeRow, Maker
from meijin.store.schema import TournamentId
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1.challenge_service_pb2_grpc import ChallengeServiceServicer
from meijin.wire import time_to_proto


class ChallengeServicer(ChallengeServiceServicer):
    """Challenges and people."""

    def __init__(
        self,
        control: ChallengeControl,
        people: People,
        scheduler: Scheduler,
        storage: Storage,
    ) -> None:
        self._control = control
        self._people = people
        self._scheduler = scheduler
        self._storage = storage

    async def EnterAsPerson(
        self, request: pb.EnterAsPersonRequest, context: Context
    ) -> pb.EnterAsPersonResponse:
        """Let a person in and return its token."""
        address = address_of(context.peer())
        person = await self._people.enter(address, request.display_name)
        return pb.EnterAsPersonResponse(
            name=person.name,
            display_name=person.display_name,
            token=person.token,
            expire_time=time_to_proto(person.expire_time),
        )

    async def CreateChallenge(
        self, request: pb.CreateChallengeRequest, context: Context
    ) -> pb.CreateChallengeResponse:
        """Make a challenge, once for a request id."""
        address, asked = address_of(context.peer()), request_from_proto(request)
        made = await self._control.create(current_caller.get(), asked, address)
        return pb.CreateChallengeResponse(challenge=self._to_proto(made))

    async def GetChallenge(
        self, request: pb.GetChallengeRequest, context: Context
    ) -> pb.GetChallengeResponse:
        """Show a challenge."""
        find = partial(store.get_challenge, challenge_id=_id(request.challenge_id))
        return pb.GetChallengeResponse(challenge=self._to_proto(await self._storage.read(find)))

    async def ListChallenges(
        self, request: pb.ListChallengesRequest, context: Context
    ) -> pb.ListChallengesResponse:
        """List challenges, newest first."""
        maker = maker_of(current_caller.get()) if request.mine else None
        page = await read_page(
            self._storage,
            partial(_list, maker=maker, is_running=request.running),
            self._to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.id,
        )
        return pb.ListChallengesResponse(challenges=page.messages, next_page_token=page.next_token)

    async def CancelChallenge(
        self, request: pb.CancelChallengeRequest, context: Context
    ) -> pb.CancelChallengeResponse:
        """Take a challenge back."""
        challenge_id = _id(request.challenge_id)
        row = await self._control.take_back(current_caller.get(), challenge_id)
        return pb.CancelChallengeResponse(challenge=self._to_proto(row))

    def _to_proto(self, row: ChallengeRow) -> pb.Challenge:
        names = {row.challenger_id: row.challenger, row.opponent_id: row.opponent}
        waiting_for = self._scheduler.waiting_for(row.id, names)
        return challenge_to_proto(row, waiting_for, is_mine=_is_mine(current_caller.get(), row))


def _is_mine(caller: Caller, row: ChallengeRow) -> bool:
    """Whether the caller made a challenge, with a token."""
    return caller.identity is not None and store.is_made_by(row, maker_of(caller))


def _id(text: str) -> TournamentId:
    return TournamentId(number(text, "challenge_id"))


def _list(
    connection: Connection, *, limit: int, after: str, maker: Maker | None, is_running: bool
) -> Sequence[ChallengeRow]:
    return store.list_challenges(
        connection, limit=limit, before=page_key(after), maker=maker, is_running=is_running
    )
