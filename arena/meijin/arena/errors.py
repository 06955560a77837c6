"""Errors of an arena: each says in a line what to do."""

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
