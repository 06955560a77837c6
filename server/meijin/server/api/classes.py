"""Classes, their students and their deadlines."""

from collections.abc import Sequence
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import Connection

from meijin.server.access.caller import current_caller
from meijin.server.access.classes import MAX_STUDENTS, ClassControl, NewStudent
from meijin.server.api.convert_classes import class_to_proto, student_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import read_page
from meijin.server.errors import invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.store import classes as store
from meijin.store.classes import ClassRow, StudentRow
from meijin.v1 import class_service_pb2 as pb
from meijin.v1.class_service_pb2_grpc import ClassServiceServicer


class ClassServicer(ClassServiceServicer):
    """The server's classes."""

    def __init__(self, control: ClassControl, lobby: Lobby, storage: Storage) -> None:
        self._control = control
        self._lobby = lobby
        self._storage = storage

    async def CreateClass(
        self, request: pb.CreateClassRequest, context: Context
    ) -> pb.CreateClassResponse:
        """Make a class."""
        deadline = _time(request.deadline) if request.HasField("deadline") else None
        made = await self._control.create(current_caller.get(), request.name, deadline)
        return pb.CreateClassResponse(school_class=class_to_proto(made))

    async def AddStudent(
        self, request: pb.AddStudentRequest, context: Context
    ) -> pb.AddStudentResponse:
        """Register a student's bot and return its token."""
        wanted = NewStudent(
            request.class_name, request.handle, request.display_name, request.student_id
        )
        kept, token = await self._control.add(current_caller.get(), wanted)
        student = pb.Student(
            handle=kept.handle, display_name=kept.display_name, student_id=kept.student_id
        )
        return pb.AddStudentResponse(student=student, token=token)

    async def SetDeadline(
        self, request: pb.SetDeadlineRequest, context: Context
    ) -> pb.SetDeadlineResponse:
        """Set, move or lift a deadline."""
        deadline = _time(request.deadline) if request.HasField("deadline") else None
        found = await self._control.set_deadline(
            current_caller.get(), request.class_name, deadline, is_now=request.now
        )
        return pb.SetDeadlineResponse(school_class=class_to_proto(found))

    async def GetClass(self, request: pb.GetClassRequest, context: Context) -> pb.GetClassResponse:
        """Tell a class with its students."""
        found, students = await self._storage.read(lambda sql: _with_students(sql, request.name))
        players = self._lobby.players
        connected = {key for key, player in players.items() if player.session is not None}
        return pb.GetClassResponse(
            school_class=class_to_proto(found),
            students=[
                student_to_proto(row, is_connected=row.bot_id in connected) for row in students
            ],
        )

    async def ListClasses(
        self, request: pb.ListClassesRequest, context: Context
    ) -> pb.ListClassesResponse:
        """List classes by name."""
        page = await read_page(
            self._storage,
            store.list_classes,
            class_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.name,
        )
        return pb.ListClassesResponse(classes=page.messages, next_page_token=page.next_token)


def _with_students(connection: Connection, name: str) -> tuple[ClassRow, Sequence[StudentRow]]:
    found = store.get_class(connection, name)
    return found, store.list_students(connection, found.id, limit=MAX_STUDENTS)


def _time(time: Timestamp) -> datetime:
    with invalid_request("deadline"):
        return time.ToDatetime(UTC)
