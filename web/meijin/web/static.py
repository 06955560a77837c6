"""Static files: scripts, styles and pictures, held in memory under an address for each release."""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

FOLDER = Path(__file__).parent / "static"

FOR_EVER = "public, max-age=31536000, immutable"
A_DAY = "public, max-age=86400"

AT_THE_TOP = ("/favicon.ico", "/robots.txt")
"""Addresses that programs ask for without being told them."""

COMPRESSIBLE = frozenset({".css", ".js", ".svg", ".txt"})


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent."""

    body: bytes
    compressed: bytes | None
    """By gzip; ``None`` where that does not pay."""
    media_type: str


class StaticFiles:
    """The files of the room, under an address that changes with any of them."""

    def __init__(self, folder: Path = FOLDER) -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        self._files = {path.relative_to(folder).as_posix(): _read(path) for path in paths}
        digest = hashlib.sha256()
        for name, file in self._files.items():
            digest.update(name.encode() + b"\0" + file.body)
        self.version = digest.hexdigest()[:12]

    def url(self, name: str) -> str:
        """The address of a file.

        Raises:
            KeyError: there is none.
        """
        self._files[name]
        return f"/static/{self.version}/{name}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        asked = request.path_params or {"name": request.url.path[1:], "version": self.version}
        file = self._files.get(asked["name"])
        if file is None or asked["version"] != self.version:
            response = Response("no such file", 404, media_type="text/plain")
        else:
            response = _response(file, request.headers.get("accept-encoding", ""))
        if not request.path_params:
            response.headers["cache-control"] = A_DAY
        await response(scope, receive, send)


def _response(file: StaticFile, accepted: str) -> Response:
    headers = {"cache-control": FOR_EVER, "vary": "accept-encoding"}
    if file.compressed is not None and "gzip" in accepted:
        headers["content-encoding"] = "gzip"
        return Response(file.compressed, headers=headers, media_type=file.media_type)
    return Response(file.body, headers=headers, media_type=file.media_type)


def _read(path: Path) -> StaticFile:
    body = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "text/plain"
    is_compressible = path.suffix in COMPRESSIBLE
    if kind == "application/javascript":
        kind = "text/javascript"
    return StaticFile(body, gzip.compress(body, 9, mtime=0) if is_compressible else None, kind)
