"""What supports a fault, as people read it: names without units, and times in seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

MAX_TEXT = 2000
"""Characters of one value; bots have a say in some of them."""

_MICROSECONDS = "_us"


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One thing that is known."""

    name: str
    text: str


def evidence_lines(evidence: Struct) -> tuple[EvidenceLine, ...]:
    """All that is known, in the order of the names."""
    found: Mapping[str, object] = MessageToDict(evidence)
    return tuple(EvidenceLine(_name(key), _text(key, found[key])) for key in sorted(found))


def _name(key: str) -> str:
    return key.removesuffix(_MICROSECONDS).replace("_", " ")


def _text(key: str, value: object) -> str:
    if key.endswith(_MICROSECONDS):
        values = value if isinstance(value, list) else [value]
        return ", ".join(map(_seconds, values))[:MAX_TEXT]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:MAX_TEXT]


def _seconds(value: object) -> str:
    if not isinstance(value, float | int) or isinstance(value, bool):
        return json.dumps(value)
    return f"{value / 1e6:.6f}".rstrip("0").rstrip(".") + " s"
