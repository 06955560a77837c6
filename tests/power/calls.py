"""The calls to the system by which the product writes, told to a volume, failing or cut off."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import RLock
from typing import IO, Any, TypeVar
from unittest import mock

from tests.power.volume import File, Folder, PowerCut, Volume

T = TypeVar("T")

_open, _fstat, _pread = os.open, os.fstat, os.pread


class Calls:
    """Stands between the product and the system, for all that concerns a volume.

    Each call that writes is a step. Before step `cut_at` the power is cut: neither it nor any later
    one happens.
    """

    def __init__(self, volume: Volume) -> None:
        self.volume = volume
        self.steps = 0
        """Those that were made, or tried."""
        self.names: list[str] = []
        """Their calls' names, in their order."""
        self.cut_at = 0
        """The step at which the power is cut; 0 for never."""
        self.is_cut = False
        self.on_cut: Callable[[], None] = lambda: None
        """Is called once, before that step."""
        self.fails: dict[str, int] = {}
        """By its name, the error with which a call fails; 0 for none."""
        self.most_bytes: int | None = None
        """A write is no longer than this."""
        self._lock = RLock()

    @contextmanager
    def made(self) -> Iterator[None]:
        replaced: list[tuple[Any, str, Callable[..., Any]]] = [
            (os, "open", self._opening),
            (builtins, "open", self._opening_for_python),
            (io, "open", self._opening_for_python),
            (os, "mkdir", self._making_folder),
            (os, "link", self._linking),
            (os, "rename", self._renaming),
            (os, "replace", self._renaming),
            (os, "unlink", self._removing),
            (os, "remove", self._removing),
            (os, "rmdir", self._removing),
            (os, "pwrite", self._writing_at),
            (os, "write", self._writing),
            (os, "posix_fallocate", self._resizing),
            (os, "ftruncate", self._resizing),
            (os, "fsync", self._syncing),
            (os, "fdatasync", self._syncing),
        ]
        with ExitStack() as stack:
            for module, name, method in replaced:
                call = _Call(name, getattr(module, name), method)
                stack.enter_context(mock.patch.object(module, name, call))
            yield

    @contextmanager
    def failing(self, error: int, *names: str) -> Iterator[None]:
        """Have some calls fail with an error; 0 for none."""
        self.fails.update(dict.fromkeys(names, error))
        try:
            yield
        finally:
            self.mend()

    def mend(self) -> None:
        self.fails.clear()
        self.most_bytes = None

    def restore_power(self, volume: Volume) -> None:
        """Go on with what was left; the steps are counted anew."""
        self.volume = volume
        self.steps = self.cut_at = 0
        self.names.clear()
        self.is_cut = False

    def _step(self, name: str) -> None:
        """Count a step, unless the power is cut before it.

        Raises:
            PowerCut: it is.
            OSError: the call is to fail.
        """
        if not self.is_cut:
            self.steps += 1
            self.names.append(name)
            if 0 < self.cut_at <= self.steps:
                self.is_cut = True
                self.on_cut()
        if self.is_cut:
            raise PowerCut
        if error := self.fails.get(name):
            raise OSError(error, os.strerror(error))

    def _path(self, path: Any, folder: int | None = None) -> Path | None:
        """The path that is meant; ``None`` where it is not of this volume."""
        if isinstance(path, int):
            return None
        found = _within(folder, path).absolute()
        return found if self.volume.root in found.parents else None

    def _file(self, number: int) -> File | None:
        """The open file that is meant; ``None`` where it is not of this volume."""
        found = self.volume.node(_fstat(number))
        return found if isinstance(found, File) else None

    # -- names -------------------------------------------------------------------------------

    def _opening(
        self, call: _Call, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
    ) -> int:
        def make() -> int:
            return int(call.real(path, flags, mode, dir_fd=dir_fd))

        found = self._path(path, dir_fd)
        return make() if found is None else self._made(call, found, make, flags & os.O_CREAT)

    def _opening_for_python(
        self, call: _Call, path: Any, mode: str = "r", *rest: Any, **more: Any
    ) -> IO[Any]:
        def make() -> IO[Any]:
            opened: IO[Any] = call.real(path, mode, *rest, **more)
            return opened

        found = self._path(path)
        is_made = set(mode) & set("wax")
        return make() if found is None else self._made(call, found, make, is_made)

    def _made(self, call: _Call, path: Path, make: Callable[[], T], is_made: object) -> T:
        if not is_made or path.exists():
            return make()
        with self._lock:
            self._step(call.name)
            made = make()
            self.volume.add(path, File())
            return made

    def _making_folder(
        self, call: _Call, path: Any, mode: int = 0o777, *, dir_fd: int | None = None
    ) -> None:
        found = self._path(path, dir_fd)
        if found is None or found.exists():
            call.real(path, mode, dir_fd=dir_fd)
            return
        with self._lock:
            self._step(call.name)
            call.real(path, mode, dir_fd=dir_fd)
            self.volume.add(found, Folder())

    def _linking(self, call: _Call, path: Any, name: Any, **more: Any) -> None:
        self._change(call, (path, name), lambda: call.real(path, name, **more), self.volume.link)

    def _renaming(self, call: _Call, path: Any, name: Any, **more: Any) -> None:
        self._change(call, (path, name), lambda: call.real(path, name, **more), self.volume.rename)

    def _removing(self, call: _Call, path: Any, *, dir_fd: int | None = None) -> None:
        meant = _within(dir_fd, path)
        self._change(call, (meant,), lambda: call.real(meant), self.volume.remove)

    def _change(
        self,
        call: _Call,
        paths: tuple[Any, ...],
        make: Callable[[], None],
        tell: Callable[..., None],
    ) -> None:
        found = [self._path(path) for path in paths]
        if None in found or not os.path.lexists(paths[0]):
            make()
            return
        with self._lock:
            self._step(call.name)
            for path in filter(None, found):
                self.volume.find(self.volume.folder_of(path))
                self.volume.keep_content(path)
            make()
            tell(*found)

    # -- contents ----------------------------------------------------------------------------

    def _writing(self, call: _Call, number: int, data: Any) -> int:
        return self._write(call, number, data, None)

    def _writing_at(self, call: _Call, number: int, data: Any, offset: int) -> int:
        return self._write(call, number, data, offset)

    def _write(self, call: _Call, number: int, data: Any, offset: int | None) -> int:
        place = () if offset is None else (offset,)
        file = self._file(number)
        if file is None:
            return int(call.real(number, data, *place))
        with self._lock:
            self._step(call.name)
            start = os.lseek(number, 0, os.SEEK_CUR) if offset is None else offset
            data = bytes(data)[: self.most_bytes]
            written = int(call.real(number, data, *place))
            file.write(start, data[:written])
            file.lengths.append(_fstat(number).st_size)
            return written

    def _resizing(self, call: _Call, number: int, *sizes: int) -> None:
        file = self._file(number)
        if file is None:
            call.real(number, *sizes)
            return
        with self._lock:
            self._step(call.name)
            call.real(number, *sizes)
            file.lengths.append(_fstat(number).st_size)

    def _syncing(self, call: _Call, number: int) -> None:
        """Wait for the disk. Nothing is written to it: what is durable is what the volume says."""
        node = self.volume.node(_fstat(number))
        if node is None:
            call.real(number)
            return
        with self._lock:
            try:
                self._step(call.name)
            except OSError:
                if isinstance(node, File):
                    node.forget()
                raise
            if isinstance(node, File):
                node.sync(_content(number))
            else:
                self.volume.find(node)
                node.sync()


class _Call:
    """A call of the system's, as this stands in its place."""

    def __init__(self, name: str, real: Callable[..., Any], method: Callable[..., Any]) -> None:
        self.name = name
        self.real = real
        self._method = method

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return self._method(self, *arguments, **more)


def _within(folder: int | None, path: Any) -> Path:
    found = Path(os.fsdecode(path))
    return found if folder is None else Path(f"/proc/self/fd/{folder}").readlink() / found


def _content(number: int) -> bytes:
    """All that an open file holds, also one that is open for writing alone."""
    again = _open(f"/proc/self/fd/{number}", os.O_RDONLY)
    try:
        return _pread(again, _fstat(again).st_size, 0)
    finally:
        os.close(again)
