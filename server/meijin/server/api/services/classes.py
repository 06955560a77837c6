"""Classes, their students and their deadlines."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC
from functools import partial
from operator import attrgetter

from sqlalchemy import Connection

from meijin.server.access import classes
from meijin.server.access.bots import new_name
from meijin.server.access.caller import current_caller
from meijin.server.access.classes import MAX_STUDENTS, ClassUpdate, check_deadline
from meijin.server.api.answers.pages import list_page
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import HostingOffError, invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.store.access import classes as store
from meijin.store.access.classes import ClassRow, StudentRow
from meijin.store.access.tokens import new_secret
from meijin.store.errors import RowNotFoundError
from meijin.store.schema import BotId, TokenKind
from meijin.v1 import class_service_pb2 as pb
from meijin.v1.class_service_pb2_grpc import ClassServiceServicer
from meijin.wire.contract import check_bot_name
from meijin.wire.mapping import from_message, to_message


class ClassServicer(ClassServiceServicer):
    def __init__(self, storage: Storage, lobby: Lobby, settings: Settings) -> None:
        self._storage = storage
        self._lobby = lobby
        self._settings = settings

    async def CreateClass(
        self, request: pb.CreateClassRequest, context: Context
    ) -> pb.CreateClassResponse:
        caller = current_caller.get()
        with invalid_request("deadline"):
            deadline = request.deadline.ToDatetime(UTC) if request.HasField("deadline") else None
        with invalid_request("name"):
            check_bot_name(request.name)
        check_deadline(deadline, caller.time)
        if request.hosted and not self._settings.hosting:
            raise HostingOffError
        create = partial(classes.create, is_hosted=request.hosted)
        with new_name("a class", request.name):
            made = await self._storage.write(create, caller, request.name, deadline)
        return pb.CreateClassResponse(school_class=to_message(made, pb.Class))

    async def UpdateClass(
        self, request: pb.UpdateClassRequest, context: Context
    ) -> pb.UpdateClassResponse:
        """Change a class; register a student's bot, and return its token."""
        caller, token = current_caller.get(), ""
        with invalid_request():
            change = from_message(request, ClassUpdate).checked(
                caller.time, self._settings.people_games
            )
        student = change.student
        if student is not None:
            token = new_secret(TokenKind.BOT.value)
        with new_name("a bot", student.handle if student else "", "handle"):
            found = await self._storage.write(classes.update, caller, request.name, change, token)
        return pb.UpdateClassResponse(
            school_class=to_message(found, pb.Class),
            student=None if student is None else pb.Student(**asdict(student)),
            token=token,
        )

    async def GetClass(self, request: pb.GetClassRequest, context: Context) -> pb.GetClassResponse:
        bot_id = current_caller.get().bot_id
        found, students = await self._storage.read(_with_students, request.name, bot_id)
        connected = {session.player.bot_id for session in self._lobby.sessions}
        return pb.GetClassResponse(
            school_class=to_message(found, pb.Class),
            students=[
                to_message(row, pb.Student, connected=row.bot_id in connected) for row in students
            ],
        )

    async def ListClasses(
        self, request: pb.ListClassesRequest, context: Context
    ) -> pb.ListClassesResponse:
        return await list_page(
            self._storage,
            request,
            pb.ListClassesResponse,
            partial(store.list_classes, bot_id=current_caller.get().bot_id),
            token=attrgetter("name"),
        )


def _with_students(
    connection: Connection, name: str, bot_id: BotId | None
) -> tuple[ClassRow, Sequence[StudentRow]]:
    """A class with its students; for a bot of it with that student alone."""
    if bot_id is not None:
        own = store.list_classes(connection, limit=1, bot_id=bot_id)
        if [each.name for each in own] != [name]:
            raise RowNotFoundError(f'"{name}" is not your class')
    found = store.get_class(connection, name)
    return found, store.list_students(connection, found.id, limit=MAX_STUDENTS, bot_id=bot_id)
