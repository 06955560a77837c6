"""Bots: registered, listed, and given tokens."""

import hashlib
from bisect import bisect
from collections.abc import Sequence
from functools import partial
from itertools import starmap

from sqlalchemy import Connection

from meijin.game import decode_moves, format_opening
from meijin.server.access.bots import (
    BotUpdate,
    NewBot,
    new_name,
    register,
    report_doctor,
    update,
)
from meijin.server.access.caller import Caller, current_caller
from meijin.server.access.permissions import check_call
from meijin.server.api.answers.pages import id_of, list_page, oldest_first, page_key, within
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.admission import refusal
from meijin.server.match.lobby import Lobby
from meijin.server.match.wire import engine_from_proto
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.views.bots import RatedBot, bot_in_full, rated_bot, rated_bots
from meijin.server.views.differences import compare_versions
from meijin.store import bots as store
from meijin.store.access.people import is_person_name
from meijin.store.access.tokens import new_secret
from meijin.store.ladders.results import BotResults
from meijin.store.ladders.versions import ratings_by_name
from meijin.store.schema import BotId, BotVersionId, RatingLine, TokenKind
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import method_pb2
from meijin.v1.bot_service_pb2_grpc import BotServiceServicer
from meijin.wire.mapping import from_message, to_message

DISPLAY_NAMES = 5000
"""Of a page: the longest are 1.5 MB."""

MAX_RATINGS = 500
"""That are asked for at once."""

OF_A_LINE = (
    *("rating", "margin", "rated_games", "score", "faults"),
    *("bound", "form", "form_margin", "form_games"),
)
"""The fields of a version that are of its line in a run."""

MAX_SEARCH = 60
"""Characters that bots are searched by: as many as the longest of their names has."""


