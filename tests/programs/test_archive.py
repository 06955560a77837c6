"""Archives: hostile ones are refused with a reason, and harmless ones are read as others do."""

import io
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.programs.conftest import Refusal, Write, picture
from tests.programs.raw_zip import BOT, FILE, Raw, deflated, plain, written

from meijin.programs.archive import Contents, examine
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.kinds import MAX_ENTRIES, MAX_UNPACKED_BYTES, MAX_UPLOAD_BYTES, ProgramKind
from meijin.programs.prepared import prepare

Examined = Callable[[bytes, str], Contents]
BOT_ENTRY = Raw(b"bot.py", BOT)
UTF_8, DESCRIPTOR = 1 << 11, 1 << 3
DEEP = b"/".join([b"a"] * 13)


def with_bot(*entries: Raw) -> bytes:
    return written([BOT_ENTRY, *entries])


def kernel(size: int = 1 << 20) -> bytes:
    return b"\0" * size


def overlapping() -> bytes:
    """Two names of one place, as in a bomb whose entries share their data."""
    return with_bot(Raw(b"a", b"x" * 100), Raw(b"b", b"", central={"offset": 0}))


def quoted() -> bytes:
    """A stored entry whose data is the next one, header and all."""
    inner = written([Raw(b"inner", kernel())])
    start = inner.index(b"PK\x01\x02")
    outer = Raw(b"outer", inner[:start], method=0)
    offset = len(written([BOT_ENTRY])) - 46 - len(b"bot.py") - 22 + 30 + len(b"outer")
    central: dict[str, int | bytes] = {"offset": offset}
    return with_bot(outer, Raw(b"inner", kernel(), central=central))


