"""What a server needs beside the bare installation, looked for before one is started."""

from importlib.util import find_spec

from meijin.arena.errors import ArenaError

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
        f"{name} is not installed; run: pip install 'meijin[server]', "
        "or pip install '.[server]' in a checkout"
    )
