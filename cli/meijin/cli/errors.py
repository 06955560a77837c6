"""Errors of commands: each ends one with a line and an exit status."""

from collections.abc import Iterator
from contextlib import contextmanager

from meijin.cli.importing import importing
from meijin.local.errors import ArenaError, missing_part_text


class CommandError(ArenaError):
    """The command can't be carried out; the message says what to do.

    Whatever a command calls may raise it, and `meijin.cli.main` makes one line of it.
    """


class FencedServerError(CommandError):
    """Another server has taken the database over."""

    status = 75
    """``EX_TEMPFAIL`` of ``sysexits.h``: nothing is wrong, and another try may succeed."""


class UsageError(CommandError):
    """What the command was given says not what to do."""

    status = 2
    """As for an option that there isn't."""


class TooManyFaultsError(CommandError):
    """A bot has forfeited as many games as were allowed, and the rest is not played."""

    status = 6


@contextmanager
def needed_parts() -> Iterator[None]:
    """Import what the bare installation, or the system, may lack: the server's parts."""
    try:
        with importing():
            yield
    except ModuleNotFoundError as error:
        raise CommandError(missing_part_text(error.name)) from None


@contextmanager
def in_one_line(*expected: type[Exception]) -> Iterator[None]:
    """What is expected, and what files, the store and its database refuse, in one line."""
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - the bare install has no server

    from meijin.store import StoreError  # noqa: PLC0415 - likewise

    refusals: tuple[type[Exception], ...] = (StoreError, *expected)
    try:
        yield
    except refusals as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise unusable_file(error) from None
    except SQLAlchemyError as error:
        raise unusable_database(error) from None


def unusable_file(error: OSError) -> CommandError:
    if error.filename is None:
        return CommandError(str(error))
    if isinstance(error, FileExistsError):
        return CommandError(f"can't use {error.filename}: it is a file, and no folder")
    return CommandError(f"can't use {error.filename}: {error.strerror}")


def unusable_database(error: Exception) -> CommandError:
    cause = getattr(error, "orig", None) or error
    reason, *_ = str(cause).strip().splitlines() or [type(cause).__name__]
    if "database is locked" in reason:
        reason += "; another program holds it"
    return CommandError(f"the database can't be used: {reason}")


def explain(error: Exception) -> str | None:
    """What to do about an error from below the command line; ``None`` for an unexpected one."""
    import grpc  # noqa: PLC0415 - takes long, for failures alone

    from meijin.bots import BotLoadError  # noqa: PLC0415 - likewise

    if isinstance(error, BotLoadError):
        return str(error)
    if not isinstance(error, grpc.RpcError):
        return None
    return str(error.details() if isinstance(error, grpc.Call) else error)
