"""What ends a command with one line and exit status 1."""


class CommandError(Exception):
    """The command can't be carried out; the message says what to do."""


class LeftTournamentError(CommandError):
    """Ctrl-C while a tournament was followed; it goes on at its server."""
