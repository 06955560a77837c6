"""Settings: what a server and a worker are told when they start."""

import enum
from contextlib import suppress
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from sqlalchemy import URL

from meijin.game import TIME_CLASSES, TimeClasses
from meijin.programs.kinds import MAX_UPLOAD_BYTES
from meijin.server.logs import LogFormat, LogLevel
from meijin.store import Durability
from meijin.wire.contract import (
    BACKUP_FOLDER,
    DATABASE_FILE,
    DEFAULT_DATA,
    DEFAULT_SERVER,
    DEFAULT_WEB,
    KEEPALIVE_INTERVAL,
    MAX_MESSAGE_BYTES,
    MAX_PORT,
    PROGRAM_FOLDER,
    SWEEP_INTERVAL,
    UNIX_SCHEME,
    is_local,
)

HTTP_SCHEMES = ("http://", "https://")
NO_WEB = "off"
"""In the place of an address: no pages are served."""
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


def _check_host_and_port(address: str) -> str:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > MAX_PORT:
        raise ValueError("it must be HOST:PORT, with a port up to 65535")
    return address


def _check_listen_address(address: str) -> str:
    if address.startswith(UNIX_SCHEME):
        return address
    try:
        return _check_host_and_port(address)
    except ValueError as error:
        raise ValueError(f"{error}, or {UNIX_SCHEME}PATH") from None


ListenAddress = Annotated[str, AfterValidator(_check_listen_address)]
"""What bots connect to."""

HostAndPort = Annotated[str, AfterValidator(_check_host_and_port)]
"""What is listened on."""


def _check_web_address(address: str) -> str:
    return address if address == NO_WEB else _check_host_and_port(address)


WebAddress = Annotated[str, AfterValidator(_check_web_address)]
"""Where pages are served, or ``off``."""


def _http_url(words: str) -> AfterValidator:
    """Accepts the URL of a host; else it says in words what that must be."""

    def check(url: str) -> str:
        if not url.startswith(HTTP_SCHEMES) or not urlsplit(url).hostname:
            raise ValueError(words)
        return url.rstrip("/")

    return AfterValidator(check)


WebUrl = Annotated[str, _http_url("it must be where people look, such as https://arena.example")]
"""Where people find the pages."""


CollectorUrl = Annotated[
    str, _http_url("it must be a collector's URL, such as http://127.0.0.1:4317")
]
"""Where traces are sent, by OTLP over gRPC."""


def _read_time_classes(value: object) -> object:
    return TimeClasses.parse(value) if isinstance(value, str) else value


WrittenTimeClasses = Annotated[TimeClasses, NoDecode, BeforeValidator(_read_time_classes)]
"""Written ``bullet=20,blitz=120,rapid``."""


def _read_networks(value: object) -> object:
    if isinstance(value, str):
        return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
    return value


WrittenNetworks = Annotated[
    tuple[IPv4Network | IPv6Network, ...] | None, NoDecode, BeforeValidator(_read_networks)
]
"""Written ``10.0.0.0/8,fd00::/8``."""


SweepInterval = Annotated[Duration, Field(gt=timedelta(0))]
"""How often a worker looks for ladders that no job was delivered for."""


class Registration(enum.Enum):
    """Who may register bots."""

    OPEN = "open"
    """Anyone: bots play without a token, and everybody is an operator."""
    INVITATION = "invitation"
    """Owners, each within a quota; who has an invitation becomes one."""
    CLOSED = "closed"
    """Operators alone."""


class Reading(enum.Enum):
    """Who may look at bots, games, tournaments and ladders."""

    ANYONE = "anyone"
    TOKEN = "token"  # noqa: S105 - a word
    """Whoever has a token, of any kind."""


class Admission(enum.Enum):
    """Which versions of bots get rated games."""

    ANYONE = "anyone"
    DOCTOR = "doctor"
    """Those that have passed the doctor, by their authors' word."""


