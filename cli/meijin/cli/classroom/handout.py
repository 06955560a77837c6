"""Handouts: the file with each student's token, and the table for a mail merge."""

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from io import StringIO
from pathlib import Path

from meijin.cli.errors import unusable_file
from meijin.cli.private_files import write_private

MAIL_MERGE = "mail-merge.csv"
BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheets and word processors take UTF-8 for something older."""


@dataclass(frozen=True, slots=True)
class Handout:
    """What a student is sent."""

    name: str
    mail: str
    handle: str
    token: str
    """Empty where its file is not there."""
    server: str


def token_file(folder: Path, handle: str) -> Path:
    """Where the token of a bot is."""
    return folder / f"{handle}.token"


def read_token(folder: Path, handle: str) -> str:
    """The token of a bot; empty where its file is not there.

    Raises:
        CommandError: the file can't be read.
    """
    try:
        return token_file(folder, handle).read_text().strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise unusable_file(OSError(0, str(error), str(token_file(folder, handle)))) from None


def write_mail_merge(folder: Path, handouts: Iterable[Handout]) -> Path:
    """Write the table for a mail merge anew, and tell where it is."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(field.name for field in fields(Handout))
    writer.writerows(map(astuple, handouts))
    path = folder / MAIL_MERGE
    write_private(path, BYTE_ORDER_MARK + text.getvalue(), is_new=False)
    return path
