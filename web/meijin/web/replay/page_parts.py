"""Parts of pages of HTML that stand alone: no network, no library, and nobody else's script."""

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A template with a part for every name between two ``@``; a part is looked at no more."""
    page, *rest = template.split("@")
    return page + "".join(
        parts[piece] if place % 2 else piece for place, piece in enumerate(rest, 1)
    )


def policy(style: str, script: str) -> str:
    """A page's policy, which lets it use the one style and the one script that it has."""
    return (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def embedded(value: Mapping[str, Any]) -> str:
    """JSON that no reader of HTML takes for the end of the element or for a comment."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII
    for each in "<>&":
        text = text.replace(each, f"\\u{ord(each):04x}")
    return text


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
