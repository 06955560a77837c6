"""How a server is doing, as it is shown to its operators and to everybody."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from meijin.store.ladders.ladders import LadderBacklog, LadderProgress


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server at one look."""

    version: str
    start_time: datetime
    is_draining: bool
    is_store_failing: bool
    connected_bots: int
    running_tournaments: int
    running_games: int
    pending_games: int
    ladders: LadderBacklog | None
    """``None`` while the database can't be read."""
    queued_jobs: int | None
    """``None`` while Redis does not answer."""
    backup_time: datetime | None
    """Of the newest one; ``None`` without any."""
    certificate_end: datetime | None
    """Of the server's own; ``None`` without TLS."""
    client_ca_end: datetime | None
    """Of the authorities whose certificates clients must show; ``None`` where they need none."""


@dataclass(frozen=True, slots=True)
class ServerActivity:
    """What goes on in a server, as far as anyone may know."""

    time: datetime
    version: str
    start_time: datetime
    is_draining: bool
    is_store_failing: bool
    connected_bots: int
    running_tournaments: int
    running_games: int
    pending_games: int
    games_last_hour: int
    """Those that ended with a result."""
    games_last_day: int
    longest_stall: timedelta
    """Of the last hour."""
    stalls: timedelta
    """All of the last hour."""
    longest_loop_work: timedelta
    """The most processor time that the event loop used in one of them."""
    longest_process_work: timedelta
    """The most that all threads together did."""
    ladders: Sequence[LadderProgress] | None
    """``None`` while the database can't be read."""
    queued_jobs: int | None
    """``None`` while Redis does not answer."""
