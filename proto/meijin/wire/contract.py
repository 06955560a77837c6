"""The contract's constants: facts that server, bots and command line must agree on."""

import re
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address

from meijin.game.records import analysis

PROTOCOL_VERSION = 1
"""Of `Play`; a server refuses a hello that names another."""

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7464
DEFAULT_SERVER = f"{DEFAULT_HOST}:{DEFAULT_PORT}"
"""Where a server listens, and where bots and commands look for it."""
DEFAULT_WEB = f"{DEFAULT_HOST}:7465"
"""Where a server has its pages for browsers."""
_ADDRESS = re.compile(
    r"(?P<scheme>grpcs?://)?(?P<host>[^:/\s]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
)
_EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - nobody listens there
MAX_PORT = 2**16 - 1
"""The greatest port; gRPC would take a greater one for another, without a word."""
TLS_SCHEME = "grpcs://"
"""How the address of a server begins that is reached by TLS."""
UNIX_SCHEME = "unix:"
"""How the address of a server begins that listens on a Unix socket."""

WRONG_KIND = "this needs a token of kind"
"""How the refusal of a token of another kind begins."""

COME_BACK = "come back in"
"""What stands in a refusal that passes, before its seconds."""

# Environment variables.
SERVER_VARIABLE = "MEIJIN_SERVER"
"""The server's address."""
TOKEN_VARIABLE = "MEIJIN_TOKEN"  # noqa: S105 - a name
"""A bot's own token."""
OPERATOR_TOKEN_VARIABLE = "MEIJIN_OPERATOR_TOKEN"  # noqa: S105 - a name
"""An operator's or owner's token."""
HOST_TOKEN_VARIABLE = "MEIJIN_HOST_TOKEN"  # noqa: S105 - a name
"""A host's own token."""
HARDWARE_VARIABLE = "MEIJIN_HARDWARE"
"""What a bot says that it runs on."""
CA_VARIABLE = "MEIJIN_CA"
CLIENT_CERTIFICATE_VARIABLE = "MEIJIN_CLIENT_CERTIFICATE"
CLIENT_KEY_VARIABLE = "MEIJIN_CLIENT_KEY"
PLAINTEXT_VARIABLE = "MEIJIN_PLAINTEXT"
"""It allows plain text beyond this machine."""
WEB_VARIABLE = "MEIJIN_WEB"
"""Where pages for browsers are served."""
DATA_VARIABLE = "MEIJIN_DATA"
DATABASE_VARIABLE = "MEIJIN_DATABASE_URL"
REDIS_VARIABLE = "MEIJIN_REDIS_URL"
SWEEP_VARIABLE = "MEIJIN_SWEEP"
"""The interval of a worker's sweep."""
PROGRAMS_VARIABLE = "MEIJIN_PROGRAMS"
"""Where a server keeps programs."""
WHEELHOUSE_VARIABLE = "MEIJIN_WHEELHOUSE"
"""The folder of wheels that programs may need."""
LOG_LEVEL_VARIABLE = "MEIJIN_LOG_LEVEL"
LOG_FORMAT_VARIABLE = "MEIJIN_LOG_FORMAT"
COLLECTOR_VARIABLES = (
    "MEIJIN_TRACES",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
)
"""The collector that traces are sent to; the first one that is set counts."""

DEFAULT_DATA = "meijin-data"
"""The server's data folder, in which are the files and folders that follow."""
OPERATOR_TOKEN_FILE = "operator.token"  # noqa: S105 - a name
"""Commands on the same machine read the token from it."""
DATABASE_FILE = "meijin.db"
SERVER_LOCK_FILE = "server.lock"
"""A running server holds it."""
SERVER_LOG_FILE = "server.log"
"""Of a server that a command runs for itself."""
BACKUP_FOLDER = "backups"
PROGRAM_FOLDER = "programs"
"""Programs of bots by their digests, unless the operator keeps them elsewhere."""
VALKEY_FOLDER = "valkey"
HOSTED_FOLDER = "hosted"
"""Of the server's own host: programs that it has fetched."""

