"""The examination: a program's kind found out, and its bytes examined by the rules of the kind."""

import re
from pathlib import Path

from meijin.programs import manifest as manifests
from meijin.programs import requirements
from meijin.programs.archive.contents import Contents
from meijin.programs.archive.elf import MAGIC as ELF_MAGIC
from meijin.programs.archive.elf import MAX_ENGINE_BYTES, Linkage, check_engine
from meijin.programs.archive.entry_names import shown
from meijin.programs.archive.script import MAX_SCRIPT_BYTES, check_script
from meijin.programs.archive.wheel import read_wheel
from meijin.programs.archive.zip_reader import ZipReader
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.kinds import MAX_UPLOAD_BYTES, ProgramKind
from meijin.programs.manifest import Manifest

BOT_FILE = "bot.py"
ENGINE_FILE = "engine"
SIMPLER = "upload a simpler or a smaller one"
"""How a program is mended whose examination takes too much."""
_ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_MAX_REFERENCE = 400
_JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db")
"""What systems add to an archive by themselves."""
_REFERENCE = re.compile(
    r"(?=.{1,400}\Z)[a-z0-9][a-z0-9._-]*(?::[0-9]{1,5})?(?:/[a-z0-9][a-z0-9._-]*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?@sha256:[0-9a-f]{64}",
    re.ASCII,
)
_KINDS = "a zip archive, a wheel, a Python file, a Linux program or an image's reference"


def kind_of(path: Path, file_name: str) -> ProgramKind:
    """What a program is, by its first bytes and by what its file is called.

    Raises:
        ProgramRefusedError: it is of no known kind.
    """
    with path.open("rb") as file:
        return kind_of_head(file.read(_MAX_REFERENCE + 1), file_name)


def kind_of_head(head: bytes, file_name: str) -> ProgramKind:
    """As `kind_of`, by the first bytes, some hundred or more."""
    name = file_name.lower()
    if head.startswith(_ZIP_MAGICS) or name.endswith((".zip", ".whl")):
        return ProgramKind.WHEEL if name.endswith(".whl") else ProgramKind.ARCHIVE
    if head.startswith(ELF_MAGIC):
        return ProgramKind.ENGINE
    if name.endswith(".py"):
        return ProgramKind.SCRIPT
    if _REFERENCE.fullmatch(head.decode("ascii", "replace").strip()):
        return ProgramKind.IMAGE
    what = "it is no program of a known kind"
    raise ProgramRefusedError(what, shown(file_name), f"upload {_KINDS}")


def examine(
    path: Path,
    kind: ProgramKind | None,
    file_name: str,
    *,
    max_bytes: int = MAX_UPLOAD_BYTES,
) -> Contents:
    """See whether a program breaks a rule, without running any of it or writing anything.

    It takes up to a second and a hundred megabytes for a hostile program: see `examine_apart`.

    Raises:
        ProgramRefusedError: it does.
    """
    size = path.stat().st_size
    if size > max_bytes:
        what = f"it has {size} bytes; at most {max_bytes} may be"
        raise ProgramRefusedError(what, "", "leave out what the bot does not need")
    if not size:
        raise ProgramRefusedError("it is empty", "", f"upload {_KINDS}")
    match kind or kind_of(path, file_name):
        case ProgramKind.SCRIPT:
            return _examine_script(path, size)
        case ProgramKind.ENGINE:
            return _examine_engine(path, size)
        case ProgramKind.IMAGE:
            return _examine_image(path, size)
        case ProgramKind.WHEEL:
            return _examine_wheel(path, size)
        case ProgramKind.ARCHIVE:
            return _examine_archive(path, size)


def _examine_script(path: Path, size: int) -> Contents:
    with path.open("rb") as file:
        check_script(file.read(MAX_SCRIPT_BYTES + 1), BOT_FILE)
    return Contents(ProgramKind.SCRIPT, Manifest(bot=BOT_FILE), unpacked_bytes=size)


def _examine_engine(path: Path, size: int) -> Contents:
    linkage = check_engine(path.read_bytes(), ENGINE_FILE)
    manifest = Manifest(engine=ENGINE_FILE)
    return Contents(ProgramKind.ENGINE, manifest, unpacked_bytes=size, linkage=linkage)


