"""Signatures by Standard Webhooks."""

from base64 import b64decode
from datetime import UTC, datetime

from tests.server.webhooks.receivers import Received

from meijin.server.webhooks.signature import (
    new_message_id,
    new_secret,
    signature,
    signed_headers,
)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""With the rest of the vector: from the tests of the scheme's own libraries."""


def test_the_vector_of_the_scheme() -> None:
    """Id, time and body give the signature that other implementations find."""
    made = signature(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_secrets_are_long_and_fresh() -> None:
    """Of 24 to 64 bytes, as the scheme wants, behind the prefix by which scanners find them."""
    first, second = new_secret(), new_secret()
    assert first != second
    assert first.startswith("whsec_")
    assert len(b64decode(first.removeprefix("whsec_"), validate=True)) == 32


def test_an_id_holds_no_full_stop() -> None:
    """It would end the id in what is signed."""
    assert "." not in new_message_id()
    assert new_message_id() != new_message_id()


def test_each_secret_signs() -> None:
    """A receiver that knows either of two finds its own, and none that knows neither."""
    secrets = [new_secret(), new_secret()]
    now = datetime(2026, 3, 4, 12, 0, 0, 900_000, tzinfo=UTC)
    headers = signed_headers(secrets, "msg_1", now, b"{}")
    received = Received("/", headers, b"{}")
    assert all(map(received.is_signed_by, secrets))
    assert not received.is_signed_by(new_secret())
    assert headers["webhook-timestamp"] == "1772625600"
