"""What is sent about an event, in each format."""

import json
from base64 import b64decode
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.server.webhooks.receivers import Received

from meijin.server.webhooks.message import (
    Payload,
    body_of,
    new_message_id,
    new_secret,
    signature,
    signed_headers,
)
from meijin.store.schema import WebhookEvent, WebhookFormat

DISCORD, SLACK = WebhookFormat.DISCORD, WebhookFormat.SLACK
TIME = datetime(2026, 3, 4, 13, 0, 0, 5, tzinfo=timezone(timedelta(hours=1)))
HOSTILE = "</script> <@1> @here [a](http://b) **x** `y` ||z|| # \x00\x1b[31m\u202e\n&"


def body(sentence: str, format_: WebhookFormat) -> str:
    data = {"gameId": "7", "name": "é"}
    return body_of(Payload(WebhookEvent.GAME_ENDED, TIME, data, sentence), format_).decode()


def test_the_standard_body() -> None:
    """Compact JSON with the type, the time in UTC, and the data."""
    assert body("never told", WebhookFormat.STANDARD) == (
        '{"type":"game.ended","timestamp":"2026-03-04T12:00:00.000005Z",'
        '"data":{"gameId":"7","name":"é"}}'
    )


def test_a_hostile_sentence() -> None:
    """It marks nothing and mentions nobody, and nothing that rewrites a screen is left."""
    assert json.loads(body(HOSTILE, DISCORD))["content"] == (
        r"\</script\> \<\@1\> \@here \[a\](http\://b) \*\*x\*\* \`y\` \|\|z\|\| \# \[31m &"
    )
    text = json.loads(body(HOSTILE, SLACK))["text"]
    assert text.startswith("&lt;/script&gt; &lt;@1&gt; @here [a](http://b)")
    assert text.endswith("&amp;")


@pytest.mark.parametrize(("format_", "most"), [(DISCORD, 2000), (SLACK, 6000)])
def test_a_long_sentence_is_cut(format_: WebhookFormat, most: int) -> None:
    """Discord refuses more than 2000 characters."""
    (text, *_) = json.loads(body("<" * 10_000, format_)).values()
    assert len(text) <= most


def test_the_vector_of_the_scheme() -> None:
    """Id, time and body give the signature that other implementations find.

    It is from the tests of the scheme's own libraries.
    """
    secret, id_ = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    made = signature(secret, id_, 1614265330, b'{"test": 2432232314}')
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_secrets_and_ids_are_fresh() -> None:
    """Secrets are of 24 to 64 bytes, as the scheme wants; a full stop would end an id."""
    secret, id_ = new_secret(), new_message_id()
    assert secret != new_secret()
    assert secret.startswith("whsec_")
    assert len(b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert id_ != new_message_id()
    assert "." not in id_


def test_each_secret_signs() -> None:
    """A receiver that knows either of two finds its own, and none that knows neither."""
    secrets = [new_secret(), new_secret()]
    now = datetime(2026, 3, 4, 12, 0, 0, 900_000, tzinfo=UTC)
    headers = signed_headers(secrets, "msg_1", now, b"{}")
    received = Received("/", headers, b"{}")
    assert all(map(received.is_signed_by, secrets))
    assert not received.is_signed_by(new_secret())
    assert headers["webhook-timestamp"] == "1772625600"
