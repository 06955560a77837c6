"""Errors of programs and of where they are kept; each message names the value and the fix."""


class ProgramError(Exception):
    """A program can't be taken in, kept or prepared."""


class ProgramRefusedError(ProgramError):
    """A program breaks a rule of what may be uploaded: its author has to mend it."""

    def __init__(self, what: str, where: str, fix: str) -> None:
        super().__init__(f"{where}: {what}; {fix}" if where else f"{what}; {fix}")
        self.what = what
        """What is wrong, without its place."""
        self.where = where
        """The file or the entry that it is about; empty for the program as a whole."""
        self.fix = fix
        """How it is mended."""


class DepotError(ProgramError):
    """The depot can't do what it was asked for."""


class UnknownProgramError(DepotError, LookupError):
    """The depot has no program of the digest."""


class DamagedProgramError(DepotError):
    """The bytes that the depot has are not those of the digest."""


class UploadInProgressError(DepotError):
    """The same uploader sends the same program already."""


class UploadIncompleteError(DepotError):
    """Bytes are missing; those that are there stay, and the upload can go on."""


class WrongBytesError(DepotError):
    """The bytes are not those of the digest, or more than announced; none of them is kept."""


class DepotFullError(DepotError):
    """The disk has no room for the program; nothing of it is kept."""