BAD_NAMES = {
    b"/etc/passwd": "absolute",
    b"../bot.py": '".."',
    b"a/../../b": '".."',
    b"a/..": '".."',
    b"C:/windows": "absolute",
    b"c:bot": "absolute",
    b"a\\b": "backslash",
    b"\\\\host\\share": "backslash",
    b"./a": "empty part",
    b"a//b": "empty part",
    b"//a": "absolute",
    b"": "empty part",
    b"a\x00b": "control",
    b"a\nb": "control",
    b"a\x1b[31m": "control",
    b"a\x7f": "control",
    b" a": "space",
    b"a /b": "space",
    b".meijin/bot.py": "arena's own",
    b"\xff\xfe": "not marked",
    "é".encode(): "not marked",
    b"x" * 101: "characters",
    DEEP: "folders",
    b"/".join([b"n" * 90] * 5): "bytes",
}
BAD_UTF_8 = {
    b"\xff": "no UTF-8",
    "a\u202eb".encode(): "invisible",
    "a\u200bb".encode(): "invisible",
    "a\ufeff".encode(): "invisible",
    "\u2028".encode(): "invisible",
    b"\xed\xa0\x80": "no UTF-8",
    b"\xc0\xaf": "no UTF-8",
}
HOSTILE: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    **{f"name {raw!r}": (with_bot(Raw(raw, b"x")), why) for raw, why in BAD_NAMES.items()},
    **{
        f"UTF-8 {raw!r}": (with_bot(Raw(raw, b"x", flags=UTF_8)), why)
        for raw, why in BAD_UTF_8.items()
    },
    "twice": (with_bot(Raw(b"bot.py", b"x")), "twice"),
    "folder twice": (with_bot(Raw(b"a/", mode=0), Raw(b"a/", mode=0)), "twice"),
    "by case": (with_bot(Raw(b"BOT.py", b"x")), "case"),
    "by case of a folder": (with_bot(Raw(b"a/b", b"x"), Raw(b"A/c", b"x")), "case"),
    "by form": (
        with_bot(
            Raw("\u00e9".encode(), flags=UTF_8, method=0),
            Raw("e\u0301".encode(), flags=UTF_8, method=0),
        ),
        "form",
    ),
    "by width": (with_bot(Raw("\uff42ot.py".encode(), b"x", flags=UTF_8)), "form"),
    "file then folder": (with_bot(Raw(b"a", b"x"), Raw(b"a/b", b"x")), "both"),
    "folder then file": (with_bot(Raw(b"a/b", b"x"), Raw(b"a", b"x")), "both"),
    "symlink": (with_bot(Raw(b"a", b"/etc", mode=stat.S_IFLNK | 0o777)), "link"),
    "symlink stored": (with_bot(Raw(b"a", b"/etc", 0, mode=stat.S_IFLNK | 0o777)), "link"),
    "device": (with_bot(Raw(b"a", b"", mode=stat.S_IFBLK | 0o666)), "neither"),
    "tty": (with_bot(Raw(b"a", b"", mode=stat.S_IFCHR | 0o666)), "neither"),
    "pipe": (with_bot(Raw(b"a", b"", mode=stat.S_IFIFO | 0o666)), "neither"),
    "socket": (with_bot(Raw(b"a", b"", mode=stat.S_IFSOCK | 0o666)), "neither"),
    "folder as a file": (with_bot(Raw(b"a", b"x", mode=stat.S_IFDIR | 0o755)), "neither"),
    "file as a folder": (with_bot(Raw(b"a/", b"", 0, mode=FILE)), "neither"),
    "folder with bytes": (with_bot(Raw(b"a/", b"x", mode=0)), "folder with bytes"),
    "encrypted": (with_bot(Raw(b"a", b"x", flags=1)), "encrypted"),
    "strongly encrypted": (with_bot(Raw(b"a", b"x", flags=1 | 1 << 6)), "encrypted"),
    "masked": (with_bot(Raw(b"a", b"x", flags=1 << 13)), "encrypted"),
    "patched": (with_bot(Raw(b"a", b"x", flags=1 << 5)), "flags"),
    **{
        f"method {method}": (with_bot(Raw(b"a", b"x", method)), "compression")
        for method in (1, 6, 9, 12, 14, 93, 95, 99, 65535)
    },
    "overlap": (overlapping, "overlap"),
    "quoted overlap": (quoted, "overlap"),
    "before": (written([BOT_ENTRY], before=b"#!/bin/sh\n"), "between entries"),
    "before, offsets moved": (b"PK\x03\x04" + written([BOT_ENTRY]), "before the archive"),
    "behind": (written([BOT_ENTRY]) + b"x", "end is missing"),
    "between": (written([BOT_ENTRY], between=b"hidden"), "between the entries and"),
    "gap": (written([Raw(b"bot.py", BOT, behind=b"hid"), Raw(b"a", b"x")]), "between entries"),
    "two ends": (written([BOT_ENTRY], comment=written([BOT_ENTRY])), "two ends"),
    "an end in the comment": (written([BOT_ENTRY], comment=b"xPK\x05\x06"), "two ends"),
    "zip64 count": (written([BOT_ENTRY], end={"here": 65535, "entries": 65535}), "zip64"),
    "zip64 offset": (written([BOT_ENTRY], end={"offset": 0xFFFFFFFF}), "zip64"),
    "zip64 size": (
        with_bot(Raw(b"a", b"x", central={"unpacked": 0xFFFFFFFF})),
        "zip64",
    ),
    "split": (written([BOT_ENTRY], end={"disk": 1}), "split"),
    "split entry": (with_bot(Raw(b"a", b"x", central={"disk": 3})), "split"),
    "counts less": (
        written([BOT_ENTRY, Raw(b"a", b"x")], end={"here": 1, "entries": 1}),
        "more than it counts",
    ),
    "counts more": (written([BOT_ENTRY], end={"here": 2, "entries": 2}), "too early"),
    "no entries": (written([]), "empty"),
    "many entries": (
        lambda: written([BOT_ENTRY, *(Raw(b"%d" % n, b"", 0) for n in range(MAX_ENTRIES))]),
        f"at most {MAX_ENTRIES}",
    ),
    "many folders": (
        with_bot(*(Raw(b"a%d/b/c/d/e/f/g" % n, b"", 0) for n in range(100))),
        f"more than {MAX_ENTRIES}",
    ),
    "100,000 entries": (
        lambda: written(
            [Raw(b"%d" % n, b"", 0) for n in range(100_000)], end={"here": 1, "entries": 1}
        ),
        "its directory has",
    ),
    "directory of extras": (
        lambda: written([Raw(b"%d" % n, b"", 0, extra=b"x" * 60_000) for n in range(30)]),
        "its directory has",
    ),
    "other name inside": (with_bot(Raw(b"a", b"x", local={"name": b"b"})), "differs"),
    "other method inside": (with_bot(Raw(b"a", b"x", local={"method": 0})), "differs"),
    "other flags inside": (with_bot(Raw(b"a", b"x", local={"flags": 1})), "differs"),
    "other crc inside": (with_bot(Raw(b"a", b"x", local={"crc": 1})), "differs"),
    "other size inside": (with_bot(Raw(b"a", b"x", local={"unpacked": 9})), "differs"),
    "second size": (
        with_bot(Raw(b"a", b"x", extra=struct.pack("<2HQ", 1, 8, 1 << 40))),
        "zip64",
    ),
    "second name": (
        with_bot(Raw(b"a", b"x", extra=struct.pack("<2H", 0x7075, 6) + b"\1....b")),
        "second name",
    ),
    "no header inside": (with_bot(Raw(b"a", b"x", local={"magic": b"XXXX"})), "differs"),
    "no header in the directory": (
        with_bot(Raw(b"a", b"x", central={"magic": b"XXXX"})),
        "damaged",
    ),
    "offset past the end": (with_bot(Raw(b"a", b"x", central={"offset": 1 << 20})), "between"),
    "data past the end": (
        with_bot(
            Raw(b"a", b"x", central={"packed": 1 << 20}, local={"packed": 1 << 20}),
        ),
        "reaches into",
    ),
    "crc": (with_bot(Raw(b"a", b"x", central={"crc": 1}, local={"crc": 1})), "damaged"),
    "no deflate": (with_bot(Raw(b"a", b"x", packed=b"\xff" * 20)), "damaged"),
    "deflate cut": (with_bot(Raw(b"a", b"x" * 99, packed=deflated(b"x" * 99)[:-1])), "too early"),
    "deflate and more": (with_bot(Raw(b"a", b"x", packed=deflated(b"x") + b"hid")), "too late"),
    "more than told": (
        with_bot(Raw(b"a", b"x" * 99, central={"unpacked": 9}, local={"unpacked": 9})),
        "more bytes than told",
    ),
    "less than told": (
        with_bot(Raw(b"a", b"x", central={"unpacked": 9}, local={"unpacked": 9})),
        "damaged",
    ),
    "stored of two sizes": (
        with_bot(Raw(b"a", b"x", 0, central={"unpacked": 9}, local={"unpacked": 9})),
        "two sizes",
    ),
    "declared bomb": (
        with_bot(Raw(b"a", b"x", central={"unpacked": 300 << 20}, local={"unpacked": 300 << 20})),
        "unpacks to",
    ),
    "bomb": (lambda: with_bot(Raw(b"a", kernel(MAX_UNPACKED_BYTES + 1))), "unpacks to"),
    "bomb in parts": (
        lambda: with_bot(*(Raw(b"%d" % n, kernel(11 << 20)) for n in range(5))),
        "unpacks to more than",
    ),
    "undeclared bomb": (
        lambda: with_bot(
            Raw(b"a", kernel(60 << 20), central={"unpacked": 9}, local={"unpacked": 9}),
        ),
        "more bytes than told",
    ),
    "other descriptor": (
        with_bot(
            Raw(b"a", b"x", flags=DESCRIPTOR, behind=b"PK\x07\x08" + struct.pack("<3L", 1, 2, 3)),
        ),
        "behind its data",
    ),
    "no descriptor": (with_bot(Raw(b"a", b"x", flags=DESCRIPTOR)), "behind its data"),
    "no bot": (plain({"main.py": BOT}), "neither a bot.py"),
    "no bot in a folder": (plain({"a/b/bot.py": BOT}), "neither a bot.py"),
    "no zip": (b"PK\x03\x04" + b"x" * 100, "no zip archive"),
    "end alone, short": (b"PK\x05\x06", "no zip archive"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives_are_refused_by_name(case: str, refusal: Refusal, tmp_path: Path) -> None:
    """Each tells what is wrong, and leaves the disk as it was."""
    made, why = HOSTILE[case]
    error = refusal(made if isinstance(made, bytes) else made(), "ada.zip")
    assert why in str(error)
    assert str(error).isprintable()
    assert list(picture(tmp_path)) == ["program"]


SAMPLE = written(
    [
        Raw(b"ada/", mode=stat.S_IFDIR | 0o755, method=0),
        Raw(b"ada/bot.py", BOT),
        Raw(b"ada/data.txt", b"weights\n" * 40, method=0),
        Raw(
            b"ada/notes",
            b"hello",
            flags=DESCRIPTOR,
            local={"crc": 0, "packed": 0, "unpacked": 0},
            behind=b"PK\x07\x08" + struct.pack("<3L", 0x3610A686, len(deflated(b"hello")), 5),
        ),
    ]
)


def test_harmless_archive_is_taken(examined: Examined) -> None:
    """Stored, deflated and streamed entries, in one folder."""
    contents = examined(SAMPLE, "ada.zip")
    assert contents.kind is ProgramKind.ARCHIVE
    assert (contents.top, contents.files, contents.manifest.bot) == ("ada/", 4, "bot.py")


def settle(path: Path, data: bytes, target: Path) -> bool:
    """Examine and unpack bytes: whether they were accepted, and with all that others read."""
    path.write_bytes(data)
    try:
        contents = examine(path, ProgramKind.ARCHIVE, "ada.zip")
        prepare(path, contents, target)
    except ProgramRefusedError:
        return False
    with zipfile.ZipFile(io.BytesIO(data)) as other:
        wanted = {
            name.removeprefix(contents.top): other.read(name)
            for name in other.namelist()
            if not name.endswith("/")
        }
    there = {
        str(file.relative_to(target)): file.read_bytes()
        for file in target.rglob("*")
        if file.is_file()
    }
    assert there == wanted
    return True


def check_settled(folder: Path, data: bytes) -> None:
    """See that bytes are refused without a trace, or unpacked below their target alone."""
    shutil.rmtree(folder / "trees", ignore_errors=True)
    target = folder / "trees" / "ada"
    target.parent.mkdir()
    is_taken = settle(folder / "program", data, target)
    assert sorted(path.name for path in folder.iterdir()) == ["program", "trees"]
    assert [path.name for path in target.parent.iterdir()] == ["ada"] * is_taken
    modes = {stat.S_IMODE(path.lstat().st_mode) for path in target.rglob("*")}
    assert modes <= {0o644, 0o755}


REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@settings(REUSED, max_examples=600)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=4
    )
)
def test_changed_bytes_are_refused_or_read_as_others_do(
    edits: list[tuple[int, int]], tmp_path: Path
) -> None:
    data = bytearray(SAMPLE)
    for place, value in edits:
        data[place] = value
    check_settled(tmp_path, bytes(data))


