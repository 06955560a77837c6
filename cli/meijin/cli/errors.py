"""Errors of commands: each ends one with a line and an exit status."""

from importlib.util import find_spec
from typing import ClassVar


class CommandError(Exception):
    """The command can't be carried out; the message says what to do."""

    status: ClassVar[int] = 1
    """The exit status."""


class FencedServerError(CommandError):
    """Another server has taken the database over."""

    status = 75
    """``EX_TEMPFAIL`` of ``sysexits.h``: nothing is wrong, and another try may succeed."""


class UsageError(CommandError):
    """What the command was given says not what to do."""

    status = 2
    """As for an option that there isn't."""


class LeftTournamentError(CommandError):
    """Ctrl-C while a tournament was followed; it goes on at its server."""


POSIX_MODULES = frozenset({"fcntl", "resource"})
"""Modules that the server needs and that no package index has."""

SERVER_MODULES = ("alembic", "dramatiq", "pydantic_settings", "redis", "sqlalchemy", "structlog")
"""Modules that the extra ``server`` brings, and the bare installation lacks."""

FOREIGN_SYSTEM = (
    "the server runs on Linux and macOS; on Windows start it in WSL or a container, "
    "and bots and commands connect to it with --server"
)
"""What to say where it can't run at all."""


def missing_part(error: ModuleNotFoundError) -> CommandError:
    """What to say where the bare installation, or the system, lacks the server's parts."""
    if error.name in POSIX_MODULES:
        return CommandError(FOREIGN_SYSTEM)
    return CommandError(
        f"{error.name} is not installed; run: pip install 'meijin[server]', "
        "or pip install '.[server]' in a checkout"
    )


def check_server_parts() -> None:
    """See that a server can be started here, before anything else is.

    Raises:
        CommandError: the system is none that it runs on, or it is not installed.
    """
    for name in (*sorted(POSIX_MODULES), *SERVER_MODULES):
        if find_spec(name) is None:
            raise missing_part(ModuleNotFoundError(name=name))


def unusable_file(error: OSError) -> CommandError:
    """What to say of a file or folder that can't be used, or of an error of another kind."""
    if error.filename is None:
        return CommandError(str(error))
    return CommandError(f"can't use {error.filename}: {error.strerror}")


def unusable_database(error: Exception) -> CommandError:
    """What to say of a database that can't be opened or read."""
    cause = getattr(error, "orig", None) or error
    reason, *_ = str(cause).strip().splitlines() or [type(cause).__name__]
    if "database is locked" in reason:
        reason += "; another program holds it"
    return CommandError(f"the database can't be used: {reason}")
