"""Bodies: what is sent about an event, in each format."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from meijin.store.schema import WebhookEvent, WebhookFormat
from meijin.wire.text import plain_text

MAX_SENTENCE = 1500
"""Characters of a sentence before its marks are escaped; Discord takes 2000."""

NO_EMBEDS = 4
"""Discord's flag of a message whose links are not looked up."""

_DISCORD_MARKS = re.compile(r"([\\*_~`|<>\[\]#@:])")


@dataclass(frozen=True, slots=True)
class Payload:
    """What is told about an event."""

    event: WebhookEvent
    time: datetime
    """When it happened."""
    data: Mapping[str, object]
    """A message of the contract, in protobuf's JSON mapping."""
    sentence: str
    """The same for people, in one sentence."""


def body_of(payload: Payload, format_: WebhookFormat) -> bytes:
    """The body of a request, compact JSON in UTF-8."""
    fields = _BODIES[format_](payload)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def _standard(payload: Payload) -> dict[str, object]:
    time = payload.time.astimezone(UTC).isoformat(timespec="microseconds")
    return {
        "type": payload.event.value,
        "timestamp": time.replace("+00:00", "Z"),
        "data": payload.data,
    }


def _discord(payload: Payload) -> dict[str, object]:
    text = _DISCORD_MARKS.sub(r"\\\1", _sentence(payload))
    return {"content": text[:2000], "allowed_mentions": {"parse": []}, "flags": NO_EMBEDS}


def _slack(payload: Payload) -> dict[str, object]:
    text = _sentence(payload)
    for mark, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(mark, escaped)
    return {"text": text, "mrkdwn": False, "unfurl_links": False}


def _sentence(payload: Payload) -> str:
    return plain_text(payload.sentence)[:MAX_SENTENCE]


_BODIES: Mapping[WebhookFormat, Callable[[Payload], dict[str, object]]] = {
    WebhookFormat.STANDARD: _standard,
    WebhookFormat.DISCORD: _discord,
    WebhookFormat.SLACK: _slack,
}
