"""The store's watch: since when the store owes an answer, and whether it is away."""

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from sqlalchemy import Connection, text, update
from sqlalchemy.exc import DBAPIError

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.server.errors import StoreAwayError
from meijin.server.match.stalls import StallWatch
from meijin.store import Writer
from meijin.store.database import is_unavailable
from meijin.store.move_log.mark import LogMark, write_mark
from meijin.store.schema import Claim

log = structlog.get_logger()

AWAY_AFTER_NS = NS_PER_SECOND // 2
"""A request that has waited for so long shows that the store is away."""

MAX_HOLD_NS = 2 * AWAY_AFTER_NS + NS_PER_SECOND // 10
"""The longest that a stream that was opened holds the judging of absences.

It needs the store twice, for its token and for its hello. If each takes less than
`AWAY_AFTER_NS` it is through by then; if not, the store is away, and nobody is judged.
"""

HEARTBEAT_INTERVAL = timedelta(seconds=1)
"""Between two heartbeats, by which a server without games notices an outage."""

BEATS_PER_WRITE = 10
"""Heartbeats to one that writes: it waits for the disk, which a database at rest need not."""


@dataclass(slots=True, eq=False)
class StoreRequest:
    """Something that the store owes an answer to."""

    since_ns: int
    """Of the server's running time."""


class StoreWatch:
    """Knows since when the store owes an answer, and whether it is away.

    It is away once a request has waited for `AWAY_AFTER_NS` or has failed, until a write
    succeeds. Nobody can come in meanwhile, so nobody counts as absent.

    Times are those in which the server ran: its own stalls are not the store's.
    """

    def __init__(self, watch: StallWatch) -> None:
        self.is_away = False
        """As of the last look."""
        self.changed = asyncio.Event()
        """Set when it went or came back."""
        self._watch = watch
        self._requests: OrderedDict[StoreRequest, None] = OrderedDict()
        """Oldest first. However many wait, a look takes the same time."""
        self._errors: dict[StoreRequest, str] = {}
        """Why the last try of each that is tried again has failed."""
        self._arrivals: dict[object, int] = {}
        self._failure = ""
        self._away_since_ns = 0

    # -- what waits ---------------------------------------------------------------------

    @contextmanager
    def write(self) -> Iterator[StoreRequest]:
        """A transaction that writes, with all its tries; its success shows that the store answers."""
        with self.owed() as request:
            yield request
            self._failure = ""

    @contextmanager
    def owed(self) -> Iterator[StoreRequest]:
        """What the store owes an answer to, with all tries; it says nothing of the database."""
        request = StoreRequest(self._watch.moment().served_ns)
        self._requests[request] = None
        try:
            yield request
        except StoreAwayError as error:
            self._failure = _reason(error)
            raise
        finally:
            del self._requests[request]
            self._errors.pop(request, None)
            self.look(self._watch.moment())

    read = owed
    """A query that a bot waits for; what it finds says nothing about writing."""

    def fail(self, request: StoreRequest, reason: str) -> None:
        """A request has failed, and is about to be tried again."""
        self._errors[request] = reason
        self.look(self._watch.moment())

    @contextmanager
    def arrival(self, since_ns: int) -> Iterator[None]:
        """A stream that was opened at `since_ns`, until its bot is in or refused."""
        key = object()
        self._arrivals[key] = since_ns
        try:
            yield
        finally:
            del self._arrivals[key]

    # -- what follows -------------------------------------------------------------------

    def look(self, moment: Moment) -> None:
        """See whether it is away, and tell the log when that has changed."""
        waited_ns = moment.served_ns - self._oldest_ns(moment)
        if waited_ns >= AWAY_AFTER_NS:
            self._failure = self._failure or "no answer"
        failure = next(iter(self._errors.values()), self._failure)
        if bool(failure) == self.is_away:
            return
        self.is_away = not self.is_away
        self.changed.set()
        if self.is_away:
            self._away_since_ns = moment.served_ns - waited_ns
        seconds = round((moment.served_ns - self._away_since_ns) / NS_PER_SECOND, 3)
        if self.is_away:
            log.error("the database fails; games wait", error=failure, seconds=seconds)
        else:
            log.info("the database is back", seconds=seconds)

    def judged_ns(self, moment: Moment) -> int:
        """The instant as of which absences are judged: before that of the oldest bot at the door.

        So what the store costs a bot on its way in is not the bot's absence.
        """
        oldest_ns = min(self._arrivals.values(), default=moment.served_ns)
        oldest_ns = min(oldest_ns, self._oldest_ns(moment))
        return max(oldest_ns, moment.served_ns - MAX_HOLD_NS)

    def _oldest_ns(self, moment: Moment) -> int:
        """Since when something waits for the store; now when nothing does."""
        oldest = next(iter(self._requests), None)
        return moment.served_ns if oldest is None else oldest.since_ns

    # -- the heartbeat ------------------------------------------------------------------

    async def beat(self, writer: Writer, mark: Callable[[], LogMark | None]) -> None:
        """Have the writer do next to nothing now and then.

        A full disk refuses nothing but what is written: one beat in `BEATS_PER_WRITE` writes,
        and while the store is away each does, so that it is back when it stores again.

        Args:
            mark: Tells what the database is to know of the log of moves, with each that writes.

        Raises:
            DBAPIError: the database fails in a way from which it does not recover.
        """
        for count in itertools.count():
            await asyncio.sleep(HEARTBEAT_INTERVAL.total_seconds())
            is_writing = self.is_away or count % BEATS_PER_WRITE == 0
            work = partial(_write, mark=mark()) if is_writing else _do_nothing
            with suppress(StoreAwayError), self.write():
                try:
                    await asyncio.wrap_future(writer.submit(work, is_urgent=True))
                except DBAPIError as error:
                    if not is_unavailable(error):
                        raise
                    raise StoreAwayError("no heartbeat") from error


def _do_nothing(connection: Connection) -> None:
    connection.execute(text("SELECT 1"))


def _write(connection: Connection, mark: LogMark | None) -> None:
    """Write a page, also where it stays as it is: SQLite leaves out an update that changes nothing."""
    for step in (1, -1):
        connection.execute(update(Claim).values(epoch=Claim.epoch + step))
    if mark is not None:
        write_mark(connection, mark)


def _reason(error: StoreAwayError) -> str:
    """What the database's driver said."""
    cause = error.__cause__
    return str(cause.orig if isinstance(cause, DBAPIError) else error)
