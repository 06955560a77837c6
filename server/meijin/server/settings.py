"""Settings: what a server and a worker are told when they start."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, PositiveInt
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import URL

from meijin.store import Durability
from meijin.wire.contract import (
    DATABASE_FILE,
    DEFAULT_DATA,
    DEFAULT_SERVER,
    KEEPALIVE_INTERVAL,
    MAX_MESSAGE_BYTES,
    SWEEP_INTERVAL,
)

REDIS_SCHEMES = ("redis://", "rediss://", "unix://")


def _read_seconds(value: object) -> object:
    """Read plain seconds, as the options take them; other forms are pydantic's to read."""
    if isinstance(value, str):
        with suppress(ValueError, OverflowError):
            return timedelta(seconds=float(value))
    return value


Duration = Annotated[timedelta, BeforeValidator(_read_seconds)]
"""Written ``30`` or ``PT30S`` in the environment and in the file."""


def _check_redis_url(url: str) -> str:
    if not url.startswith(REDIS_SCHEMES):
        raise ValueError(f"it must begin with {', '.join(REDIS_SCHEMES)}")
    return url


RedisUrl = Annotated[str, AfterValidator(_check_redis_url)]
"""Where jobs queue."""

SweepInterval = Annotated[Duration, Field(gt=timedelta(0))]
"""How often a worker looks for ladders that no job was delivered for."""


class Settings(BaseSettings):
    """A server's settings: arguments first, then ``MEIJIN_*`` in the environment, then a file.

    The file is ``meijin.env`` in the folder the server is started in.
    """

    model_config = SettingsConfigDict(env_prefix="MEIJIN_", env_file="meijin.env", frozen=True)

    listen: str = DEFAULT_SERVER
    """Host and port to serve on; port 0 takes a free one."""
    data: Path = Path(DEFAULT_DATA)
    """The folder of the embedded database, the embedded Valkey and the operator's token."""
    database_url: str | None = None
    """An SQLAlchemy URL; SQLite in the data folder when absent."""
    redis_url: RedisUrl | None = None
    """Where the jobs queue; an embedded Valkey and worker are started when absent."""
    durability: Durability = Durability.POWER
    """What a committed move survives."""
    open_registration: bool = False
    """Bots without a token may play, and anyone may manage tournaments."""
    grace: Duration = Field(default=timedelta(seconds=30), ge=timedelta(0))
    """How long a bot may be away in one game altogether."""
    margin: Duration = Field(default=timedelta(milliseconds=50), ge=timedelta(0))
    """By how much a move may overstep its time before the flag falls."""
    drain: Duration = Field(default=timedelta(seconds=5), ge=timedelta(0))
    """How long running games may go on when the server is told to stop."""
    keepalive: Duration = Field(default=KEEPALIVE_INTERVAL, gt=timedelta(0))
    """How often a silent connection is probed; it is dropped after half of that without answer."""
    max_message_bytes: PositiveInt = MAX_MESSAGE_BYTES
    """The largest message that a bot may send."""
    max_notices: PositiveInt = 100
    """How many refused actions end a stream."""
    write_timeout: Duration = Field(default=timedelta(seconds=5), gt=timedelta(0))
    """How long a peer may take to read a message."""
    sweep: SweepInterval = SWEEP_INTERVAL
    """How often the worker looks for ladders that no job was delivered for."""

    @property
    def database(self) -> str:
        """The URL of the database."""
        if self.database_url:
            return self.database_url
        url = URL.create("sqlite", database=str((self.data / DATABASE_FILE).resolve()))
        return url.render_as_string(hide_password=False)


class WorkerSettings(BaseModel, frozen=True):
    """A worker's settings, in the forms that a server's have."""

    database_url: str
    """The server's database, an SQLAlchemy URL."""
    redis_url: RedisUrl
    """Where the server's jobs queue."""
    sweep: SweepInterval = SWEEP_INTERVAL
    """How often it looks for ladders that no job was delivered for."""