HEADER_FIELDS = ("crc", "packed", "unpacked", "offset", "flags", "method", "disk")
LIES = st.dictionaries(
    st.sampled_from(HEADER_FIELDS), st.sampled_from([0, 1, 8, 9, 0xFFFF]), max_size=2
)
NAMES = st.one_of(
    st.sampled_from([*BAD_NAMES, *BAD_UTF_8, b"a", b"a/", b"a/b", b"A", b"ada/x", b"bot.py"]),
    st.binary(max_size=12),
)
ENTRIES = st.builds(
    Raw,
    name=NAMES,
    data=st.binary(max_size=40),
    method=st.sampled_from([0, 8, 8, 12]),
    flags=st.sampled_from([0, 0, 1, DESCRIPTOR, UTF_8, UTF_8, 1 << 5]),
    mode=st.sampled_from([FILE, 0, 0o104755, 0o120777, 0o040755, 0o020666]),
    central=LIES,
    local=LIES,
    behind=st.sampled_from([b"", b"", b"hidden"]),
)


@settings(REUSED, max_examples=600)
@given(
    entries=st.lists(ENTRIES, max_size=5),
    before=st.sampled_from([b"", b"", b"MZ"]),
    comment=st.binary(max_size=8),
    cut=st.integers(0, 40),
)
def test_made_up_archives_are_refused_or_read_as_others_do(
    entries: list[Raw], before: bytes, comment: bytes, cut: int, tmp_path: Path
) -> None:
    data = written([BOT_ENTRY, *entries], before=before, comment=comment)
    check_settled(tmp_path, data[: len(data) - max(0, cut - 20)])