def _examine_image(path: Path, size: int) -> Contents:
    reference = "" if size > _MAX_REFERENCE else path.read_bytes().decode("ascii", "replace")
    if _REFERENCE.fullmatch(reference.strip()) is None:
        fix = "write it as in registry.example/ada@sha256:..., with all 64 digits"
        raise ProgramRefusedError("it is no reference to an image by its digest", "", fix)
    return Contents(ProgramKind.IMAGE, Manifest(), image=reference.strip())


def _examine_wheel(path: Path, size: int) -> Contents:
    with path.open("rb") as file:
        archive = ZipReader(file, size)
        wheel = read_wheel(archive, archive.digests())
    return Contents(
        ProgramKind.WHEEL,
        Manifest(version=wheel.version),
        files=len(archive.entries),
        unpacked_bytes=_unpacked_bytes(archive),
        requirements=wheel.requirements,
        entry_point=(wheel.module, wheel.class_name),
    )


def _examine_archive(path: Path, size: int) -> Contents:
    with path.open("rb") as file:
        archive = ZipReader(file, size)
        archive.digests()  # unpacks all of it once, counted
        top = _top_folder(archive)
        manifest = _manifest(archive, top)
        return Contents(
            ProgramKind.ARCHIVE,
            manifest,
            files=len(archive.entries),
            unpacked_bytes=_unpacked_bytes(archive),
            top=top,
            requirements=_requirements(archive, top),
            linkage=_check_start(archive, top, manifest),
        )


def _unpacked_bytes(archive: ZipReader) -> int:
    return sum(entry.unpacked_bytes for entry in archive.entries)


def is_junk(name: str) -> bool:
    return name.startswith(_JUNK[0]) or name.rpartition("/")[2] in _JUNK[1:]


def _top_folder(archive: ZipReader) -> str:
    """The one folder that holds everything, where the bot or the manifest is not at the top."""
    names = [entry.name for entry in archive.entries if not is_junk(entry.name)]
    tops = {name.split("/")[0] for name in names}
    if any(name in archive for name in (manifests.FILE_NAME, BOT_FILE)) or len(tops) != 1:
        return ""
    (top,) = tops
    return f"{top}/" if all("/" in name for name in names) else ""


def _manifest(archive: ZipReader, top: str) -> Manifest:
    name = f"{top}{manifests.FILE_NAME}"
    if name in archive:
        source = archive.read(name, limit=manifests.MAX_MANIFEST_BYTES)
        return manifests.read_manifest(source)
    if f"{top}{BOT_FILE}" in archive:
        return Manifest(bot=BOT_FILE)
    what = f"it has neither a {BOT_FILE} nor a {manifests.FILE_NAME} at its top"
    fix = f'put one there; a {manifests.FILE_NAME} names the file, such as engine = "pbrain-ada"'
    raise ProgramRefusedError(what, "", fix)


def _requirements(archive: ZipReader, top: str) -> tuple[str, ...]:
    name = f"{top}{requirements.FILE_NAME}"
    if name not in archive:
        return ()
    source = archive.read(name, limit=requirements.MAX_REQUIREMENTS_BYTES)
    return requirements.read_requirements(source)


def _check_start(archive: ZipReader, top: str, manifest: Manifest) -> Linkage | None:
    """See that the file is there that the manifest starts with, and can be started."""
    if manifest.bot is not None:
        name = _file(archive, top, manifest.bot_file)
        source = archive.read(name, limit=MAX_SCRIPT_BYTES)
        check_script(source, manifest.bot_file, manifest.bot_class)
        return None
    if manifest.engine is not None:
        name = _file(archive, top, manifest.engine)
        return check_engine(archive.read(name, limit=MAX_ENGINE_BYTES), manifest.engine)
    program = manifest.command[0]
    if "/" in program:
        _file(archive, top, manifests.check_path("command", program))
    return None


def _file(archive: ZipReader, top: str, name: str) -> str:
    if f"{top}{name}" not in archive:
        what = f'{manifests.FILE_NAME} names "{shown(name)}", and it is not there'
        raise ProgramRefusedError(what, "", "name a file of the archive, with its folder")
    return f"{top}{name}"
