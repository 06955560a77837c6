"""Zip archives written byte by byte, with whatever lies in their headers."""

import base64
import hashlib
import stat
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

BOT = b"""from meijin.bots import Bot

class Ada(Bot):
    def choose(self, position):
        return position.legal_cells()[0]
"""
FILE = stat.S_IFREG | 0o644


@dataclass(frozen=True, slots=True)
class Raw:
    """An entry; fields of `central` and `local` take the place of what is true."""

    name: bytes
    data: bytes = b""
    method: int = 8
    flags: int = 0
    mode: int = FILE
    central: dict[str, int | bytes] = field(default_factory=dict)
    local: dict[str, int | bytes] = field(default_factory=dict)
    packed: bytes | None = None
    """In the place of the data, compressed."""
    behind: bytes = b""
    """Bytes between its data and the next entry."""
    extra: bytes = b""


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def written(
    entries: Sequence[Raw],
    *,
    before: bytes = b"",
    between: bytes = b"",
    comment: bytes = b"",
    end: dict[str, int] | None = None,
) -> bytes:
    """An archive; `end` takes the place of fields of its last record."""
    body, directory = bytearray(before), bytearray()
    for entry in entries:
        packed = entry.packed
        if packed is None:
            packed = deflated(entry.data) if entry.method == 8 else entry.data
        true: dict[str, int | bytes] = {
            "magic": b"PK\x03\x04",
            "name": entry.name,
            "flags": entry.flags,
            "method": entry.method,
            "crc": zlib.crc32(entry.data),
            "packed": len(packed),
            "unpacked": len(entry.data),
            "offset": len(body),
            "disk": 0,
        }
        body += _local({**true, **entry.local}, entry.extra) + packed + entry.behind
        directory += _central({**true, "magic": b"PK\x01\x02", **entry.central}, entry)
    told = {
        "disk": 0,
        "here": len(entries),
        "entries": len(entries),
        "bytes": len(directory),
        "offset": len(body) + len(between),
        **(end or {}),
    }
    last = struct.pack("<4s4H2LH", b"PK\x05\x06", told["disk"], told["disk"], told["here"],
        told["entries"], told["bytes"], told["offset"], len(comment))  # fmt: skip
    return bytes(body + between + directory + last + comment)


def _local(fields: dict[str, int | bytes], extra: bytes) -> bytes:
    name = fields["name"]
    assert isinstance(name, bytes)
    head = struct.pack("<4s5H3L2H", fields["magic"], 20, fields["flags"], fields["method"], 0, 0,
        fields["crc"], fields["packed"], fields["unpacked"], len(name), len(extra))  # fmt: skip
    return head + name + extra


def _central(fields: dict[str, int | bytes], entry: Raw) -> bytes:
    name = fields["name"]
    assert isinstance(name, bytes)
    head = struct.pack("<4s6H3L5H2L", fields["magic"], 20 | 3 << 8, 20, fields["flags"],
        fields["method"], 0, 0, fields["crc"], fields["packed"], fields["unpacked"], len(name),
        len(entry.extra), 0, fields["disk"], 0, entry.mode << 16, fields["offset"])  # fmt: skip
    return head + name + entry.extra


def plain(files: dict[str, bytes]) -> bytes:
    """An archive of plain files."""
    flags = {name: 0 if name.isascii() else 1 << 11 for name in files}
    return written([Raw(name.encode(), data, flags=flags[name]) for name, data in files.items()])


def wheel(
    files: dict[str, bytes],
    *,
    tag: str = "py3-none-any",
    needs: Sequence[str] = (),
    points: str = "[meijin.bots]\nada = ada:Ada\n",
    changes: dict[str, bytes] | None = None,
) -> bytes:
    """A wheel of `files`; `changes` are made behind the back of RECORD."""
    folder = "ada-1.0.dist-info"
    needed = "".join(f"Requires-Dist: {line}\n" for line in needs)
    inside = {
        **files,
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: ada\nVersion: 1.0\n{needed}".encode(),
        f"{folder}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
        f"{folder}/entry_points.txt": points.encode(),
    }
    record = "".join(f"{name},{_hash(data)},{len(data)}\n" for name, data in inside.items())
    inside[f"{folder}/RECORD"] = f"{record}{folder}/RECORD,,\n".encode()
    return plain({**inside, **(changes or {})})


def _hash(data: bytes) -> str:
    encoded = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={encoded.decode()}"