class BotServicer(BotServiceServicer):
    def __init__(
        self, storage: Storage, lobby: Lobby, scheduler: Scheduler, settings: Settings
    ) -> None:
        self._storage = storage
        self._lobby = lobby
        self._scheduler = scheduler
        self._settings = settings

    async def RegisterBot(
        self, request: pb.RegisterBotRequest, context: Context
    ) -> pb.RegisterBotResponse:
        caller, secret = current_caller.get(), new_secret(TokenKind.BOT.value)
        wanted = from_message(request, NewBot).checked()
        with new_name("a bot", wanted.name):
            await self._storage.write(register, caller, self._settings, wanted, secret)
        return pb.RegisterBotResponse(bot=await self._bot(wanted.name), token=secret)

    async def ReportDoctor(
        self, request: pb.ReportDoctorRequest, context: Context
    ) -> pb.ReportDoctorResponse:
        """Keep whether a version of the caller's own bot has passed the doctor."""
        engine, has_passed = engine_from_proto(request.engine), request.passed
        bot_id, version, versions = await self._storage.write(
            report_doctor, current_caller.get(), request.name, engine, has_passed=has_passed
        )
        self._lobby.set_passed(bot_id, versions, has_passed=has_passed)
        self._scheduler.bot_changed(bot_id)
        return pb.ReportDoctorResponse(version=version_to_proto(version))

    async def UpdateBot(
        self, request: pb.UpdateBotRequest, context: Context
    ) -> pb.UpdateBotResponse:
        """Change a bot; the open stream of one that may not play is ended, and its program."""
        caller = current_caller.get()
        with invalid_request():
            change = from_message(request, BotUpdate)
        if change.is_operators:
            check_call(self._settings, method_pb2.PERMISSION_OPERATOR, caller.identity)
        change = change.checked()
        paused = [pause.version_id for pause in self._scheduler.pauses.in_force()]
        with new_name("a bot", change.new_name or request.name):
            bot, lifted = await self._storage.write(update, caller, request.name, change, paused)
        if change.state is not None and (error := refusal(bot)) is not None:
            self._lobby.expel(bot.id, error)
            self._scheduler.seats.dismiss(bot.id)
        self._lobby.update(bot.id, bot.name, is_hidden=bot.is_hidden)
        if lifted:
            self._scheduler.lift_pauses(bot.id, lifted)
        return pb.UpdateBotResponse(bot=await self._bot(bot.name))

    async def GetBot(self, request: pb.GetBotRequest, context: Context) -> pb.GetBotResponse:
        if not request.with_results:
            return pb.GetBotResponse(bot=await self._bot(request.name))
        found = await self._storage.read(bot_in_full, request.name)
        return pb.GetBotResponse(
            bot=self._to_proto(found.bot),
            versions=within(starmap(version_to_proto, found.versions)),
            results=_results_to_proto(found.results),
            rank=found.rank,
            ranked=found.ranked,
        )

    async def ListBots(self, request: pb.ListBotsRequest, context: Context) -> pb.ListBotsResponse:
        caller = current_caller.get()
        if len(request.search) > MAX_SEARCH:
            words = f"search is of {len(request.search)} characters; at most {MAX_SEARCH}"
            raise InvalidRequestError(words)
        there = None
        if request.connected:
            there = self._connected(with_hidden=caller.is_operator, with_people=request.with_people)
        return await list_page(
            self._storage,
            request,
            pb.ListBotsResponse,
            partial(_list, request=request, caller=caller, there=there),
            self._to_proto,
            token=lambda found: found.row.name,
        )

    async def ListDisplayNames(
        self, request: pb.ListDisplayNamesRequest, context: Context
    ) -> pb.ListDisplayNamesResponse:
        return await self._storage.read(_display_names, request)

    async def GetRatings(
        self, request: pb.GetRatingsRequest, context: Context
    ) -> pb.GetRatingsResponse:
        if len(request.bots) > MAX_RATINGS:
            raise InvalidRequestError(f"{len(request.bots)} bots; at most {MAX_RATINGS}")
        found = await self._storage.read(ratings_by_name, request.bots)
        return pb.GetRatingsResponse(ratings=found)

    async def _bot(self, name: str) -> pb.Bot:
        return self._to_proto(await self._storage.read(rated_bot, name))

    def _to_proto(self, found: RatedBot) -> pb.Bot:
        """A bot and whether it is there; whether it may play is for its owner and operators."""
        caller, (row, rating) = current_caller.get(), found
        player = self._lobby.players.get(row.id)
        scheduler = self._scheduler
        place = (player and player.session) or scheduler.leases.of_bot(row.id)
        program = scheduler.seats.program(row.id)
        is_person = is_person_name(row.name)
        is_theirs = caller.owner_id is not None and caller.owner_id == row.owner_id
        differing: dict[str, object] = {"challenges": None} if is_person else {}
        if not (is_theirs or caller.is_operator):
            differing |= {"state": None, "reason": ""}
        if place is not None:
            differing["last_seen_time"] = caller.time
        return to_message(
            row,
            pb.Bot,
            connected=place is not None,
            running_games=0 if player is None else len(player.games),
            hosted=program is not None,
            capabilities=None if (there := place or program) is None else there.capabilities,
            paused=place is not None and scheduler.pauses.is_paused(place.version_id),
            unexamined=place is not None and not place.may_be_rated,
            rating=None if rating is None else rating.elo,
            ladder=None if rating is None else rating.ladder,
            is_person=is_person,
            **differing,
        )

    def _connected(self, *, with_hidden: bool, with_people: bool) -> list[tuple[str, BotId]]:
        """The names and ids of those who are there, sorted; also at workers, and when called."""
        players = (each for each in self._lobby.players.values() if each.session is not None)
        found = {
            (each.name, each.bot_id)
            for each in players
            if with_hidden >= each.is_hidden and with_people >= each.is_person
        }
        sides = [
            side for worker in self._scheduler.leases.workers for side in worker.sides.values()
        ]
        programs = self._scheduler.seats.callable()
        return sorted(
            found
            | {(side.participant.name, side.participant.bot_id) for side in sides}
            | {(each.bot, each.bot_id) for each in programs if with_hidden >= each.is_hidden}
        )

    async def CompareVersions(
        self, request: pb.CompareVersionsRequest, context: Context
    ) -> pb.CompareVersionsResponse:
        return await self._storage.read(_compare, request)

    async def ListBotVersions(
        self, request: pb.ListBotVersionsRequest, context: Context
    ) -> pb.ListBotVersionsResponse:
        return await list_page(
            self._storage,
            request,
            pb.ListBotVersionsResponse,
            oldest_first(partial(_versions, name=request.name)),
            version_to_proto,
        )


