"""Errors of commands: each ends one with a line and an exit status."""

from meijin.arena.errors import ArenaError


class CommandError(ArenaError):
    """The command can't be carried out; the message says what to do."""


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


def missing_part(error: ModuleNotFoundError) -> CommandError:
    """What to say where the bare installation lacks the server's parts."""
    return CommandError(f"{error.name} is not installed; run: pip install 'meijin[server]'")


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
