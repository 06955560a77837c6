"""Signatures by Standard Webhooks 1.0.0: an HMAC-SHA256 of id, time and body."""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105 - lets scanners find a leaked one
SECRET_BYTES = 32


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
