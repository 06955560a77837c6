"""Identity: which protocol an engine speaks, and what it tells of itself."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from meijin.bots.bridge.dialogue import EngineProtocol, Kind
from meijin.bots.bridge.errors import EngineDiedError, EngineStartError
from meijin.bots.bridge.gomocup import START_PATIENCE, GomocupProtocol, parse_about, parse_reply
from meijin.bots.bridge.gtp import GtpProtocol
from meijin.bots.bridge.process import EngineProcess
from meijin.bots.bridge.session import WHOLE_PART
from meijin.bots.bridge.yixin import YixinProtocol

PROTOCOLS: dict[str, type[EngineProtocol]] = {
    protocol.name: protocol for protocol in (GomocupProtocol, YixinProtocol, GtpProtocol)
}
"""By their names."""
ABOUT_PATIENCE = timedelta(seconds=2)
_GTP_ANSWER = re.compile(r"[=?][0-9]*(\s|$)")


@dataclass(frozen=True, slots=True)
class Identity:
    """What an engine has told of itself."""

    protocol: str
    about: Mapping[str, str]
    """Its ``name`` and its ``version``, if it told them."""


async def identify(process: EngineProcess) -> Identity:
    """Find out which protocol an engine speaks: it is asked with ABOUT, then with START.

    Raises:
        EngineStartError: it answers neither.
    """
    try:
        for command, patience in (("ABOUT", ABOUT_PATIENCE), ("START 15", START_PATIENCE)):
            await process.write(f"{command}\r\n")
            left = partial(_left, time.monotonic() + patience.total_seconds())
            while line := await process.read_line(left):
                if name := _protocol_of(line):
                    return Identity(name, parse_about(line))
    except EngineDiedError as error:
        raise EngineStartError(f"{error}; its protocol is unknown") from error
    raise EngineStartError(
        "the engine answers neither ABOUT nor START; say what it speaks with --protocol"
    )


def _left(deadline: float, part: str) -> float:
    """Seconds until then; a part that is an answer is taken for whole sooner."""
    if part and _protocol_of(part):
        return WHOLE_PART.total_seconds()
    return max(0.0, deadline - time.monotonic())


def _protocol_of(line: str) -> str | None:
    """The protocol that a line belongs to, if it tells."""
    if _GTP_ANSWER.match(line):
        return GtpProtocol.name
    reply = parse_reply(line)
    if reply.kind is Kind.ABOUT:
        is_yixin = re.search("yixin", parse_about(line).get("name", ""), re.IGNORECASE)
        return YixinProtocol.name if is_yixin else GomocupProtocol.name
    known = reply.kind in (Kind.OK, Kind.UNKNOWN, Kind.ERROR)
    return GomocupProtocol.name if known else None