class Settings(BaseSettings):
    """A server's settings: arguments first, then ``MEIJIN_*`` in the environment, then a file.

    The file is ``meijin.env`` in the folder the server is started in.
    """

    model_config = SettingsConfigDict(
        env_prefix="MEIJIN_",
        env_file="meijin.env",
        frozen=True,
        use_attribute_docstrings=True,
    )

    listen: ListenAddress = DEFAULT_SERVER
    """Host and port to serve on, or ``unix:PATH``; port 0 takes a free one."""
    certificate: Path | None = None
    """A PEM file of the server's certificate, with those between it and its authority after it."""
    key: Path | None = None
    """A PEM file of the certificate's key."""
    client_ca: Path | None = None
    """A PEM file of authorities; clients must show a certificate by one of them."""
    plaintext: bool = False
    """Other machines may connect without TLS."""
    data: Path = Path(DEFAULT_DATA)
    """The folder of the embedded database, the embedded Valkey and the operator's token."""
    database_url: str | None = None
    """An SQLAlchemy URL; SQLite in the data folder when absent."""
    check_database: bool = True
    """Whether an SQLite file is read through at the start, to refuse a damaged one."""
    accept_lost_moves: bool = False
    """Start though the log of moves is damaged, missing or another one: games that may be short are
    void; not to be left on."""
    redis_url: RedisUrl | None = None
    """Where jobs queue, as ``redis://``, ``rediss://`` or ``unix://``; without it, an embedded Valkey
    and a worker are started."""
    durability: Durability = Durability.POWER
    """What a committed move survives: a ``power`` cut, or the end of any ``process`` alone."""
    registration: Registration = Registration.CLOSED
    """Who may register bots: everybody (``open``), owners by ``invitation``, or operators alone."""
    reading: Reading = Reading.ANYONE
    """Who may look: ``anyone``, or who has a ``token``."""
    admission: Admission = Admission.ANYONE
    """Which versions of bots get rated games: ``anyone``'s, or those that passed the ``doctor``."""
    owner_quota: PositiveInt = 10
    """The most bots that an owner may register, where its invitation says nothing else."""
    owner_tournaments: bool = False
    """Owners may make tournaments."""
    owner_tournament_games: PositiveInt = 10_000
    """The most games of an owner's tournaments that run or wait at once."""
    owner_tournaments_at_once: PositiveInt = 10
    """The most tournaments of an owner that are played at once."""
    owner_tournaments_an_hour: PositiveInt = 20
    """The most tournaments that an owner may make in an hour."""
    challenge_games: PositiveInt = 40
    """The most games of an owner's challenges that run or wait at once."""
    challenge_games_a_day: PositiveInt = 400
    """The most games that an owner's challenges may have in 24 hours."""
    people: bool = True
    """People may come and play, where anyone may look."""
    people_games: PositiveInt = 50
    """The most challenges by people that run at once."""
    hosting: bool = False
    """Owners may hand programs over, which hosts play."""
    programs: str | None = None
    """Where programs are kept: a folder, or a bucket such as ``s3://bots``; in the data folder when
    absent."""
    max_program_bytes: PositiveInt = MAX_UPLOAD_BYTES
    """The largest program."""
    owner_programs: PositiveInt = 20
    """The most programs of an owner's bots that are kept."""
    owner_program_bytes: PositiveInt = 100 * 1024 * 1024
    """The most bytes of those."""
    owner_program_cpu: Duration = Field(default=timedelta(hours=8), gt=timedelta(0))
    """The most processor time a day that programs of an owner's bots may use."""
    open_to_network: bool = False
    """Registration may be open to other machines too."""
    time_classes: WrittenTimeClasses = TIME_CLASSES
    """The classes of time control that ladders are split by."""
    grace: Duration = Field(default=timedelta(seconds=30), ge=timedelta(0))
    """How long a bot may be away in one game altogether."""
    margin: Duration = Field(default=timedelta(milliseconds=50), ge=timedelta(0))
    """By how much a move may overstep its time before the flag falls."""
    drain: Duration = Field(default=timedelta(seconds=5), ge=timedelta(0))
    """How long running games may go on when the server is told to stop."""
    keepalive: Duration = Field(default=KEEPALIVE_INTERVAL, gt=timedelta(0))
    """How often a silent connection is probed; it is dropped after half of that without answer."""
    max_message_bytes: PositiveInt = MAX_MESSAGE_BYTES
    """The largest message or request; while one comes in, a stream may hold twice as much."""
    max_faults: NonNegativeInt = 20
    """How many games in a row a bot may forfeit before it is paused for ten minutes; 0 for any."""
    max_notices: PositiveInt = 100
    """How many actions without effect end a stream; all of them come back within 100 s."""
    max_streams: PositiveInt = 2000
    """How many streams the bots of one address may hold."""
    max_watchers: PositiveInt = 100
    """How many watches of games and tournaments one address may hold."""
    connections_per_second: PositiveInt = 100
    """How many connections of one address are taken each second, and four times as many of all; more
    wait."""
    hellos_per_second: PositiveInt = 50
    """How many bots of one address are let in each second; more wait."""
    requests_per_second: PositiveInt = 50
    """How many requests of one address are served each second; more wait."""
    max_failed_sign_ins: PositiveInt = 5
    """How many wrong tokens a minute of one address are looked up."""
    write_timeout: Duration = Field(default=timedelta(seconds=5), gt=timedelta(0))
    """How long a peer may take to read a message."""
    sweep: SweepInterval = SWEEP_INTERVAL
    """How often the worker looks for ladders that no job was delivered for."""
    log_level: LogLevel = LogLevel.INFO
    """What is logged at least: ``debug``, ``info``, ``warning`` or ``error``."""
    log_format: LogFormat = LogFormat.AUTO
    """``text`` for people, ``json`` for machines; ``auto`` is text to a terminal alone."""
    metrics: HostAndPort | None = None
    """Host and port of metrics for Prometheus; none are served without it."""
    traces: CollectorUrl | None = None
    """URL of an OpenTelemetry collector for traces; none are made without it."""
    web: WebAddress = DEFAULT_WEB
    """Host and port of the pages for browsers; port 0 takes a free one, ``off`` has none."""
    web_url: WebUrl | None = None
    """Where people find the pages if that is another address, such as ``https://arena.example``."""
    web_delay: Duration = Field(default=timedelta(0), ge=timedelta(0), le=timedelta(hours=1))
    """By how much boards in browsers are behind the games, at most an hour."""
    webhooks: bool = True
    """Webhooks may be made, and are told what happens."""
    webhook_networks: WrittenNetworks = None
    """Where operators' webhooks may send besides public addresses, such as ``10.0.0.0/8,fd00::/8``."""
    backup_every: Annotated[Duration, Field(gt=timedelta(0))] | None = None
    """Between automatic backups of an SQLite database; none are taken without it."""
    backup_keep: PositiveInt = 7
    """How many automatic backups are kept."""

    @field_validator("backup_every")
    @classmethod
    def _check_backups(cls, every: timedelta | None, info: ValidationInfo) -> timedelta | None:
        """Accept automatic backups of SQLite alone."""
        if every is not None and (info.data.get("database_url") or "").startswith("postgresql"):
            raise ValueError("the database is PostgreSQL's; have a timer run pg_dump instead")
        return every

    @model_validator(mode="after")
    def _check_encryption(self) -> Self:
        """See that nobody is let in unawares, and that nobody listens in."""
        if (self.certificate is None) != (self.key is None):
            raise ValueError("certificate and key go together; give both or none")
        if self.client_ca is not None and not self.is_tls:
            raise ValueError("client_ca is for TLS; give certificate and key too")
        if self.is_open and self.reading is Reading.TOKEN:
            raise ValueError(
                "with open registration everybody is an operator, who may look too; leave out "
                "either --open or --reading token"
            )
        for address in (self.listen, self.web):
            if address != NO_WEB and not is_local(address):
                self._check_reach(address)
        return self

    def _check_reach(self, address: str) -> None:
        """See that what other machines reach is open to them only where that is meant."""
        if not (self.is_tls or self.plaintext):
            raise ValueError(
                f"other machines reach {address}, and without TLS tokens can be read on the way; "
                "give --certificate and --key (`meijin certificate` makes some), or, where the way "
                "is safe, --plaintext or MEIJIN_PLAINTEXT=true"
            )
        if self.is_open and not self.open_to_network:
            raise ValueError(
                f"other machines reach {address}, and with open registration everybody there is "
                "an operator; leave --open out, or, where that is meant, give --open-to-network "
                "or MEIJIN_OPEN_TO_NETWORK=true"
            )

    @property
    def is_open(self) -> bool:
        """Whether anyone may do everything."""
        return self.registration is Registration.OPEN

    @property
    def is_tls(self) -> bool:
        """Whether clients connect by TLS."""
        return self.certificate is not None

    @property
    def backups(self) -> Path:
        """The folder of automatic backups."""
        return self.data / BACKUP_FOLDER

    @property
    def depot(self) -> str:
        """Where programs are kept."""
        return self.programs or str(self.data / PROGRAM_FOLDER)

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
    log_level: LogLevel = LogLevel.INFO
    """The least grave lines that are logged."""
    log_format: LogFormat = LogFormat.AUTO
    """How they are written."""
    traces: CollectorUrl | None = None
    """The OpenTelemetry collector that traces are sent to; none are made when absent."""
