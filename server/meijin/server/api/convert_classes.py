"""Converters of classes: rows in, messages out."""

from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from meijin.store.classes import ClassRow, StudentRow
from meijin.v1 import class_service_pb2
from meijin.wire import time_to_proto


def class_to_proto(row: ClassRow) -> class_service_pb2.Class:
    """A class, without its students."""
    return class_service_pb2.Class(
        name=row.name,
        create_time=time_to_proto(row.create_time),
        deadline=_time(row.deadline),
        students=row.students,
    )


def student_to_proto(row: StudentRow, *, is_connected: bool) -> class_service_pb2.Student:
    """A student and the bot."""
    return class_service_pb2.Student(
        handle=row.handle,
        display_name=row.display_name,
        student_id=row.student_id,
        version=row.version,
        version_id="" if row.version_id is None else str(row.version_id),
        seen_time=_time(row.last_seen_time),
        connected=is_connected,
        games=row.games,
        late_attempts=row.late_attempts,
        late_time=_time(row.late_time),
    )


def _time(time: datetime | None) -> Timestamp | None:
    return None if time is None else time_to_proto(time)
