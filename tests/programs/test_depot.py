"""The depot: programs by digest, in a folder and in a bucket, however an upload goes."""

import errno
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.programs.conftest import picture
from tests.programs.s3_server import BUCKET, S3Server, running_s3

from meijin.programs.depot import Depot, open_depot
from meijin.programs.errors import (
    DamagedProgramError,
    DepotError,
    DepotFullError,
    UnknownProgramError,
    UploadIncompleteError,
    UploadInProgressError,
    WrongBytesError,
)

DATA = bytes(range(150)) + b"the end of ada"
DIGEST = hashlib.sha256(DATA).hexdigest()
OTHER = hashlib.sha256(b"grace").hexdigest()
LONG_AGO = timedelta(days=2)


def upload(depot: Depot, data: bytes = DATA, uploader: str = "ada") -> str:
    digest = hashlib.sha256(data).hexdigest()
    with depot.begin(digest, size=len(data), uploader=uploader) as upload:
        upload.write(data[upload.offset :])
        upload.finish()
    return digest


def make_old(folder: Path) -> None:
    then = (datetime.now(UTC) - LONG_AGO).timestamp()
    for path in folder.iterdir():
        os.utime(path, (then, then))


@dataclass(frozen=True, slots=True)
class Place:
    """A depot, and what is behind its back."""

    depot: Depot
    partials: Path
    spoil: Callable[[str, bytes], object]
    """Puts other bytes in a digest's place."""
    age: Callable[[], object]
    """Makes all whole programs two days old."""


@pytest.fixture(scope="module", name="server")
def _server() -> Iterator[S3Server]:
    with running_s3() as server:
        yield server


