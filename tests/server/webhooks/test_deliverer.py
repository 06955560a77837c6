"""The deliverer, with a clock and receivers of the test's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from sqlalchemy import Connection, func, select
from structlog.testing import capture_logs
from tests.server.webhooks.receivers import PATIENCE, Received

from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.webhooks.deliverer import MAX_SENDING_TO_WEBHOOK, REQUEST_LIMIT, Deliverer
from meijin.server.webhooks.dispatch import MAX_WAITING, new_delivery
from meijin.server.webhooks.egress import EgressPolicy, Target
from meijin.server.webhooks.message import Payload, new_secret
from meijin.server.webhooks.retries import GONE, SCHEDULE, AttemptResult
from meijin.store import Database
from meijin.store.access.owners import add_owner
from meijin.store.faults import add_faults
from meijin.store.rows import add_row
from meijin.store.schema import (
    DeliveryState,
    EventSource,
    Fault,
    FaultKind,
    FaultParty,
    OwnerId,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
    WebhookFormat,
    WebhookId,
)
from meijin.store.webhooks import deliveries, hooks
from meijin.store.webhooks.cursors import begin_now
from meijin.store.webhooks.deliveries import KEPT_DELIVERIES

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
GOOD, BAD = AttemptResult(200), AttemptResult(500)
FAULTS = WebhookEvent.FAULT_RECORDED


def render(_: Connection, event: WebhookEvent, subject_id: int, time: datetime) -> Payload | None:
    return Payload(event, time, {"id": subject_id}, "")


@dataclass
class Scene:
    """A deliverer over a store, and what it sends."""

    database: Database
    storage: Storage
    now: datetime = NOON
    sent: list[tuple[str, Received]] = field(default_factory=list)
    """With the host of each."""
    answer: Callable[[str], AttemptResult] = field(default=lambda _host: GOOD)
    """By the host."""

    def __post_init__(self) -> None:
        self.deliverer = self.open()

    def open(self, render: Callable[..., Payload | None] = render) -> Deliverer:
        return Deliverer(
            self.storage,
            render,
            policy=EgressPolicy((ip_network("127.0.0.0/8"),)),
            clock=lambda: self.now,
            send=self.send,
            resolve=lambda _host, _port: ["127.0.0.1"],
        )

    def send(
        self, target: Target, headers: Mapping[str, str], body: bytes, limit: timedelta
    ) -> AttemptResult:
        assert limit == REQUEST_LIMIT
        names = {name.lower(): value for name, value in headers.items()}
        self.sent.append((target.url.host, Received(target.url.path, names, body)))
        return self.answer(target.url.host)

    def webhook(self, host: str = "good", owner_id: OwnerId | None = None) -> WebhookId:
        def work(connection: Connection) -> WebhookId:
            new = Webhook(
                url=f"https://{host}/",
                format=WebhookFormat.STANDARD,
                events=[FAULTS.value],
                secret=new_secret(),
                create_time=self.now,
                owner_id=owner_id,
            )
            made = add_row(connection, new).id
            begin_now(connection, made, [EventSource.FAULTS])
            return made

        return self.database.write(work)

    def faults(self, number: int = 1) -> None:
        fault = Fault(
            kind=FaultKind.STALL,
            party=FaultParty.SERVER,
            detail="it stood still",
            create_time=self.now,
        )
        self.database.write(lambda connection: add_faults(connection, [fault] * number))

    def deliveries(self, webhook_id: WebhookId) -> Sequence[WebhookDelivery]:
        found = self.database.read(
            lambda at: deliveries.list_deliveries(at, webhook_id, limit=1000)
        )
        return found[::-1]

    def told(self, host: str = "good") -> list[int]:
        """The numbers of the faults that a receiver was told of, in this order."""
        return [each.json["data"]["id"] for to, each in self.sent if to == host]

    async def deliver(self, steps: int = 1, after: timedelta = timedelta(0)) -> None:
        """Look, and wait until what is due has been tried and that is stored."""
        self.now += after
        for _ in range(steps):
            await self.deliverer.step()
            while self.deliverer._tasks:
                await asyncio.wait(self.deliverer._tasks)
            await self.deliverer._write_results()


@pytest.fixture
async def scene(database: Database, storage: Storage) -> Scene:
    return Scene(database, storage)


def answer_well(_host: str) -> AttemptResult:
    return AttemptResult(200)


async def test_a_delivery_is_tried_again_by_the_schedule(scene: Scene) -> None:
    """With one id and a new time at each try, up to a tenth later than it says, never sooner."""
    webhook_id = scene.webhook()
    scene.answer = lambda _host: BAD
    scene.faults()
    await scene.deliver()
    for tries, pause in enumerate(SCHEDULE[:3], start=1):
        assert len(scene.sent) == tries
        await scene.deliver(after=pause - timedelta(seconds=1))
        assert len(scene.sent) == tries
        if tries == 3:
            scene.answer = answer_well
        await scene.deliver(after=pause * 0.1 + timedelta(seconds=1))
    (row,) = scene.deliveries(webhook_id)
    assert (row.state, row.attempts, row.next_time) == (DeliveryState.DELIVERED, 4, None)
    headers = [each.headers for _, each in scene.sent]
    assert len({each["webhook-id"] for each in headers}) == 1
    assert len({each["webhook-timestamp"] for each in headers}) == 4
    hook = scene.database.read(lambda at: hooks.get_webhook(at, webhook_id))
    assert hook.failing_since is None


async def test_a_webhook_that_is_disabled(scene: Scene) -> None:
    """It says so, and the log too; once it is enabled it is told what waited, and goes on."""
    webhook_id = scene.webhook()
    scene.answer = lambda _host: AttemptResult(410)
    scene.faults()
    with capture_logs() as logs:
        await scene.deliver()
    (entry,) = (each for each in logs if each["event"] == "a webhook is disabled")
    assert (entry["webhook"], entry["reason"]) == (webhook_id, GONE)
    scene.answer = answer_well
    scene.faults()
    scene.now += timedelta(hours=1)
    assert not await scene.deliverer.step()
    assert scene.told() == [1]
    scene.database.write(lambda at: hooks.enable_webhook(at, webhook_id))
    scene.database.write(lambda at: begin_now(at, webhook_id, [EventSource.FAULTS]))
    scene.faults()
    await scene.deliver()
    assert sorted(scene.told()[1:]) == [1, 3]  # both are sent at once


async def test_a_slow_receiver_delays_nobody(scene: Scene) -> None:
    """It has a few threads of its own, and others are told all the while."""
    slow, gate = scene.webhook("slow"), threading.Event()
    scene.webhook("good")

    def answer(host: str) -> AttemptResult:
        if host == "slow":
            assert gate.wait(PATIENCE)
        return GOOD

    scene.answer = answer
    scene.faults(10)
    while len(scene.told("good")) < 10:
        await scene.deliverer.step()
        while any("good" in each.hook.url for each in scene.deliverer._sending.values()):
            await asyncio.sleep(0)
            await scene.deliverer._write_results()
    assert len(scene.told("slow")) == MAX_SENDING_TO_WEBHOOK
    gate.set()
    await scene.deliver(steps=10)
    assert sorted(scene.told("slow")) == list(range(1, 11))
    assert {each.state for each in scene.deliveries(slow)} == {DeliveryState.DELIVERED}


async def test_one_that_fails_is_tried_with_one_delivery_at_a_time(scene: Scene) -> None:
    """Not with all that waits for it, and ever more rarely, while others are told at once."""
    scene.webhook("bad")
    scene.webhook("good")
    scene.answer = lambda host: BAD if host == "bad" else GOOD
    scene.faults(40)
    await scene.deliver(steps=12)
    assert sorted(scene.told("good")) == list(range(1, 41))
    first = len(scene.told("bad"))
    assert first <= MAX_SENDING_TO_WEBHOOK
    for _ in range(60):
        await scene.deliver(after=timedelta(minutes=1))
    assert first < len(scene.told("bad")) <= first + 13


async def test_what_waits_is_bounded_and_nothing_is_missed(scene: Scene) -> None:
    """The rest is read from the store once there is room: each is told once, none is left out."""
    webhook_id = scene.webhook()
    scene.answer = lambda _host: BAD
    scene.faults(2 * MAX_WAITING)
    for _ in range(5):
        await scene.deliver(after=timedelta(minutes=10))
    rows = scene.deliveries(webhook_id)
    assert len(rows) == MAX_WAITING
    assert {row.state for row in rows} == {DeliveryState.WAITING}
    scene.sent.clear()
    scene.answer = answer_well
    await scene.deliver(steps=60, after=timedelta(days=1))
    assert sorted(scene.told()) == list(range(1, 2 * MAX_WAITING + 1))


async def test_the_log_is_bounded(scene: Scene) -> None:
    """By number as it grows, and by age though it does not."""
    webhook_id = scene.webhook()
    scene.faults(KEPT_DELIVERIES + 20)
    await scene.deliver(steps=40)
    rows = scene.deliveries(webhook_id)
    assert len(rows) == KEPT_DELIVERIES
    assert rows[-1].subject_id == KEPT_DELIVERIES + 20
    await scene.deliver(after=timedelta(days=31))
    assert scene.deliveries(webhook_id) == []


async def test_a_later_server_sends_what_is_not_noted_as_sent(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not it was sent: at least once, with the id by which the receiver knows it."""
    webhook_id = scene.webhook()
    scene.faults()
    with monkeypatch.context() as ended:
        ended.setattr(scene.deliverer, "_due", lambda *_: ())
        await scene.deliverer.step()
    assert scene.sent == []
    scene.deliverer = scene.open()
    await scene.deliverer.step()
    await asyncio.wait(scene.deliverer._tasks)
    scene.deliverer = scene.open()
    await scene.deliver()
    assert scene.told() == [1, 1]
    assert len({each.headers["webhook-id"] for _, each in scene.sent}) == 1
    assert [row.state for row in scene.deliveries(webhook_id)] == [DeliveryState.DELIVERED]


