"""A volume: a folder of real files, and beside them what of it is durable.

A file's content is durable as it was when it was synced last, and a name when its folder was. Of
what came later a power cut keeps nothing, all, or any part: pages and torn sectors of a file, any
length it has had, and any names that were made, changed or deleted. A sync that fails forgets what
it should have written, as Linux does: the next one that succeeds does not write it either.

What SQLite writes is not seen here, since it calls the system from C, and is taken as durable at
once: with `synchronous = FULL` a commit is when it returns, and SQLite's authors simulate its power
cuts. A database that anybody else makes or copies is a file like all others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

PAGE = 4096
"""Bytes that the system writes together, unless the power fails meanwhile."""

SECTOR = 512
"""Bytes that a disk writes together in any case."""

TORN = 0.25
"""The share of pages of which a power cut leaves some sectors."""

_SQLITES = re.compile(r".*(\.db|-wal|-shm|-journal)")
"""The files that SQLite makes, and those that it writes when a volume begins."""


class PowerCut(BaseException):
    """The power is cut. Nothing catches this as an error."""


class _Write(NamedTuple):
    offset: int
    data: bytes

    def covers(self, other: _Write) -> bool:
        start, end = other.offset, other.offset + len(other.data)
        return self.offset <= start and end <= self.offset + len(self.data)


@dataclass(slots=True, eq=False)
class File:
    """A file, under any number of names."""

    durable: bytes = b""
    """Its content when it was synced last."""
    is_sqlites: bool = False
    """All of its content is durable at once."""
    content: bytes = b""
    """What it held when it lost its last name."""
    writes: list[_Write] = field(default_factory=list)
    """What was written since."""
    lengths: list[int] = field(default_factory=list)
    """Those that it has had since."""
    forgotten: list[_Write] = field(default_factory=list)
    """What a sync that failed should have written."""

    def write(self, offset: int, data: bytes) -> None:
        """Something was written, which is not durable yet."""
        written = _Write(offset, data)
        self.writes.append(written)
        self.forgotten = [other for other in self.forgotten if not written.covers(other)]

    def sync(self, content: bytes) -> None:
        """What it holds now is durable, but for what was forgotten."""
        synced = bytearray(content)
        for offset, data in self.forgotten:
            before = self.durable[offset : offset + len(data)].ljust(len(data), b"\0")
            synced[offset : offset + len(data)] = before
        self.durable = bytes(synced[: len(content)])
        self.writes.clear()
        self.lengths.clear()

    def forget(self) -> None:
        self.forgotten += self.writes

    def left(self, content: bytes, rng: Random) -> bytes:
        """What a power cut leaves of it; `content` is what it holds."""
        kept = rng.choice(["nothing", "all", "some"])
        if self.is_sqlites or kept == "all":
            return content
        return self.durable if kept == "nothing" else self._mixed(content, rng)

    def _mixed(self, content: bytes, rng: Random) -> bytes:
        share = rng.choice([0.0, 0.3, 0.7])
        mixed = bytearray(self.durable)
        for offset, data in (*self.writes, _Write(0, content)):
            for start, end in _kept_parts(offset, offset + len(data), share, rng):
                mixed += bytes(max(end - len(mixed), 0))
                mixed[start:end] = data[start - offset : end - offset]
        length = rng.choice([len(self.durable), *self.lengths, len(content)])
        return bytes(mixed[:length].ljust(length, b"\0"))


def _kept_parts(start: int, end: int, share: float, rng: Random) -> Iterator[tuple[int, int]]:
    """A share of a write: whole pages, and sectors of those that are torn."""
    for first in range(start - start % PAGE, end, PAGE):
        size = SECTOR if rng.random() < TORN else PAGE
        for part in range(first, first + PAGE, size):
            if rng.random() < share and max(part, start) < min(part + size, end):
                yield max(part, start), min(part + size, end)


@dataclass(slots=True, eq=False)
class Folder:
    """A folder: its names, and those that are durable."""

    durable: dict[str, Node] = field(default_factory=dict)
    """As they were when it was synced last."""
    names: dict[str, Node] = field(default_factory=dict)
    changes: list[dict[str, Node | None]] = field(default_factory=list)
    """Those since, each of which happens as a whole; ``None`` for a name that is deleted."""

    def change(self, news: dict[str, Node | None]) -> None:
        self.changes.append(news)
        _apply(news, self.names)

    def sync(self) -> None:
        self.durable = dict(self.names)
        self.changes.clear()

    def left(self, rng: Random) -> dict[str, Node]:
        """The names that a power cut leaves: those after any of the changes, in their order."""
        names = dict(self.durable)
        share = rng.choice([0.0, 0.5, 1.0])
        for news in self.changes:
            if rng.random() < share:
                _apply(news, names)
        return names


Node: TypeAlias = "File | Folder"


def _apply(news: dict[str, Node | None], names: dict[str, Node]) -> None:
    for name, node in news.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


class Volume:
    """All that is below a folder; when it begins it is durable.

    Args:
        root: The folder, by its real path.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = Folder()
        self._nodes: dict[tuple[int, int], Node] = {}
        """By device and number of the file."""
        self._nodes[_key(root.stat())] = self.folder
        self._find(self.folder, root)
        for node, path in self._walk():
            if isinstance(node, Folder):
                node.sync()
            elif not node.is_sqlites:
                node.durable = path.read_bytes()

    def node(self, found: os.stat_result) -> Node | None:
        """The file or folder that is meant; ``None`` where it is not of this volume."""
        return self._nodes.get(_key(found))

    def folder_of(self, path: Path) -> Folder:
        node: Node = self.folder
        for name in path.parent.relative_to(self.root).parts:
            assert isinstance(node, Folder)
            node = node.names[name]
        assert isinstance(node, Folder)
        return node

    def add(self, path: Path, node: Node) -> None:
        self._nodes[_key(path.stat())] = node
        self.folder_of(path).change({path.name: node})

    def link(self, path: Path, name: Path) -> None:
        node = self.folder_of(path).names[path.name]
        self.folder_of(name).change({name.name: node})

    def remove(self, path: Path) -> None:
        self.folder_of(path).change({path.name: None})

    def rename(self, path: Path, name: Path) -> None:
        """A file or a folder was given another name, in the same folder at one instant."""
        source, target = self.folder_of(path), self.folder_of(name)
        node = source.names[path.name]
        if source is target:
            source.change({path.name: None, name.name: node})
        else:
            target.change({name.name: node})
            source.change({path.name: None})

    def keep_content(self, path: Path) -> None:
        """A name is about to be deleted or changed: the file may lose its last one."""
        node = self.folder_of(path).names.get(path.name)
        if isinstance(node, File):
            node.content = path.read_bytes()

    def find(self, folder: Folder) -> None:
        """See what has been made or deleted in a folder by calls that nobody sees, SQLite's above all."""
        for node, path in self._walk():
            if node is folder:
                self._find(folder, path)
                return

    def _find(self, folder: Folder, path: Path) -> None:
        found = {entry.name: entry for entry in os.scandir(path)}
        for name in folder.names.keys() - found.keys():
            if _is_sqlites(name):
                folder.durable.pop(name, None)
            folder.change({name: None})
        for name, entry in sorted(found.items()):
            if name in folder.names:
                continue
            node: Node = Folder() if entry.is_dir() else File(is_sqlites=_is_sqlites(name))
            self._nodes[_key(entry.stat())] = node
            folder.change({name: node})
            if isinstance(node, Folder):
                self._find(node, path / name)
            elif node.is_sqlites:
                folder.durable[name] = node

    def _walk(self) -> Iterator[tuple[Node, Path]]:
        """Every node that has a name now, with its path; a folder before what is in it."""
        waiting: list[tuple[Node, Path]] = [(self.folder, self.root)]
        while waiting:
            node, path = waiting.pop()
            yield node, path
            if isinstance(node, Folder):
                waiting += [(child, path / name) for name, child in node.names.items()]

    def leave(self, target: Path, rng: Random) -> None:
        """Make a folder of what a power cut leaves; files of SQLite's are the very same ones."""
        for node, path in self._walk():
            if isinstance(node, Folder):
                self._find(node, path)
        paths = dict(self._walk())
        self._leave(self.folder, target, paths, rng)

    def _leave(self, folder: Folder, target: Path, paths: dict[Node, Path], rng: Random) -> None:
        target.mkdir(mode=0o700)
        for name, node in sorted(folder.left(rng).items()):
            path = paths.get(node)
            if isinstance(node, Folder):
                self._leave(node, target / name, paths, rng)
            elif node.is_sqlites and path is not None:
                os.link(path, target / name)
            else:
                content = node.content if path is None else path.read_bytes()
                (target / name).write_bytes(node.left(content, rng))
                (target / name).chmod(0o600)


def _is_sqlites(name: str) -> bool:
    return _SQLITES.fullmatch(name) is not None


def _key(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
