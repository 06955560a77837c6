"""How a server is doing, as it is shown to its operators."""

from dataclasses import dataclass
from datetime import datetime

from meijin.store.ladders.ladders import LadderBacklog


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