async def test_a_result_outlasts_an_outage_of_the_store(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent while the database went away is not sent again when it is back."""
    webhook_id = scene.webhook()
    scene.faults()
    await scene.deliverer.step()

    async def away(*_: object) -> None:
        raise StoreAwayError("the database does not answer; try again")

    with monkeypatch.context() as outage:
        outage.setattr(scene.storage, "write", away)
        await asyncio.wait(scene.deliverer._tasks)
        with pytest.raises(StoreAwayError):
            await scene.deliverer.step()
    await scene.deliver()
    assert scene.told() == [1]
    assert [row.state for row in scene.deliveries(webhook_id)] == [DeliveryState.DELIVERED]


async def test_one_that_is_deleted_while_it_is_sent_to(scene: Scene) -> None:
    webhook_id = scene.webhook()
    scene.faults(2)
    await scene.deliverer.step()
    scene.database.write(lambda at: hooks.delete_webhook(at, webhook_id))
    await scene.deliver()
    count = select(func.count()).select_from(WebhookDelivery)
    assert scene.database.read(lambda at: at.scalar(count)) == 0


async def test_the_old_secret_signs_for_a_while(scene: Scene) -> None:
    """Both are good until its time is over, then the new one alone."""
    webhook_id = scene.webhook()
    before = scene.database.read(lambda at: hooks.get_webhook(at, webhook_id)).secret
    after, end = new_secret(), NOON + timedelta(days=1)
    scene.database.write(lambda at: hooks.replace_secret(at, webhook_id, after, end))
    for now, are_good in ((NOON, [True, True]), (end, [False, True])):
        scene.now = now
        scene.faults()
        await scene.deliver()
        received = scene.sent[-1][1]
        assert [received.is_signed_by(each) for each in (before, after)] == are_good


@pytest.mark.parametrize(
    ("payload", "detail", "logged"),
    [
        (None, "what it tells of is stored no more", []),
        (1 / 3, "the server failed to make the message", ["a webhook's event can't be told"]),
    ],
)
async def test_what_can_t_be_told_fails_once(
    scene: Scene, payload: Any, detail: str, logged: list[str]
) -> None:
    """And holds up nothing: neither others nor the webhook."""
    webhook_id = scene.webhook()
    scene.deliverer = scene.open(lambda _, *told: payload if told[1] == 1 else render(_, *told))
    scene.faults(2)
    with capture_logs() as logs:
        await scene.deliver()
    assert [entry["event"] for entry in logs] == logged
    first, second = scene.deliveries(webhook_id)
    assert (first.state, first.attempts, first.detail) == (DeliveryState.FAILED, 1, detail)
    assert second.state is DeliveryState.DELIVERED
    assert scene.database.read(lambda at: hooks.get_webhook(at, webhook_id)).failures == 0


async def test_an_owner_reaches_public_addresses_alone(scene: Scene) -> None:
    """Networks are allowed to the operators; what an owner's name leads to is not sent to."""
    owner_id = scene.database.write(lambda at: add_owner(at, "eve", NOON))
    webhook_id = scene.webhook("inner", owner_id)
    new = new_delivery(webhook_id, WebhookEvent.WEBHOOK_TEST, webhook_id, NOON)
    scene.database.write(lambda at: deliveries.add_delivery(at, new))
    scene.webhook("outer")
    scene.faults()
    await scene.deliver()
    assert [host for host, _ in scene.sent] == ["outer"]
    (row,) = scene.deliveries(webhook_id)
    assert row.detail == "not sent: inner is no public address, or leads to one that is not"


async def test_without_a_webhook_there_is_nothing_to_do(scene: Scene) -> None:
    """Nobody looks again until there is one."""
    assert not await scene.deliverer.step()
