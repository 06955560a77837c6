"""How the server is doing, for everybody."""

from datetime import timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from meijin.v1 import status_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.request import Page, PageRequest

LONG_STALL = timedelta(seconds=1)
"""Of the event loop; one that is longer is told first."""


async def show(request: PageRequest) -> LazyPage:
    now = await request.services.status.GetActivity(pb.GetActivityRequest())

    def age(since: Timestamp) -> timedelta:
        """How long ago something was when all was looked up, in whole seconds."""
        seconds = (now.time.ToNanoseconds() - since.ToNanoseconds()) // 1_000_000_000
        return timedelta(seconds=max(0, seconds))

    return request.page("status.html", now=now, age=age, long_stall=LONG_STALL)


ROUTES = (Page("/status", show),)
