"""Errors of the store: one tree, whose messages say what to do."""


class StoreError(Exception):
    """The store does not have, or can't do, what it was asked for."""


class UnknownSchemaError(StoreError):
    """The tables are those of another release, or there are none."""


class DamagedDatabaseError(StoreError):
    """The file of the database is damaged, or is none."""


class MoveLogError(StoreError):
    """The log of moves does not hold what was acknowledged, or is not the database's."""


class UnreadableDatabaseError(StoreError):
    """The file of the database can't be read, or is locked."""


class ForeignLockError(StoreError):
    """The file with the lock is somebody else's, or no plain file."""


class StoreInUseError(StoreError):
    """Another server is running on the same database."""


class BackupError(StoreError):
    """A backup can't be taken or restored."""


class LostOwnershipError(StoreError):
    """The database is no longer what this server has claimed: it must end, and tell nobody more."""


class FencedError(LostOwnershipError):
    """Another server has claimed the database since."""


class LostCommitsError(LostOwnershipError):
    """The database holds less than what was committed."""


class NoRunError(StoreError):
    """The ladder has published nothing yet."""


class SupersededRunError(StoreError):
    """A newer run has been published between two pages of one."""


class MatrixNotKeptError(StoreError):
    """The run is of too many versions: their covariances are not kept."""


class MixedLadderError(StoreError):
    """The ladder is one from before there were classes of time control: its runs are kept alone."""


class TimeClassError(StoreError):
    """A class of time control has the name of one with other bounds, which ladders have."""


class TooManyVersionsError(StoreError):
    """A bot has, or has had in a day, as many versions as one may have."""


class RowNotFoundError(StoreError, LookupError):
    """No row has the name or id."""


class UnknownChallengeError(RowNotFoundError):
    """No challenge has the id."""


class UnknownBotError(RowNotFoundError):
    """No bot has the name."""


class UnknownVersionError(RowNotFoundError):
    """A bot has no such version, or none at all."""


class UnknownOwnerError(RowNotFoundError):
    """No owner has the id."""


class UnknownClassError(RowNotFoundError):
    """No class has the name."""


class UnknownTokenError(RowNotFoundError):
    """No token has the id."""


class UnknownInvitationError(RowNotFoundError):
    """No invitation has the id."""


class UnknownGameError(RowNotFoundError):
    """No game has the id."""


class UnknownTournamentError(RowNotFoundError):
    """No tournament has the id."""


class UnknownLadderError(RowNotFoundError):
    """No ladder has the name or id, or none was named and there are several."""


class UnknownRunError(RowNotFoundError):
    """A ladder has no run of that number, or has forgotten it."""


class UnknownWebhookError(RowNotFoundError):
    """No webhook, or no delivery of one, has the id."""
