"""Contents: what an examination has found in a program's bytes."""

from dataclasses import asdict, dataclass
from typing import Any

from meijin.programs.archive.elf import Linkage
from meijin.programs.kinds import ProgramKind
from meijin.programs.manifest import Manifest, Protocol


@dataclass(frozen=True, slots=True)
class Contents:
    """What a program is, whose bytes break no rule."""

    kind: ProgramKind
    manifest: Manifest
    """What it starts with; of all kinds but an image, which starts with what it names itself."""
    files: int = 1
    unpacked_bytes: int = 0
    top: str = ""
    """The one folder of an archive that holds everything, with a slash behind it; else empty."""
    requirements: tuple[str, ...] = ()
    """The libraries that it needs, as lines of pip."""
    linkage: Linkage | None = None
    """Of an engine."""
    entry_point: tuple[str, str] | None = None
    """The module and the class of a wheel's bot."""
    image: str = ""
    """The reference of an image, with its digest."""

    def to_table(self) -> dict[str, Any]:
        """As a table that JSON can hold."""
        table = asdict(self)
        protocol = self.manifest.protocol
        table["kind"] = self.kind.value
        table["linkage"] = None if self.linkage is None else self.linkage.value
        table["manifest"]["protocol"] = None if protocol is None else protocol.value
        return table

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> "Contents":
        """Read what `to_table` has made.

        Raises:
            KeyError, TypeError, ValueError: it was another.
        """
        told = table["manifest"]
        protocol, linkage, point = told["protocol"], table["linkage"], table["entry_point"]
        manifest = Manifest(
            bot=told["bot"],
            engine=told["engine"],
            command=tuple(told["command"]),
            protocol=None if protocol is None else Protocol(protocol),
            rules=tuple(told["rules"]),
            options=tuple((name, value) for name, value in told["options"]),
            version=told["version"],
        )
        return cls(
            kind=ProgramKind(table["kind"]),
            manifest=manifest,
            files=int(table["files"]),
            unpacked_bytes=int(table["unpacked_bytes"]),
            top=table["top"],
            requirements=tuple(table["requirements"]),
            linkage=None if linkage is None else Linkage(linkage),
            entry_point=None if point is None else (point[0], point[1]),
            image=table["image"],
        )
