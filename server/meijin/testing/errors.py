"""Errors of matches in a test."""


class MatchError(Exception):
    """A match has no result; the message says why."""


class BotStoppedError(MatchError):
    """A bot has ended, with an exception of its own or refused by the server: see its cause."""


class MatchTimeoutError(MatchError):
    """A bot has not connected in time, or games go on; the message names them."""