def test_archive_cut_anywhere_is_refused(write: Write) -> None:
    """An end in the middle is no archive."""
    for length in range(1, len(SAMPLE)):
        with pytest.raises(ProgramRefusedError):
            examine(write(SAMPLE[:length]), ProgramKind.ARCHIVE, "ada.zip")


def test_program_over_the_size_is_refused(refusal: Refusal) -> None:
    assert f"at most {MAX_UPLOAD_BYTES}" in str(refusal(bytes(MAX_UPLOAD_BYTES + 1), "ada.zip"))


def test_empty_program_is_refused(refusal: Refusal) -> None:
    assert refusal(b"", "ada.zip").what == "it is empty"


def test_archive_within_an_archive_is_a_file(examined: Examined) -> None:
    """It is not opened, whatever is in it."""
    data = plain({"bot.py": BOT, "bomb.zip": with_bot(Raw(b"../a", kernel()))})
    assert examined(data, "ada.zip").files == 2


def test_junk_of_systems_beside_the_one_folder_is_passed_over(examined: Examined) -> None:
    data = plain({"ada/bot.py": BOT, "__MACOSX/ada/._bot.py": b"x", ".DS_Store": b"x"})
    assert examined(data, "ada.zip").top == "ada/"


def test_requirements_are_found(examined: Examined) -> None:
    data = plain({"bot.py": BOT, "requirements.txt": b"# fast\nnumpy>=2,<3\nmeijin\n"})
    assert examined(data, "ada.zip").requirements == ("numpy>=2,<3",)


def test_archive_of_python_is_taken(examined: Examined) -> None:
    """As its library writes one, with a name that is not of ASCII letters."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bot.py", BOT)
        archive.writestr("größe.txt", "x")
        archive.mkdir("empty")
    assert examined(file.getvalue(), "ada.zip").files == 3
