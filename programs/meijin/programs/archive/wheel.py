"""Python wheels: tags of this machine, hashes of all files, and one entry point that is a bot."""

import base64
import configparser
import csv
import email.parser
import email.policy
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from meijin.programs.archive.entry_names import shown
from meijin.programs.archive.zip_reader import ZipReader
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.manifest import MAX_VERSION
from meijin.programs.requirements import checked_requirements

GROUP = "meijin.bots"
_MAX_METADATA_BYTES = 64 << 10
_MAX_RECORD_BYTES = 256 << 10
_BUILD = "build it with a usual tool, such as `python3 -m build`"
_ENTRY_POINT = re.compile(
    r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*:\s*(?P<name>[A-Za-z_]\w*)", re.ASCII
)
_TAG = re.compile(r"[A-Za-z0-9_.]+-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+", re.ASCII)
_PLATFORM = re.compile(r"any|(?:many)?linux(?:\d*_?)*_x86_64", re.ASCII)
_UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")


@dataclass(frozen=True, slots=True)
class Wheel:
    """What a wheel's metadata says."""

    module: str
    class_name: str
    version: str
    requirements: tuple[str, ...]


def read_wheel(archive: ZipReader, digests: dict[str, str]) -> Wheel:
    """Read and check the metadata of a wheel, all of whose files have `digests`.

    Raises:
        ProgramRefusedError: it is no wheel for this machine, damaged, or no bot.
    """
    folder = _metadata_folder(archive)
    if data := next((name for name in digests if ".data/" in name.split("/")[0] + "/"), None):
        what = "its files have to be moved when it is installed"
        raise ProgramRefusedError(what, shown(data), "build it of Python modules alone")
    _check_tags(_headers(archive, f"{folder}/WHEEL").get_all("Tag") or [], f"{folder}/WHEEL")
    _check_record(archive, f"{folder}/RECORD", digests)
    metadata = _headers(archive, f"{folder}/METADATA")
    where = f"{folder}/METADATA"
    needed = [str(value).strip() for value in metadata.get_all("Requires-Dist") or []]
    module, class_name = _entry_point(archive, f"{folder}/entry_points.txt")
    return Wheel(
        module=module,
        class_name=class_name,
        version=shown(str(metadata.get("Version", ""))[:MAX_VERSION]),
        requirements=checked_requirements(
            (line for line in needed if not _is_of_extra(line)), where
        ),
    )


def _metadata_folder(archive: ZipReader) -> str:
    tops = {entry.name.split("/")[0] for entry in archive.entries}
    folders = sorted(top for top in tops if top.endswith(".dist-info"))
    if len(folders) != 1:
        what = "it has several .dist-info folders" if folders else "it has no .dist-info folder"
        raise ProgramRefusedError(what, "", _BUILD)
    for name in ("METADATA", "WHEEL", "RECORD"):
        if f"{folders[0]}/{name}" not in archive:
            raise ProgramRefusedError(f"it has no {name}", folders[0], _BUILD)
    return folders[0]


def _headers(archive: ZipReader, name: str) -> email.message.Message:
    raw = archive.read(name, limit=_MAX_METADATA_BYTES)
    return email.parser.BytesParser(policy=email.policy.compat32).parsebytes(raw, headersonly=True)


def _check_tags(tags: list[str], where: str) -> None:
    if not any(_TAG.fullmatch(str(tag)) and _fits(*str(tag).split("-")) for tag in tags):
        told = ", ".join(shown(str(tag)) for tag in tags[:3]) or "no tag"
        here = f"cp{sys.version_info.major}{sys.version_info.minor}"
        what = f"it is for {told}, and not for {here} on Linux of x86-64"
        raise ProgramRefusedError(what, where, f"build it as py3-none-any, or for {here}")


def _fits(python: str, abi: str, platform: str) -> bool:
    """Whether a wheel's tag is of this Python on Linux; a part may be several with dots."""
    major, minor = sys.version_info[:2]
    own = f"cp{major}{minor}"
    pythons, abis = python.split("."), abi.split(".")
    platforms = [part for part in platform.split(".") if _PLATFORM.fullmatch(part)]
    if "abi3" in abis:
        stable = {f"cp{major}{older}" for older in range(2, minor + 1)}
        return bool(platforms and stable.intersection(pythons))
    if own in pythons and own in abis:
        return bool(platforms)
    pure = {f"py{major}", f"py{major}{minor}", own}
    return "none" in abis and bool(platforms and pure.intersection(pythons))


def _check_record(archive: ZipReader, where: str, digests: dict[str, str]) -> None:
    """See that RECORD names each file with its hash, and no other."""
    folder = where.rpartition("/")[0]
    unhashed = {f"{folder}/{name}" for name in _UNHASHED}
    told = dict(_recorded(archive, where))
    for name, digest in digests.items():
        if name in unhashed:
            continue
        if name not in told:
            raise ProgramRefusedError("RECORD does not name it", shown(name), _BUILD)
        if told[name] != _record_hash(digest):
            raise ProgramRefusedError("it is not what RECORD says", shown(name), _BUILD)
    for name in told:
        if name not in digests:
            raise ProgramRefusedError("RECORD names it, and it is not there", shown(name), _BUILD)


def _recorded(archive: ZipReader, where: str) -> Iterator[tuple[str, str]]:
    try:
        text = archive.read(where, limit=_MAX_RECORD_BYTES).decode("utf-8")
        rows = list(csv.reader(text.splitlines(), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise ProgramRefusedError("it is no table", where, _BUILD) from None
    for row in rows:
        if len(row) != 3:  # noqa: PLR2004 - a name, a hash and a size
            raise ProgramRefusedError("a line of it has not three columns", where, _BUILD)
        yield row[0], row[1]


def _record_hash(digest: str) -> str:
    encoded = base64.urlsafe_b64encode(bytes.fromhex(digest)).rstrip(b"=").decode()
    return f"sha256={encoded}"


def _is_of_extra(requirement: str) -> bool:
    """Whether a requirement is for those alone who ask for an extra."""
    return re.search(r";.*\bextra\s*==", requirement) is not None


def _entry_point(archive: ZipReader, where: str) -> tuple[str, str]:
    fix = f'write [project.entry-points."{GROUP}"] with one line, such as ada = "ada.bot:Ada"'
    if where not in archive:
        raise ProgramRefusedError(f"it has no entry point {GROUP}", where, fix)
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    try:
        parser.read_string(archive.read(where, limit=_MAX_METADATA_BYTES).decode("utf-8"))
    except (configparser.Error, UnicodeDecodeError):
        raise ProgramRefusedError("it can't be read", where, _BUILD) from None
    points = list(parser[GROUP].values()) if parser.has_section(GROUP) else []
    if len(points) != 1:
        what = f"it has {len(points)} entry points of {GROUP}; one has to be there"
        raise ProgramRefusedError(what, where, fix)
    found = _ENTRY_POINT.fullmatch(points[0].strip())
    if found is None:
        raise ProgramRefusedError(f'"{shown(points[0])}" is no class of a module', where, fix)
    path = found["module"].replace(".", "/")
    files = (f"{path}.py", f"{path}/__init__.py")
    if not any(file in archive for file in files):
        raise ProgramRefusedError(f"it has no module {shown(found['module'])}", where, fix)
    return found["module"], found["name"]