@pytest.fixture(name="bucket")
def _bucket(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Depot]:
    """Opens the depot of a bucket that is empty, in a folder of it."""
    variables = {
        "AWS_ENDPOINT": server.url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "ada",
        "AWS_SECRET_ACCESS_KEY": "lovelace",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    server.objects.clear()
    server.failure = None
    server.time = datetime.now(UTC)
    return lambda: open_depot(f"s3://{BUCKET}/some/programs", incoming=tmp_path / "incoming")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "programs"


@pytest.fixture(name="depot")
def _depot(folder: Path) -> Depot:
    return open_depot(folder)


@pytest.fixture(name="place", params=["folder", "bucket"])
def _place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty depot of each kind."""
    if request.param == "folder":
        folder = tmp_path / "programs"
        return Place(
            depot=open_depot(folder),
            partials=folder / "incoming",
            spoil=lambda digest, data: (folder / digest).write_bytes(data),
            age=lambda: make_old(folder),
        )
    server: S3Server = request.getfixturevalue("server")
    opened: Callable[[], Depot] = request.getfixturevalue("bucket")
    return Place(
        depot=opened(),
        partials=tmp_path / "incoming",
        spoil=lambda digest, data: server.objects.update({f"some/programs/{digest}": data}),
        age=lambda: setattr(server, "time", server.time - LONG_AGO),
    )


def test_program_is_read_as_it_was_uploaded(place: Place) -> None:
    assert upload(place.depot) == DIGEST
    assert place.depot.has(DIGEST)
    assert b"".join(place.depot.read(DIGEST)) == DATA
    assert place.depot.digests() == [DIGEST]
    assert list(place.partials.iterdir()) == []


def test_large_program_is_read_in_chunks(place: Place) -> None:
    """None of them is all of it."""
    data = os.urandom(300_000)
    chunks = list(place.depot.read(upload(place.depot, data)))
    assert b"".join(chunks) == data
    assert max(map(len, chunks)) < len(data)


def test_unknown_program_is_not_found(place: Place) -> None:
    assert not place.depot.has(OTHER)
    with pytest.raises(UnknownProgramError, match=OTHER):
        list(place.depot.read(OTHER))


def test_program_is_copied_whole(place: Place, tmp_path: Path) -> None:
    upload(place.depot)
    target = tmp_path / "copies" / "ada"
    target.parent.mkdir()
    place.depot.copy(DIGEST, target)
    assert target.read_bytes() == DATA


@pytest.mark.parametrize("spoilt", [DATA[:-1], DATA + b"x", b""])
def test_damaged_program_is_never_copied(place: Place, tmp_path: Path, spoilt: bytes) -> None:
    """Bytes that are not the digest's end in an error, and leave no file."""
    upload(place.depot)
    place.spoil(DIGEST, spoilt)
    target = tmp_path / "copies" / "ada"
    target.parent.mkdir()
    with pytest.raises(DamagedProgramError, match=DIGEST):
        place.depot.copy(DIGEST, target)
    assert list(target.parent.iterdir()) == []


def test_deleted_program_is_gone(place: Place) -> None:
    """Deleting it again does no harm."""
    upload(place.depot)
    place.depot.delete(DIGEST)
    place.depot.delete(DIGEST)
    assert place.depot.digests() == []


def test_sweep_deletes_what_nobody_names(place: Place) -> None:
    upload(place.depot)
    other = upload(place.depot, b"grace")
    place.age()
    assert place.depot.sweep({DIGEST}).digests == (other,)
    assert place.depot.digests() == [DIGEST]


def test_sweep_spares_what_was_just_uploaded(place: Place) -> None:
    """Whoever has uploaded it may name it in a moment."""
    upload(place.depot)
    assert place.depot.sweep(set()).digests == ()
    assert place.depot.has(DIGEST)


def test_upload_cut_at_any_byte_goes_on(place: Place) -> None:
    """Nothing is whole before its end, and what was there is not sent again."""
    for cut in range(len(DATA) + 1):
        with place.depot.begin(DIGEST, size=len(DATA), uploader="ada") as first:
            first.write(DATA[:cut])
        assert not place.depot.has(DIGEST)
        with place.depot.begin(DIGEST, size=len(DATA), uploader="ada") as second:
            assert second.offset == cut
            second.write(DATA[cut:])
            second.finish()
        assert b"".join(place.depot.read(DIGEST)) == DATA
        place.depot.delete(DIGEST)


def test_killed_uploader_leaves_what_was_written(depot: Depot, folder: Path) -> None:
    """A process that ends in the middle lets go of the upload, which goes on."""
    program = (
        "import os, sys; from meijin.programs.depot import open_depot\n"
        f"upload = open_depot(sys.argv[1]).begin('{DIGEST}', size={len(DATA)}, uploader='ada')\n"
        "upload.write(bytes(range(100))); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, folder], check=False)
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        assert upload.offset == 100
        upload.write(DATA[100:])
        upload.finish()
    assert depot.has(DIGEST)


def test_upload_without_its_end_is_not_finished(depot: Depot) -> None:
    """It stays, to be gone on with."""
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        upload.write(DATA[:9])
        with pytest.raises(UploadIncompleteError, match=f"9 of {len(DATA)}"):
            upload.finish()
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as again:
        assert again.offset == 9


def test_upload_of_other_bytes_leaves_nothing(depot: Depot, folder: Path) -> None:
    before = picture(folder)
    with depot.begin(OTHER, size=len(DATA), uploader="ada") as upload:
        upload.write(DATA)
        with pytest.raises(WrongBytesError, match=DIGEST):
            upload.finish()
    assert picture(folder) == before


def test_upload_of_more_than_announced_leaves_nothing(depot: Depot, folder: Path) -> None:
    before = picture(folder)
    with depot.begin(DIGEST, size=9, uploader="ada") as upload:
        upload.write(DATA[:9])
        with pytest.raises(WrongBytesError, match="9 were announced"):
            upload.write(b"x")
    assert picture(folder) == before


def test_aborted_upload_leaves_nothing(depot: Depot, folder: Path) -> None:
    before = picture(folder)
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        upload.write(DATA[:9])
        upload.abort()
    assert picture(folder) == before


def test_ended_upload_takes_no_more(depot: Depot) -> None:
    upload = depot.begin(DIGEST, size=len(DATA), uploader="ada")
    upload.close()
    with pytest.raises(DepotError, match="begin it again"):
        upload.write(b"x")


def test_rest_of_a_longer_upload_is_not_gone_on_with(depot: Depot) -> None:
    """Who announces less than is there begins anew."""
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        upload.write(DATA[:50])
    with depot.begin(DIGEST, size=20, uploader="ada") as upload:
        assert upload.offset == 0


def test_second_upload_of_an_uploader_waits_its_turn(depot: Depot) -> None:
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as first:
        with pytest.raises(UploadInProgressError):
            depot.begin(DIGEST, size=len(DATA), uploader="ada")
        first.write(DATA)
        first.finish()
    assert depot.has(DIGEST)


def test_uploaders_of_one_program_do_not_meet(place: Place) -> None:
    """Both finish; one is kept, whole."""
    first = place.depot.begin(DIGEST, size=len(DATA), uploader="ada")
    second = place.depot.begin(DIGEST, size=len(DATA), uploader="grace")
    for byte in DATA:
        first.write(bytes([byte]))
        second.write(bytes([byte]))
    first.finish()
    second.finish()
    assert place.depot.digests() == [DIGEST]
    assert b"".join(place.depot.read(DIGEST)) == DATA
    assert list(place.partials.iterdir()) == []


def test_many_uploads_at_once_keep_one(depot: Depot, folder: Path) -> None:
    """Of sixteen by four uploaders each ends whole or finds another of its own under way."""
    data = os.urandom(200_000)
    together = threading.Barrier(16)

    def send(number: int) -> str | None:
        together.wait()
        try:
            return upload(depot, data, uploader=str(number % 4))
        except UploadInProgressError:
            return None

    with ThreadPoolExecutor(16) as pool:
        ended = set(pool.map(send, range(16)))
    (digest,) = ended - {None}
    assert digest is not None
    assert b"".join(depot.read(digest)) == data
    assert list((folder / "incoming").iterdir()) == []


def full(*_: Any) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_full_disk_leaves_nothing(
    depot: Depot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = picture(folder)
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        upload.write(DATA[:99])
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(DepotFullError, match=f"no room for the {len(DATA)} bytes"):
            upload.write(DATA[99:])
    assert picture(folder) == before


def test_disk_that_is_full_at_the_end_leaves_nothing(
    depot: Depot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems tell it only when all has to be on the disk."""
    before = picture(folder)
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        upload.write(DATA)
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DepotFullError):
            upload.finish()
    assert picture(folder) == before


def test_full_disk_leaves_no_copy(
    depot: Depot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(depot)
    before = picture(tmp_path)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DepotFullError, match="can't write"):
        depot.copy(DIGEST, tmp_path / "ada")
    assert picture(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["", "a" * 63, "A" * 64, "../" + "a" * 61, "a" * 64 + "\n", "g" * 64, "\u0661" * 64]
)
def test_name_that_is_no_digest_reaches_no_file(depot: Depot, folder: Path, name: str) -> None:
    before = picture(folder)
    for use in (depot.has, depot.delete, lambda text: list(depot.read(text))):
        with pytest.raises(DepotError, match="is no digest"):
            use(name)
    with pytest.raises(DepotError, match="is no digest"):
        depot.begin(name, size=1, uploader="ada")
    assert picture(folder) == before


def test_uploader_of_any_name_stays_in_the_folder(depot: Depot, folder: Path) -> None:
    with depot.begin(DIGEST, size=len(DATA), uploader="../../etc/\0ada") as upload:
        upload.write(b"x")
    assert len(list((folder / "incoming").iterdir())) == 1


def test_sweep_deletes_uploads_that_nobody_has_gone_on_with(depot: Depot, folder: Path) -> None:
    """One that somebody is at stays, however old it is."""
    with depot.begin(OTHER, size=99, uploader="grace") as running:
        running.write(b"x")
        with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
            upload.write(b"x")
        for path in (folder / "incoming").iterdir():
            os.utime(path, (0, 0))
        assert depot.sweep(set()).partials == 1
        assert [path.name[:64] for path in (folder / "incoming").iterdir()] == [OTHER]


def test_sweep_spares_fresh_uploads(depot: Depot) -> None:
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        upload.write(b"x")
    assert depot.sweep(set()).partials == 0


def test_linked_partial_file_is_not_followed(depot: Depot, folder: Path, tmp_path: Path) -> None:
    """Whatever lies in the folder, no other file is written to."""
    with depot.begin(DIGEST, size=len(DATA), uploader="ada"):
        (path,) = (folder / "incoming").iterdir()
    path.unlink()
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    path.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"):
        depot.begin(DIGEST, size=len(DATA), uploader="ada")
    assert victim.read_bytes() == b"mine"


def test_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "programs").write_text("")
    with pytest.raises(DepotError, match="can't use"):
        open_depot(tmp_path / "programs")


@pytest.mark.parametrize(
    ("place", "why"), [("s3://", "names no bucket"), ("gs://arena", "is no place")]
)
def test_unusable_address_is_told(place: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(DepotError, match=why):
        open_depot(place, incoming=tmp_path)


def test_bucket_without_its_library_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(DepotError, match=r"install meijin\[s3\]"):
        open_depot("s3://arena", incoming=tmp_path)


def test_bucket_that_refuses_keeps_the_upload(
    bucket: Callable[[], Depot], server: S3Server
) -> None:
    """Once it takes it, the upload is finished without a byte sent again."""
    depot = bucket()
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as upload:
        upload.write(DATA)
        server.failure = 403
        with pytest.raises(DepotError, match="see its name, region, endpoint and keys"):
            upload.finish()
    server.failure = None
    with depot.begin(DIGEST, size=len(DATA), uploader="ada") as again:
        assert again.offset == len(DATA)
        again.finish()
    assert depot.has(DIGEST)


def test_objects_of_others_are_passed_over(bucket: Callable[[], Depot], server: S3Server) -> None:
    """A bucket may hold more than programs."""
    server.objects |= {"some/programs/readme": b"x", f"other/{OTHER}": b"grace"}
    server.time -= LONG_AGO
    depot = bucket()
    assert depot.digests() == []
    assert depot.sweep(set()).digests == ()
    assert len(server.objects) == 2
