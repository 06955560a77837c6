"""What becomes of a delivery and of its webhook after a try."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from meijin.server.webhooks.retries import HOLDS, SCHEDULE, Health, Result, attempt_of, health_after
from meijin.store.schema import DeliveryId, DeliveryState, WebhookEvent, WebhookId
from meijin.store.webhooks.deliveries import DeliveryRow

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
DELIVERY = DeliveryRow(
    id=DeliveryId(1),
    webhook_id=WebhookId(1),
    message_id="msg_1",
    event=WebhookEvent.GAME_ENDED,
    subject_id=1,
    event_time=NOON,
    state=DeliveryState.WAITING,
    attempts=0,
    next_time=NOON,
    last_time=None,
    http_status=None,
    detail="",
)


def test_the_schedule_spans_days() -> None:
    """As the one that the scheme gives: ten tries in 75 h 35 min 5 s."""
    assert sum(SCHEDULE, timedelta(0)) == timedelta(hours=75, minutes=35, seconds=5)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, DeliveryState.DELIVERED),
        (299, DeliveryState.DELIVERED),
        (199, DeliveryState.WAITING),
        (300, DeliveryState.WAITING),
        (404, DeliveryState.WAITING),
        (500, DeliveryState.WAITING),
        (None, DeliveryState.WAITING),
    ],
)
def test_what_has_arrived(status: int | None, state: DeliveryState) -> None:
    """A status of 200 to 299, and no other end."""
    attempt = attempt_of(DELIVERY, Result(NOON, status), Random(1))
    assert attempt.state is state
    assert (attempt.next_time is None) is (state is DeliveryState.DELIVERED)


def test_holds_grow_and_end_with_a_success() -> None:
    """A webhook that fails is left alone for ever longer, up to a bound."""
    health, failure = Health(), Result(NOON, 500)
    for hold in (*HOLDS, HOLDS[-1]):
        health = health_after(health, failure)
        assert health.hold_time == NOON + hold
    assert health.failing_since == NOON
    assert health_after(health, Result(NOON, 204)) == Health()


def test_a_disabled_webhook_stays_so() -> None:
    """What was on its way to it changes nothing, however it ends."""
    health = Health(disable_reason="the receiver is gone")
    for status in (200, 500, 410):
        assert health_after(health, Result(NOON, status)).disable_reason == health.disable_reason
