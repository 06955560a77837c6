"""The volume itself: what it keeps is what a disk may keep."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest
from tests.power.calls import Calls
from tests.power.volume import PAGE, PowerCut, Volume

SEEDS = range(60)
"""Enough that whatever may be kept is kept once, and whatever may be lost is lost once."""


class Scene:
    """A volume with a durable file, and what power cuts leave of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        (self.root / "old").write_bytes(b"old")
        self._left = folder / "left"
        self.volume = Volume(self.root)
        self.calls = Calls(self.volume)

    @contextmanager
    def opened(self, name: str) -> Iterator[int]:
        """A file that is open for writing, and made if it is not there."""
        number = os.open(self.root / name, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            yield number
        finally:
            os.close(number)

    def sync_folder(self) -> None:
        """Have the names durable."""
        number = os.open(self.root, os.O_RDONLY)
        os.fsync(number)
        os.close(number)

    def left(self) -> list[dict[str, bytes]]:
        """What some power cuts leave, different ones: by name the contents."""
        found = []
        for seed in SEEDS:
            folder = self._left / str(seed)
            folder.parent.mkdir(exist_ok=True)
            self.volume.leave(folder, Random(seed))
            found.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
            shutil.rmtree(folder)
        return [each for place, each in enumerate(found) if each not in found[:place]]


@pytest.fixture(name="scene")
def _scene(tmp_path: Path) -> Iterator[Scene]:
    """A volume that is told of all calls."""
    scene = Scene(tmp_path)
    with scene.calls.made():
        yield scene


def test_what_was_there_before_stays(scene: Scene) -> None:
    """A volume begins with all of it durable."""
    assert scene.left() == [{"old": b"old"}]


def test_a_new_file_needs_its_folder_synced(scene: Scene) -> None:
    """Its content alone does not keep its name."""
    with scene.opened("new") as number:
        os.pwrite(number, b"news", 0)
        os.fsync(number)
        left = scene.left()
        assert {"old": b"old"} in left
        assert {"old": b"old", "new": b"news"} in left
        assert len(left) == 2
        scene.sync_folder()
    assert scene.left() == [{"old": b"old", "new": b"news"}]


def test_what_was_not_synced_may_be_kept_in_part(scene: Scene) -> None:
    """Whole pages, torn ones, and zeros where the length alone was kept."""
    with scene.opened("old") as number:
        os.pwrite(number, b"x" * 2 * PAGE, 3)
        left = [each["old"] for each in scene.left()]
        assert b"old" in left
        assert b"old" + b"x" * 2 * PAGE in left
        assert any(len(each) > 3 and set(each[3:]) == {0} for each in left)
        assert any(each.count(b"x") % PAGE > 0 for each in left if each.count(b"x") < 2 * PAGE)
        os.fdatasync(number)
    assert scene.left() == [{"old": b"old" + b"x" * 2 * PAGE}]


def test_a_file_may_keep_what_it_held_between_two_writes(scene: Scene) -> None:
    """The system may have written it at any instant."""
    with scene.opened("old") as number:
        os.pwrite(number, b"one", 0)
        os.pwrite(number, b"two", 0)
    assert {each["old"] for each in scene.left()} >= {b"old", b"one", b"two"}


def test_a_sync_that_fails_is_no_sync_and_nor_is_the_next_one(scene: Scene) -> None:
    """The system takes the pages for written: only what is written once more is."""
    with scene.opened("old") as number:
        os.pwrite(number, b"new", 0)
        scene.calls.fails["fsync"] = errno.EIO
        with pytest.raises(OSError, match="Input/output"):
            os.fsync(number)
        scene.calls.fails.clear()
        os.pwrite(number, b"s", 3)
        os.fsync(number)
        assert {"old": b"olds"} in scene.left()
        os.pwrite(number, b"new", 0)
        os.fsync(number)
    assert scene.left() == [{"old": b"news"}]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (lambda root: (root / "old").unlink(), {}),
        (lambda root: (root / "old").rename(root / "new"), {"new": b"old"}),
        (lambda root: os.link(root / "old", root / "new"), {"old": b"old", "new": b"old"}),
    ],
)
def test_a_change_of_names_happens_as_a_whole_or_not_at_all(
    scene: Scene, change: Callable[[Path], None], after: dict[str, bytes]
) -> None:
    """Until the folder is synced."""
    change(scene.root)
    left = scene.left()
    assert len(left) == 2
    assert {"old": b"old"} in left
    assert after in left
    scene.sync_folder()
    assert scene.left() == [after]


def test_a_file_that_takes_anothers_name_may_lose_it_to_the_other(scene: Scene) -> None:
    """It is the one or the other; not synced, the new one may be empty."""
    (scene.root / "new").write_bytes(b"news")
    (scene.root / "new").replace(scene.root / "old")
    contents = {each["old"] for each in scene.left()}
    assert contents >= {b"old", b"news", b""}


def test_nothing_happens_after_the_cut(scene: Scene) -> None:
    """Neither the call before which it comes, nor any other."""
    scene.calls.cut_at = 2
    with scene.opened("old") as number:
        os.pwrite(number, b"o", 0)
        for _ in range(2):
            with pytest.raises(PowerCut):
                os.pwrite(number, b"xx", 1)
    with pytest.raises(PowerCut), suppress(Exception):
        (scene.root / "new").mkdir()
    assert (scene.calls.steps, scene.calls.names) == (2, ["pwrite", "pwrite"])
    assert (scene.root / "old").read_bytes() == b"old"


def test_what_sqlite_writes_is_durable(tmp_path: Path) -> None:
    """Its calls are not seen: its files are taken as they are, whatever they were called since."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.db").write_bytes(b"1")
    volume = Volume(tmp_path / "root")
    (tmp_path / "root" / "a.db").write_bytes(b"2")
    (tmp_path / "root" / "a.db-wal").write_bytes(b"3")
    volume.leave(tmp_path / "left", Random(1))
    left = {path.name: path.read_bytes() for path in (tmp_path / "left").iterdir()}
    assert left == {"a.db": b"2", "a.db-wal": b"3"}
