"""Errors of an arena: each says in a line what to do."""

from importlib.util import find_spec
from typing import ClassVar


class ArenaError(Exception):
    """What was asked for can't be carried out; the message says what to do."""

    status: ClassVar[int] = 1
    """The exit status of a command that it ends."""


class LeftTournamentError(ArenaError):
    """Ctrl-C while a tournament was followed; it goes on at its server."""


class BotLostError(ArenaError):
    """A bot's process has ended or never connected, and what waits for it is given up."""

    status = 5


POSIX_MODULES = frozenset({"fcntl", "resource"})
"""Modules that the server needs and that no package index has."""

SERVER_MODULES = ("alembic", "dramatiq", "pydantic_settings", "redis", "sqlalchemy", "structlog")
"""Modules that the extra ``server`` brings, and the bare installation lacks."""


def check_server_parts() -> None:
    """See that a server can be started here, before anything else is.

    Raises:
        ArenaError: the system is none that it runs on, or it is not installed.
    """
    for name in (*sorted(POSIX_MODULES), *SERVER_MODULES):
        if find_spec(name) is None:
            raise ArenaError(missing_part_text(name))


def missing_part_text(name: str | None) -> str:
    """What to say where the installation, or the system, lacks a module."""
    if name in POSIX_MODULES:
        return (
            "the server runs on Linux and macOS; on Windows start it in WSL or a container, "
            "and bots and commands connect to it with --server"
        )
    return (
        f"this needs the server's parts, of which {name} is not installed; run: "
        "pip install 'meijin[server]', or pip install '.[server]' in a checkout"
    )
