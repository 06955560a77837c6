"""Retries: what becomes of a delivery and of its webhook after a try."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from random import Random

from meijin.store.schema import DeliveryState
from meijin.store.webhooks.deliveries import Attempt, DeliveryRow

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
class Result:
    """How a try ended."""

    time: datetime
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
        """It has arrived."""
        status = self.http_status
        return status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def sentence(self) -> str:
        """How it ended, for people."""
        return self.detail or f"HTTP {self.http_status}"


@dataclass(frozen=True, slots=True)
class Health:
    """How a webhook has done lately."""

    failures: int = 0
    failing_since: datetime | None = None
    hold_time: datetime | None = None
    disable_reason: str = ""


def attempt_of(delivery: DeliveryRow, result: Result, rng: Random) -> Attempt:
    """What becomes of a delivery after a try."""
    attempts = delivery.attempts + 1
    next_time = None
    if result.is_success:
        state = DeliveryState.DELIVERED
    elif result.is_final or attempts > len(SCHEDULE):
        state = DeliveryState.FAILED
    else:
        state = DeliveryState.WAITING
        pause = SCHEDULE[attempts - 1] * (1 + JITTER * rng.random())
        next_time = result.time + max(pause, result.retry_after or timedelta(0))
    return Attempt(
        delivery.id,
        result.time,
        attempts,
        state,
        next_time,
        result.http_status,
        result.sentence,
    )


def health_after(health: Health, result: Result) -> Health:
    """How a webhook has done, with a try that has ended."""
    if result.is_success:
        return Health(disable_reason=health.disable_reason)
    if result.is_final:
        return health
    since = health.failing_since or result.time
    failures = health.failures + 1
    hold = max(HOLDS[min(failures, len(HOLDS)) - 1], result.retry_after or timedelta(0))
    reason = health.disable_reason or _reason(since, result)
    return Health(failures, since, result.time + hold, reason)


def _reason(since: datetime, result: Result) -> str:
    """Why a webhook is to be disabled after a failure; empty where it is not."""
    if result.http_status == HTTPStatus.GONE:
        return GONE
    if result.time - since < PATIENCE:
        return ""
    return f"nothing has arrived for {PATIENCE.days} days; the last try: {result.sentence}"
