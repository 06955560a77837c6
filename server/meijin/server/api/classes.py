"""Classes, their students and their deadlines."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC

from sqlalchemy import Connection

from meijin.server.access.caller import current_caller
from meijin.server.access.classes import MAX_STUDENTS, ClassControl, ClassUpdate
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import read_page
from meijin.server.errors import invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.store import classes as store
from meijin.store.classes import ClassRow, StudentRow
from meijin.v1 import class_service_pb2 as pb
from meijin.v1.class_service_pb2_grpc import ClassServiceServicer
from meijin.wire.mapping import from_message, to_message


class ClassServicer(ClassServiceServicer):
    """The server's classes."""

    def __init__(self, control: ClassControl, lobby: Lobby, storage: Storage) -> None:
        self._control = control
        self._lobby = lobby
        self._storage = storage

    async def CreateClass(
        self, request: pb.CreateClassRequest, context: Context
    ) -> pb.CreateClassResponse:
        with invalid_request("deadline"):
            deadline = request.deadline.ToDatetime(UTC) if request.HasField("deadline") else None
        made = await self._control.create(current_caller.get(), request.name, deadline)
        return pb.CreateClassResponse(school_class=to_message(made, pb.Class))

    async def UpdateClass(
        self, request: pb.UpdateClassRequest, context: Context
    ) -> pb.UpdateClassResponse:
        """Set, move or lift a deadline; register a student's bot, and return its token."""
        with invalid_request():
            change = from_message(request, ClassUpdate)
        found, student, token = await self._control.update(
            current_caller.get(), request.name, change
        )
        return pb.UpdateClassResponse(
            school_class=to_message(found, pb.Class),
            student=None if student is None else pb.Student(**asdict(student)),
            token=token,
        )

    async def GetClass(self, request: pb.GetClassRequest, context: Context) -> pb.GetClassResponse:
        found, students = await self._storage.read(_with_students, request.name)
        players = self._lobby.players
        connected = {key for key, player in players.items() if player.session is not None}
        return pb.GetClassResponse(
            school_class=to_message(found, pb.Class),
            students=[
                to_message(row, pb.Student, connected=row.bot_id in connected) for row in students
            ],
        )

    async def ListClasses(
        self, request: pb.ListClassesRequest, context: Context
    ) -> pb.ListClassesResponse:
        """List classes by name."""
        page = await read_page(
            self._storage,
            store.list_classes,
            lambda row: to_message(row, pb.Class),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.name,
        )
        return pb.ListClassesResponse(classes=page.messages, next_page_token=page.next_token)


def _with_students(connection: Connection, name: str) -> tuple[ClassRow, Sequence[StudentRow]]:
    found = store.get_class(connection, name)
    return found, store.list_students(connection, found.id, limit=MAX_STUDENTS)
