"""Retries: what becomes of a delivery and of its webhook after a try."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from random import Random

from meijin.store.schema import DeliveryState, WebhookDelivery
from meijin.store.webhooks.hooks import WebhookRow

SCHEDULE = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
"""From a try that failed to the next one: the schedule that Standard Webhooks gives."""

JITTER = 0.1
"""Of a pause, at most, that it is longer by chance: receivers that failed together do not again."""

HOLDS = (timedelta(seconds=5), timedelta(seconds=30), timedelta(minutes=5))
"""From a failure to the next try of any delivery, by how many there were in a row."""

PATIENCE = timedelta(days=3)
"""A webhook to which nothing has come through for so long is disabled."""

GONE = "the receiver answers 410: it wants no more"


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """How a try ended."""

    http_status: int | None = None
    """``None`` where no answer came."""
    detail: str = ""
    """One sentence; the status where it is empty."""
    retry_after: timedelta | None = None
    """For how long the receiver asks not to be sent anything."""
    is_final: bool = False
    """It would never go otherwise."""

    @property
    def is_success(self) -> bool:
        status = self.http_status
        return status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def sentence(self) -> str:
        """How it ended, for people."""
        return self.detail or f"HTTP {self.http_status}"


def delivery_after(
    delivery: WebhookDelivery, result: AttemptResult, now: datetime, rng: Random
) -> WebhookDelivery:
    attempts = delivery.attempts + 1
    state, next_time = DeliveryState.WAITING, None
    if result.is_success:
        state = DeliveryState.DELIVERED
    elif result.is_final or attempts > len(SCHEDULE):
        state = DeliveryState.FAILED
    else:
        pause = SCHEDULE[attempts - 1] * (1 + JITTER * rng.random())
        next_time = now + max(pause, result.retry_after or timedelta(0))
    return replace(
        delivery,
        state=state,
        attempts=attempts,
        next_time=next_time,
        last_time=now,
        http_status=result.http_status,
        detail=result.sentence,
    )


def health_after(hook: WebhookRow, result: AttemptResult, now: datetime) -> Mapping[str, object]:
    """The columns of a webhook that a try changes."""
    if result.is_success:
        healthy = {"failures": 0, "failing_since": None, "hold_time": None}
        return healthy if hook.failures else {}
    if result.is_final:
        return {}
    since, failures = hook.failing_since or now, hook.failures + 1
    hold = max(HOLDS[min(failures, len(HOLDS)) - 1], result.retry_after or timedelta(0))
    return {
        "failures": failures,
        "failing_since": since,
        "hold_time": now + hold,
        "disable_reason": hook.disable_reason or _disable_reason(result, now - since),
    }


def _disable_reason(result: AttemptResult, failing: timedelta) -> str:
    """Why a webhook that fails is to be disabled; empty while it is not."""
    if result.http_status == HTTPStatus.GONE:
        return GONE
    if failing < PATIENCE:
        return ""
    return f"nothing has arrived for {PATIENCE.days} days; the last try: {result.sentence}"
