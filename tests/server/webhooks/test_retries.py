"""What becomes of a delivery and of its webhook after a try."""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from tests.server.webhooks.receivers import HOOK, NOON

from meijin.server.webhooks.dispatch import new_delivery
from meijin.server.webhooks.retries import (
    GONE,
    HOLDS,
    PATIENCE,
    SCHEDULE,
    AttemptResult,
    delivery_after,
    health_after,
)
from meijin.store.schema import DeliveryState, WebhookEvent

DELIVERY = new_delivery(HOOK.id, WebhookEvent.GAME_ENDED, 1, NOON)
WAITING, DELIVERED, FAILED = DeliveryState.WAITING, DeliveryState.DELIVERED, DeliveryState.FAILED
FAILURE = AttemptResult(500)


@pytest.mark.parametrize(
    ("result", "attempts", "state"),
    [
        *((AttemptResult(status), 0, DELIVERED) for status in (200, 299)),
        *((AttemptResult(status), 0, WAITING) for status in (None, 199, 300, 404, 500)),
        (FAILURE, len(SCHEDULE) - 1, WAITING),
        (FAILURE, len(SCHEDULE), FAILED),
        (AttemptResult(is_final=True), 0, FAILED),
    ],
)
def test_states(result: AttemptResult, attempts: int, state: DeliveryState) -> None:
    """A status of 200 to 299 has arrived; another is tried again until the schedule has ended."""
    after = delivery_after(replace(DELIVERY, attempts=attempts), result, NOON, Random(1))
    assert (after.state, after.attempts) == (state, attempts + 1)
    assert (after.next_time is None) is (state is not WAITING)


def test_a_receiver_puts_off_the_next_try() -> None:
    result = AttemptResult(429, retry_after=timedelta(hours=1))
    assert delivery_after(DELIVERY, result, NOON, Random(1)).next_time == NOON + timedelta(hours=1)
    assert health_after(HOOK, result, NOON)["hold_time"] == NOON + timedelta(hours=1)


def test_holds_grow_and_end_with_a_success() -> None:
    """A webhook that fails is left alone for longer and longer, up to a bound."""
    hook = HOOK
    for hold in (*HOLDS, HOLDS[-1]):
        hook = replace(hook, **health_after(hook, FAILURE, NOON))  # type: ignore[arg-type]
        assert hook.hold_time == NOON + hold
    assert hook.failing_since == NOON
    healthy = health_after(hook, AttemptResult(204), NOON)
    assert replace(hook, **healthy) == HOOK  # type: ignore[arg-type]
    assert health_after(hook, AttemptResult(is_final=True), NOON) == {}


def test_who_is_to_be_disabled() -> None:
    """Who is gone at once, others after days without any success; and the reason stays."""
    failing = replace(HOOK, failures=9, failing_since=NOON)
    late = NOON + PATIENCE
    reason = "nothing has arrived for 3 days; the last try: HTTP 500"
    assert health_after(HOOK, AttemptResult(410), NOON)["disable_reason"] == GONE
    assert health_after(failing, FAILURE, late - timedelta(seconds=1))["disable_reason"] == ""
    assert health_after(failing, FAILURE, late)["disable_reason"] == reason
    disabled = replace(failing, disable_reason="it is gone")
    for status in (200, 500, 410):
        after = health_after(disabled, AttemptResult(status), late)
        assert after.get("disable_reason", "it is gone") == "it is gone"