MAX_MESSAGE_BYTES = 128 * 1024
"""The largest message that a bot may send, where the operator sets no other limit.

A thousand moves with analyses and expected lines of 40 take 107 KB; to decode the worst
message of this size takes the server 4 ms.
"""
MAX_RECORDS_BYTES = 256 * 1024
"""The largest message of a worker, whatever the operator sets for others.

Both games of a pair are in one. A move takes 185 bytes at most, with an expected line of 64 and
times of days; so two of 484 moves, with all their evidence in ASCII, take 248,000.
"""
MAX_CHUNK_BYTES = 64 * 1024
"""The most bytes of a program in a message."""
MAX_EVIDENCE, MAX_EVIDENCE_DEPTH = 1 << 15, 8
"""Characters of what supports a forfeit, as JSON, and levels of it."""
MAX_DISPLAY_NAME = 60
"""Characters of what people call a bot."""
MAX_HARDWARE = 80
"""Characters of what a bot says that it runs on."""
MAX_TRACEBACK = 4000
"""Characters of where a bot has failed."""
MAX_THREADS, MAX_MEMORY_BYTES = 2**16, 2**50
"""The most that a bot may say that it was given."""
MAX_NODES_PER_SECOND = 10**12
"""The most that a bot may say of its machine."""
MAX_GAMES_AT_ONCE = 10_000
"""The most games at once that a bot may ask for: they all go on in one turn when it comes back."""
MAX_SEED = 2**53 - 1
"""The greatest number that every reader of JSON has exactly."""
MAX_OPENINGS = 1000
"""Openings of a tournament's own; with twenty stones each they fit in a message."""
MAX_PV = analysis.MAX_PV
"""Plies of an expected line that are sent and kept."""
KEEPALIVE_INTERVAL = timedelta(seconds=10)
"""How often a silent connection is probed, unless the operator says otherwise."""
SWEEP_INTERVAL = timedelta(seconds=5)
"""How often a worker looks for ladders that no job came for, unless the operator says otherwise."""

BOT_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
"""What a bot may be called."""
_OWN_NAME = re.compile(r"(?=.{1,40}\Z)[A-Za-z0-9._-]+(:[A-Za-z0-9._+=,-]+)?")

_MILLISECOND = timedelta(milliseconds=1)


def check_bot_name(name: str) -> str:
    """Return `name` if a bot may be called so.

    Raises:
        ValueError: it is empty or too long, or holds other characters than names do.
    """
    if not BOT_NAME.fullmatch(name):
        raise ValueError(f'"{name}" is no bot name; use 1 to 40 letters, digits, "-", "_" or "."')
    return name


def is_own_name(name: str) -> bool:
    """Whether a bot may call itself so, where no token says who it is.

    It may end with the options that tell it from another, as ``alphabeta:nodes=3000`` does.
    """
    return _OWN_NAME.fullmatch(name) is not None


def check_own_name(name: str) -> str:
    """Return `name` if a bot may call itself so; see `is_own_name`.

    Raises:
        ValueError: it may not.
    """
    return name if is_own_name(name) else check_bot_name(name)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and whether it is reached by TLS; written ``grpcs://host:port``."""

    target: str
    """As gRPC takes it: ``host:port``, or ``unix:PATH``."""
    is_tls: bool = False

    def __str__(self) -> str:
        return TLS_SCHEME + self.target if self.is_tls else self.target

    @property
    def is_local(self) -> bool:
        """Whether what is sent there stays on this machine."""
        return is_local(self.target)


def parse_address(text: str) -> Address:
    """Read ``host``, ``host:port``, ``[ipv6]:port`` or ``unix:PATH``; the port may be left out.

    ``grpcs://`` before it asks for TLS, ``grpc://`` or nothing for plain text.

    Raises:
        ValueError: the text has another form.
    """
    text = text.strip()
    if text.startswith(UNIX_SCHEME):
        return Address(text)
    form = _ADDRESS.fullmatch(text)
    if form is None or int(form["port"] or DEFAULT_PORT) > MAX_PORT:
        raise ValueError(
            f'"{text}" is no address of a server; write it like "example.org:{DEFAULT_PORT}", '
            f'or "{TLS_SCHEME}example.org" with TLS'
        )
    target = f"{form['host']}:{form['port'] or DEFAULT_PORT}"
    return Address(target, is_tls=form["scheme"] == TLS_SCHEME)


def on_this_machine(address: str) -> str:
    """The address by which a server that listens there is reached from its own machine."""
    host, colon, port = address.rpartition(":")
    return f"{DEFAULT_HOST}:{port}" if colon and host.strip("[]") in _EVERYWHERE else address


def is_local(target: str) -> bool:
    """Whether a gRPC address is a Unix socket, a loopback address or ``localhost``.

    Other names are not looked up: what they lead to may change, and differs between machines.
    """
    if target.startswith(UNIX_SCHEME):
        return True
    host = target.rpartition(":")[0].strip("[]")
    try:
        address = ip_address(host)
    except ValueError:
        return host.lower() == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def keepalive_options(interval: timedelta = KEEPALIVE_INTERVAL) -> tuple[tuple[str, int], ...]:
    """GRPC's options that drop a peer which hasn't answered a probe in half of `interval`.

    Without `http2.ping_timeout_ms` a peer that hangs is noticed after 70 s instead of 15.
    """
    interval_ms = interval // _MILLISECOND
    return (
        ("grpc.keepalive_time_ms", interval_ms),
        ("grpc.keepalive_timeout_ms", interval_ms // 2),
        ("grpc.http2.ping_timeout_ms", interval_ms // 2),
    )


def client_keepalive_options() -> tuple[tuple[str, int], ...]:
    """GRPC's options of a client, which goes on probing however long a stream is silent."""
    return (*keepalive_options(), ("grpc.http2.max_pings_without_data", 0))
