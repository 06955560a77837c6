"""Names of entries: what a file or folder of an archive may be called, and what clashes."""

import re
import unicodedata
from pathlib import PurePosixPath

from meijin.programs.errors import ProgramRefusedError
from meijin.programs.kinds import MAX_ENTRIES, MAX_NAME

MAX_DEPTH = 12
"""Folders within folders."""
MAX_PATH_BYTES = 400
"""Of a name with its folders, in UTF-8."""
MAX_NAME_BYTES = 255
"""Of one name, as file systems have it."""
OWN_FOLDER = ".meijin"
"""Holds what the arena adds to a program."""
_DRIVE = re.compile(r"[A-Za-z]:")
_RENAME = "rename it and zip again"


def shown(raw: bytes | str) -> str:
    """A name as a message may show it: short, and without control characters."""
    text = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
    printable = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
    return printable if len(printable) <= MAX_NAME else f"{printable[:MAX_NAME]}..."


def decoded(raw: bytes, *, is_utf8: bool) -> str:
    """The text of an entry's name.

    Raises:
        ProgramRefusedError: its encoding is not known.
    """
    try:
        return raw.decode("utf-8" if is_utf8 else "ascii")
    except UnicodeDecodeError:
        what = "its name is not marked as UTF-8" if not is_utf8 else "its name is no UTF-8"
        fix = "use names of ASCII letters, or zip with a tool that marks UTF-8, such as Python's"
        raise ProgramRefusedError(what, shown(raw), fix) from None


def check_name(name: str) -> None:
    """See that a name leads to one place below the archive's top, on any machine.

    Raises:
        ProgramRefusedError: it does not.
    """
    what = _fault(name)
    if what:
        raise ProgramRefusedError(what, shown(name), _RENAME)


def _fault(name: str) -> str:
    """What is wrong with a name; empty when nothing is."""
    parts = name.removesuffix("/").split("/")
    is_long = any(len(part) > MAX_NAME or len(part.encode()) > MAX_NAME_BYTES for part in parts)
    faults = {
        "its name has control or invisible characters": not name.isprintable(),
        "its name has a backslash": "\\" in name,
        "its name is absolute": name.startswith("/") or _DRIVE.match(name) is not None,
        'its name has ".."': ".." in parts,
        "its name has an empty part": "" in parts or "." in parts,
        "its name begins or ends with a space": any(part != part.strip() for part in parts),
        f"the folder {OWN_FOLDER} is the arena's own": parts[0] == OWN_FOLDER,
        f"it lies in more than {MAX_DEPTH - 1} folders": len(parts) > MAX_DEPTH,
        f"its name has more than {MAX_NAME} characters or {MAX_NAME_BYTES} bytes": is_long,
        f"its name with folders has more than {MAX_PATH_BYTES} bytes": len(name.encode())
        > MAX_PATH_BYTES,
    }
    return next((what for what, is_so in faults.items() if is_so), "")


class NameTable:
    """The names of an archive so far: none twice, however capital, and none a file and a folder."""

    def __init__(self) -> None:
        self._folders: set[str] = set()
        self._listed: set[str] = set()
        self._by_key: dict[str, str] = {}

    def add(self, name: str) -> None:
        """Take an entry's name, a folder's with a slash behind it.

        Raises:
            ProgramRefusedError: it can't be, or clashes with one before.
        """
        check_name(name)
        path = PurePosixPath(name)
        for folder in list(path.parents)[-2::-1]:
            self._add(str(folder), is_folder=True)
        self._add(str(path), is_folder=name.endswith("/"))
        if str(path) in self._listed:
            raise ProgramRefusedError("it is there twice", shown(name), "zip again from scratch")
        self._listed.add(str(path))
        if len(self._by_key) > MAX_ENTRIES:
            what = f"it has more than {MAX_ENTRIES} files and folders"
            raise ProgramRefusedError(what, "", "leave out what the bot does not need")

    def _add(self, name: str, *, is_folder: bool) -> None:
        is_new = _key(name) not in self._by_key
        before = self._by_key.setdefault(_key(name), name)
        if before != name:
            what = f'its name differs from "{shown(before)}" by case or form alone'
            raise ProgramRefusedError(what, shown(name), _RENAME)
        if is_new and is_folder:
            self._folders.add(name)
        if is_folder is not (name in self._folders):
            raise ProgramRefusedError("it is both a file and a folder", shown(name), _RENAME)


def _key(name: str) -> str:
    """The same for names that some file system can't tell apart."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded)
