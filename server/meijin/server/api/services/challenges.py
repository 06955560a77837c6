"""Challenges: made, listed and taken back; and the people who come to play."""

from collections.abc import Sequence
from functools import partial

from meijin.server.access.caller import Caller, current_caller
from meijin.server.access.challenges import ChallengeControl, ChallengeRequest, maker_of
from meijin.server.access.people import People
from meijin.server.api.answers.pages import id_if_any, id_of, list_page, newest_first
from meijin.server.api.calls.interceptor import Context
from meijin.server.api.calls.limits import address_of
from meijin.server.errors import invalid_request
from meijin.server.storage import Storage
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.schema import TournamentId
from meijin.store.tournaments import challenges as store
from meijin.store.tournaments.challenges import ChallengeRow
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1.challenge_service_pb2_grpc import ChallengeServiceServicer
from meijin.wire.mapping import from_message, to_message

MAX_FREE_BOTS = 12
"""That are named where a challenge waits."""


class ChallengeServicer(ChallengeServiceServicer):
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
        address = address_of(context.peer())
        person = await self._people.enter(address, request.display_name, request.class_key)
        return to_message(person, pb.EnterAsPersonResponse)

    async def CreateChallenge(
        self, request: pb.CreateChallengeRequest, context: Context
    ) -> pb.CreateChallengeResponse:
        with invalid_request():
            wanted = from_message(
                request.settings,
                ChallengeRequest,
                opponent=request.opponent,
                challenger=request.challenger,
                request_id=request.request_id,
                in_place_of=id_if_any(request, "in_place_of", TournamentId),
                class_key=request.class_key,
            )
        address = address_of(context.peer())
        made = await self._control.create(current_caller.get(), wanted, address)
        return pb.CreateChallengeResponse(challenge=self._to_proto(made))

    async def GetChallenge(
        self, request: pb.GetChallengeRequest, context: Context
    ) -> pb.GetChallengeResponse:
        row = await self._storage.read(
            store.get_challenge, id_of(request, "challenge_id", TournamentId)
        )
        place = self._scheduler.queue_place(row.id, row.opponent_id)
        names: Sequence[str] = ()
        if place is not None and request.with_free_bots:
            free = self._scheduler.free_like(row.id, row.opponent_id)
            names = await self._storage.read(store.open_to_anyone, free, limit=MAX_FREE_BOTS)
        return pb.GetChallengeResponse(
            challenge=self._to_proto(row),
            queue_place=None if place is None else to_message(place, pb.QueuePlace),
            free_bots=names,
        )

    async def ListChallenges(
        self, request: pb.ListChallengesRequest, context: Context
    ) -> pb.ListChallengesResponse:
        maker = maker_of(current_caller.get()) if request.mine else None
        query = partial(store.list_challenges, maker=maker, is_running=request.running)
        return await list_page(
            self._storage, request, pb.ListChallengesResponse, newest_first(query), self._to_proto
        )

    async def CancelChallenge(
        self, request: pb.CancelChallengeRequest, context: Context
    ) -> pb.CancelChallengeResponse:
        challenge_id = id_of(request, "challenge_id", TournamentId)
        row = await self._control.take_back(current_caller.get(), challenge_id)
        return pb.CancelChallengeResponse(challenge=self._to_proto(row))

    def _to_proto(self, row: ChallengeRow) -> pb.Challenge:
        names = {row.challenger_id: row.challenger, row.opponent_id: row.opponent}
        return to_message(
            row,
            pb.Challenge,
            settings=_settings(row),
            finished_games=row.finished,
            running_games=row.running,
            waiting_for=self._scheduler.waiting_for(row.id, names),
            mine=_is_mine(current_caller.get(), row),
        )


def _is_mine(caller: Caller, row: ChallengeRow) -> bool:
    """Whether the caller made a challenge, with a token."""
    return caller.identity is not None and store.is_made_by(row, maker_of(caller))


def _settings(row: ChallengeRow) -> pb.ChallengeSettings:
    is_same = row.opponent_time_control == row.time_control
    return to_message(
        row,
        pb.ChallengeSettings,
        opponent_time_control=None if is_same else row.opponent_time_control,
        openings=[opening for opening in row.openings if opening],
        server_openings=not row.openings,
    )
