"""What is sent about an event, in each format."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from meijin.server.webhooks.bodies import Payload, body_of
from meijin.store.schema import WebhookEvent, WebhookFormat

TIME = datetime(2026, 3, 4, 13, 0, 0, 5, tzinfo=timezone(timedelta(hours=1)))
HOSTILE = "</script> <@1> @here [a](http://b) **x** `y` ||z|| # \x00\x1b[31m\u202e\n&"


def payload(sentence: str) -> Payload:
    """What is told of a game."""
    return Payload(WebhookEvent.GAME_ENDED, TIME, {"gameId": "7", "name": "é"}, sentence)


def test_the_standard_body() -> None:
    """Compact JSON with the type, the time in UTC, and the data."""
    assert body_of(payload("never told"), WebhookFormat.STANDARD).decode() == (
        '{"type":"game.ended","timestamp":"2026-03-04T12:00:00.000005Z",'
        '"data":{"gameId":"7","name":"é"}}'
    )


def test_discord_marks_nothing_and_mentions_nobody() -> None:
    """Each mark of its own has a backslash, and nothing that rewrites a screen is left."""
    text = json.loads(body_of(payload(HOSTILE), WebhookFormat.DISCORD))["content"]
    assert text == (
        r"\</script\> \<\@1\> \@here \[a\](http\://b) \*\*x\*\* \`y\` \|\|z\|\| \# \[31m &"
    )


def test_slack_takes_three_escapes() -> None:
    """Of which its own marks are made."""
    text = json.loads(body_of(payload(HOSTILE), WebhookFormat.SLACK))["text"]
    assert text.startswith("&lt;/script&gt; &lt;@1&gt; @here [a](http://b)")
    assert text.endswith("&amp;")


@pytest.mark.parametrize("format_", [WebhookFormat.DISCORD, WebhookFormat.SLACK])
def test_a_long_sentence_is_cut(format_: WebhookFormat) -> None:
    """Discord refuses more than 2000 characters."""
    (text, *_) = json.loads(body_of(payload("<" * 10_000), format_)).values()
    assert len(text) <= (2000 if format_ is WebhookFormat.DISCORD else 6000)
