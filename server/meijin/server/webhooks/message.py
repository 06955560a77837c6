"""Messages: what is sent about an event in each format, signed by Standard Webhooks 1.0.0.

The package `standardwebhooks` signs too, with one secret at a time and no more; of its 3.5 KB four
lines would be used here.
"""

import hashlib
import hmac
import json
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from meijin.store.schema import WebhookEvent, WebhookFormat
from meijin.wire.text import plain_text

SECRET_PREFIX = "whsec_"  # noqa: S105 - lets scanners find a leaked one
SECRET_BYTES = 32

MAX_SENTENCE = 1500
"""Characters of a sentence before its marks are escaped; Discord takes 2000."""

NO_EMBEDS = 4
"""Discord's flag of a message whose links are not looked up."""

_DISCORD_MARKS = re.compile(r"([\\*_~`|<>\[\]#@:])")


@dataclass(frozen=True, slots=True)
class Payload:
    """An event as it is sent."""

    event: WebhookEvent
    time: datetime
    """When it happened."""
    data: Mapping[str, object]
    """A message of the contract."""
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


def new_secret() -> str:
    """A fresh secret of 256 bits, as it is shown and kept."""
    return SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def new_message_id() -> str:
    """A fresh ``webhook-id``: without a full stop, which ends it in what is signed."""
    return f"msg_{secrets.token_hex(16)}"


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The signature of a message, with its version in front."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    return "v1," + b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signed_headers(
    used: Iterable[str], message_id: str, now: datetime, body: bytes
) -> dict[str, str]:
    """The headers of a message that is signed with each of some secrets."""
    timestamp = int(now.timestamp())
    signatures = (signature(secret, message_id, timestamp, body) for secret in used)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