def _compare(
    connection: Connection, request: pb.CompareVersionsRequest
) -> pb.CompareVersionsResponse:
    """The comparison as a message already: it is none for the loop."""
    found = compare_versions(
        connection,
        request.name,
        id_of(request, "version_id", BotVersionId),
        id_of(request, "other_version_id", BotVersionId),
    )
    one, other = (
        version_to_proto(row, found.ratings.get(row.id)) for row in (found.one, found.other)
    )
    return to_message(found, pb.CompareVersionsResponse, one=one, other=other)


def _display_names(
    connection: Connection, request: pb.ListDisplayNamesRequest
) -> pb.ListDisplayNamesResponse:
    """A page of display names as a message already, with what tells all of them from others."""
    names = store.display_names(connection)
    version = hashlib.sha256("\n".join(map("\t".join, names)).encode()).hexdigest()[:20]
    answer = pb.ListDisplayNamesResponse(version=version)
    if request.version != version:
        first = page_key(request.page_token) or 0
        end = first + DISPLAY_NAMES
        answer.display_names.update(names[first:end])
        answer.next_page_token = str(end) if end < len(names) else ""
    return answer


def version_to_proto(row: store.VersionRow, line: RatingLine | None = None) -> pb.BotVersion:
    rated: dict[str, object] = dict.fromkeys(OF_A_LINE)
    if line is not None:
        score = line.as_black + line.as_white
        rated = {name: getattr(line, name, None) for name in OF_A_LINE}
        rated |= {"rating": line.elo, "rated_games": score.games, "score": score}
    return to_message(
        row,
        pb.BotVersion,
        version_id=row.id,
        version=row.label,
        parent_version_id=row.parent_id,
        **rated,
    )


def _results_to_proto(results: BotResults) -> pb.BotResults:
    openings = [
        to_message(
            each,
            pb.BotOpening,
            opening=format_opening(decode_moves(each.opening), each.variant),
        )
        for each in results.openings
    ]
    return to_message(results, pb.BotResults, games=results.scores.games, openings=openings)


def _list(
    connection: Connection,
    *,
    request: pb.ListBotsRequest,
    caller: Caller,
    there: Sequence[tuple[str, BotId]] | None,
    limit: int,
    after: str,
) -> Sequence[RatedBot]:
    """Bots by their names; of those that are there alone where they are given."""
    if there is not None and not (request.search or request.owner):
        first = bisect(there, after, key=lambda bot: bot[0])
        rows = store.get_bots(connection, dict(there[first : first + limit]))
        return rated_bots(connection, rows)
    rows = store.list_bots(
        connection,
        limit=limit,
        after=after,
        search=request.search,
        hidden_of=caller.owner_id,
        with_hidden=caller.is_operator or there is not None,
        with_people=request.with_people or there is not None,
        owner=request.owner,
        among=None if there is None else [bot_id for _, bot_id in there],
    )
    return rated_bots(connection, rows)


def _versions(
    connection: Connection, *, name: str, limit: int, after: int
) -> Sequence[store.VersionRow]:
    bot_id = store.get_bot(connection, name)
    return store.list_versions(connection, bot_id, limit=limit, after=after)
