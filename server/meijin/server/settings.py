"""What a server is told when it starts."""

from datetime import timedelta
from pathlib import Path

from pydantic import Field, PositiveInt
from pydantic_settings import BaseSettings, SettingsConfigDict

from meijin.store import Durability

DEFAULT_ADDRESS = "127.0.0.1:7464"


class Settings(BaseSettings):
    """A server's settings: arguments first, then ``MEIJIN_*`` in the environment, then a file.

    The file is ``meijin.env`` in the folder the server is started in.
    """

    model_config = SettingsConfigDict(
        env_prefix="MEIJIN_", env_file="meijin.env", extra="ignore", frozen=True
    )

    listen: str = DEFAULT_ADDRESS
    """Host and port to serve on; port 0 takes a free one."""
    data: Path = Path("meijin-data")
    """The folder of the embedded database, the embedded Valkey and the operator's token."""
    database_url: str | None = None
    """An SQLAlchemy URL; SQLite in the data folder when absent."""
    redis_url: str | None = None
    """Where the jobs queue; an embedded Valkey and worker are started when absent."""
    durability: Durability = Durability.POWER
    """What a committed move survives."""
    open_registration: bool = False
    """Bots without a token may play, and anyone may manage tournaments."""
    grace: timedelta = Field(default=timedelta(seconds=30), ge=timedelta(0))
    """How long a bot may be away in one game altogether."""
    drain: timedelta = Field(default=timedelta(seconds=5), ge=timedelta(0))
    """How long running games may go on when the server is told to stop."""
    keepalive: timedelta = Field(default=timedelta(seconds=10), gt=timedelta(0))
    """How often a silent connection is probed; it is dropped after half of that without answer."""
    max_message_bytes: PositiveInt = 256 * 1024
    """The largest message that a bot may send."""
    max_notices: PositiveInt = 100
    """How many refused actions end a stream."""
    write_timeout: timedelta = Field(default=timedelta(seconds=5), gt=timedelta(0))
    """How long a peer may take to read a message."""
    sweep: timedelta = Field(default=timedelta(seconds=5), gt=timedelta(0))
    """How often the worker looks for ladders that no job was delivered for."""

    @property
    def database(self) -> str:
        """The URL of the database."""
        return self.database_url or f"sqlite:///{(self.data / 'meijin.db').resolve()}"
