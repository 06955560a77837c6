"""Files of openings on the disk."""

from pathlib import Path

from meijin.cli.errors import CommandError, unusable_file
from meijin.game import Opening, Variant
from meijin.game.openings.file import read_openings

MAX_BYTES = 64 << 20


def openings_in(path: Path, variant: Variant, plies: int | None = None) -> list[Opening]:
    """The openings of a file in whatever form.

    Raises:
        CommandError: the file can't be read, or one of them is none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise unusable_file(error) from None
    if len(data) > MAX_BYTES:
        raise CommandError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
    try:
        return read_openings(data, variant, plies)
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None
