"""The deliverer, with a clock and receivers of the test's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import Connection, func, select
from structlog.testing import capture_logs
from tests.server.webhooks.receivers import PATIENCE, Received

from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.webhooks import deliverer as module
from meijin.server.webhooks.bodies import Payload
from meijin.server.webhooks.deliverer import MAX_SENDING_TO_WEBHOOK, REQUEST_LIMIT, Deliverer
from meijin.server.webhooks.dispatch import MAX_WAITING
from meijin.server.webhooks.post import Answer, PostError
from meijin.server.webhooks.retries import PATIENCE as HOOK_PATIENCE
from meijin.server.webhooks.retries import SCHEDULE
from meijin.server.webhooks.signature import new_secret
from meijin.server.webhooks.targets import Reach, Target
from meijin.store import Database, Durability, Writer
from meijin.store.access.owners import add_owner
from meijin.store.faults import NewFault, add_faults
from meijin.store.schema import (
    DeliveryState,
    EventSource,
    FaultKind,
    FaultParty,
    OwnerId,
    WebhookDelivery,
    WebhookEvent,
    WebhookFormat,
    WebhookId,
)
from meijin.store.webhooks import deliveries, hooks
from meijin.store.webhooks.cursors import begin_now
from meijin.store.webhooks.deliveries import KEPT_DELIVERIES, DeliveryRow, NewDelivery
from meijin.store.webhooks.hooks import NewWebhook, WebhookRow

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
GOOD = Answer(200)
FAULTS = WebhookEvent.FAULT_RECORDED


def render(
    _connection: Connection, event: WebhookEvent, subject_id: int, time: datetime
) -> Payload | None:
    """What is told of a fault, by its number; nothing of the number 13."""
    return None if subject_id == 13 else Payload(event, time, {"id": subject_id}, "")


@dataclass
class Scene:
    """A deliverer over a store, and what it sends."""

    database: Database
    storage: Storage
    now: datetime = NOON
    sent: list[tuple[str, Received]] = field(default_factory=list)
    """With the host of each."""
    answer: Callable[[str], Answer] = field(default=lambda _host: GOOD)
    """By the host."""

    def deliverer(self) -> Deliverer:
        """One that knows nothing but what is stored."""
        return Deliverer(
            self.storage,
            render,
            reach=Reach((ip_network("127.0.0.0/8"),)),
            clock=lambda: self.now,
            send=self.send,
            resolve=lambda _host, _port: ["127.0.0.1"],
            rng=Random(1),
        )

    def send(
        self, target: Target, headers: Mapping[str, str], body: bytes, limit: timedelta
    ) -> Answer:
        """Keep a request and answer it."""
        assert limit == REQUEST_LIMIT
        names = {name.lower(): value for name, value in headers.items()}
        self.sent.append((target.url.host, Received(target.url.path, names, body)))
        return self.answer(target.url.host)

    def webhook(self, host: str = "good", owner_id: OwnerId | None = None) -> WebhookId:
        """A webhook that is told of faults."""

        def work(connection: Connection) -> WebhookId:
            new = NewWebhook(
                f"https://{host}/",
                WebhookFormat.STANDARD,
                [FAULTS.value],
                new_secret(),
                owner_id=owner_id,
            )
            made = hooks.add_webhook(connection, new, self.now)
            begin_now(connection, made, [EventSource.FAULTS])
            return made

        return self.database.write(work)

    def faults(self, number: int = 1) -> None:
        """Some events."""
        fault = NewFault(
            kind=FaultKind.STALL, party=FaultParty.SERVER, detail="it stood still", time=self.now
        )
        self.database.write(lambda connection: add_faults(connection, [fault] * number))

    def hook(self, webhook_id: WebhookId) -> WebhookRow:
        """A webhook as it stands."""
        return self.database.read(lambda at: hooks.get_webhook(at, webhook_id))

    def deliveries(self, webhook_id: WebhookId) -> Sequence[DeliveryRow]:
        """Its deliveries, oldest first."""
        found = self.database.read(
            lambda at: deliveries.list_deliveries(at, webhook_id, limit=1000)
        )
        return found[::-1]

    def told(self, host: str = "good") -> list[int]:
        """The numbers of the faults that a receiver was told of, in this order."""
        return [each.json["data"]["id"] for to, each in self.sent if to == host]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """An empty store."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}", Durability.PROCESS) as database:
        database.migrate()
        writer = Writer(database)
        storage = Storage(database, writer)
        yield Scene(database, storage)
        storage.close()
        writer.close()


async def deliver(deliverer: Deliverer, steps: int = 1) -> None:
    """Look, and wait until what is due has been tried."""
    for _ in range(steps):
        await deliverer.step()
        await deliverer.settle()


def refuse(status: int) -> Callable[[str], Answer]:
    """A receiver that answers so."""
    return lambda _host: Answer(status)


def fall_silent(_host: str) -> Answer:
    """A receiver that does not answer in time."""
    raise PostError("no answer within 15 s")


@pytest.mark.parametrize("answer", [refuse(500), refuse(302), refuse(404), fall_silent])
async def test_a_delivery_is_tried_again_by_the_schedule(
    scene: Scene, answer: Callable[[str], Answer]
) -> None:
    """With one id and a new time at each try, up to a tenth later than it says, never sooner."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.answer = answer
    scene.faults()
    await deliver(deliverer)
    for tries, pause in enumerate(SCHEDULE[:3], start=1):
        assert len(scene.sent) == tries
        scene.now += pause - timedelta(seconds=1)
        await deliver(deliverer)
        assert len(scene.sent) == tries
        scene.now += pause * 0.1 + timedelta(seconds=1)
        await deliver(deliverer)
    scene.answer = lambda _host: GOOD
    scene.now += SCHEDULE[3] * 1.1
    await deliver(deliverer)
    (row,) = scene.deliveries(webhook_id)
    assert (row.state, row.attempts, row.next_time) == (DeliveryState.DELIVERED, 5, None)
    headers = [each.headers for _, each in scene.sent]
    assert len({each["webhook-id"] for each in headers}) == 1
    assert len({each["webhook-timestamp"] for each in headers}) == 5
    assert scene.hook(webhook_id).failing_since is None


async def test_a_webhook_that_fails_for_days_is_disabled(scene: Scene) -> None:
    """It says so, and the log too; its deliveries wait until it is enabled."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.answer = refuse(500)
    scene.faults()
    with capture_logs() as logs:
        for pause in (timedelta(0), *SCHEDULE):
            scene.now += pause * 1.1
            await deliver(deliverer)
    hook = scene.hook(webhook_id)
    assert scene.now - NOON > HOOK_PATIENCE
    assert hook.disable_reason == "nothing has arrived for 3 days; the last try: HTTP 500"
    disabled = [entry for entry in logs if entry["event"] == "a webhook is disabled"]
    assert [entry["webhook"] for entry in disabled] == [webhook_id]
    (row,) = scene.deliveries(webhook_id)
    assert (row.attempts, row.detail) == (10, "HTTP 500")
    count = len(scene.sent)
    scene.faults()
    scene.now += timedelta(days=1)
    assert not await deliverer.step()
    assert len(scene.sent) == count


async def test_a_delivery_that_alone_fails_is_given_up(scene: Scene) -> None:
    """A webhook to which others come through is not disabled by it."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.faults()
    scene.answer = lambda _host: Answer(500 if scene.told()[-1] == 1 else 200)
    for pause in (timedelta(0), *SCHEDULE):
        scene.now += pause * 1.1
        await deliver(deliverer)
        scene.faults()
        scene.now += timedelta(seconds=30)
        await deliver(deliverer)
    first, *others = scene.deliveries(webhook_id)
    assert (first.state, first.attempts) == (DeliveryState.FAILED, 10)
    assert {each.state for each in others} == {DeliveryState.DELIVERED}
    assert scene.hook(webhook_id).is_enabled


async def test_who_is_gone_is_disabled_at_once(scene: Scene) -> None:
    """And told again from then on, with what waited, once it is enabled."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.answer = refuse(410)
    scene.faults()
    await deliver(deliverer)
    assert scene.hook(webhook_id).disable_reason == "the receiver answers 410: it wants no more"
    scene.answer = lambda _host: GOOD
    scene.faults()
    scene.now += timedelta(hours=1)
    await deliver(deliverer)
    assert scene.told() == [1]
    scene.database.write(lambda at: hooks.enable_webhook(at, webhook_id))
    scene.database.write(lambda at: begin_now(at, webhook_id, [EventSource.FAULTS]))
    scene.faults()
    await deliver(deliverer)
    assert sorted(scene.told()[1:]) == [1, 3]  # both are sent at once


async def test_a_receiver_puts_off_the_next_try(scene: Scene) -> None:
    """Of any delivery."""
    scene.webhook()
    deliverer = scene.deliverer()
    scene.answer = lambda _host: Answer(429, timedelta(hours=1))
    scene.faults()
    await deliver(deliverer)
    scene.answer = lambda _host: GOOD
    scene.faults()
    scene.now += timedelta(minutes=59)
    await deliver(deliverer)
    assert scene.told() == [1]
    scene.now += timedelta(minutes=2)
    await deliver(deliverer, steps=2)
    assert scene.told() == [1, 1, 2]


async def test_a_slow_receiver_delays_nobody(scene: Scene) -> None:
    """It has a few threads of its own, and others are told all the while."""
    slow, gate = scene.webhook("slow"), threading.Event()
    scene.webhook("good")
    deliverer = scene.deliverer()

    def answer(host: str) -> Answer:
        if host == "slow":
            assert gate.wait(PATIENCE)
        return GOOD

    scene.answer = answer
    scene.faults(10)
    while len(scene.told("good")) < 10:
        await deliverer.step()
        await settled(deliverer, "good")
    assert len(scene.told("slow")) == MAX_SENDING_TO_WEBHOOK
    gate.set()
    await deliver(deliverer, steps=10)
    assert sorted(scene.told("slow")) == list(range(1, 11))
    assert {each.state for each in scene.deliveries(slow)} == {DeliveryState.DELIVERED}


async def settled(deliverer: Deliverer, host: str) -> None:
    """Wait for what is being sent to one host."""
    while any(host in each.hook.url for each in deliverer._sending.values()):
        await asyncio.sleep(0)
        await deliverer._write_results()


async def test_one_that_fails_is_tried_with_one_delivery_at_a_time(scene: Scene) -> None:
    """Not with all that waits for it, and ever more rarely, while others are told at once."""
    scene.webhook("bad")
    scene.webhook("good")
    deliverer = scene.deliverer()
    scene.answer = lambda host: Answer(500 if host == "bad" else 200)
    scene.faults(40)
    await deliver(deliverer, steps=12)
    assert set(scene.told("good")) == {*range(1, 41)} - {13}
    first = len(scene.told("bad"))
    assert first <= MAX_SENDING_TO_WEBHOOK
    for _ in range(60):
        scene.now += timedelta(minutes=1)
        await deliver(deliverer)
    assert first < len(scene.told("bad")) <= first + 13


async def test_what_waits_is_bounded_and_nothing_is_missed(scene: Scene) -> None:
    """The rest is read from the store once there is room: each is told once, none is left out."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.answer = refuse(500)
    scene.faults(2 * MAX_WAITING)
    for _ in range(5):
        await deliver(deliverer)
        scene.now += timedelta(minutes=10)
    rows = scene.deliveries(webhook_id)
    assert len(rows) == MAX_WAITING
    assert {row.state for row in rows} == {DeliveryState.WAITING}
    scene.sent.clear()
    scene.answer = lambda _host: GOOD
    scene.now += timedelta(days=1)
    await deliver(deliverer, steps=60)
    assert sorted(scene.told()) == sorted({*range(1, 2 * MAX_WAITING + 1)} - {13})


async def test_the_log_is_bounded(scene: Scene) -> None:
    """By number as it grows, and by age though it does not."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.faults(KEPT_DELIVERIES + 20)
    await deliver(deliverer, steps=40)
    rows = scene.deliveries(webhook_id)
    assert len(rows) == KEPT_DELIVERIES
    assert rows[-1].subject_id == KEPT_DELIVERIES + 20
    scene.now += timedelta(days=31)
    await deliver(deliverer)
    assert scene.deliveries(webhook_id) == []


async def test_what_was_stored_is_sent_by_the_next_server(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the one that stored it ended before it sent it."""
    scene.webhook()
    scene.faults()
    first = scene.deliverer()
    monkeypatch.setattr(first, "_begin", id)  # it ends here
    await first.step()
    assert scene.sent == []
    await deliver(scene.deliverer())
    assert scene.told() == [1]


async def test_what_was_sent_but_not_noted_is_sent_again(scene: Scene) -> None:
    """With the same id, by which the receiver knows it: at least once."""
    webhook_id = scene.webhook()
    scene.faults()
    first = scene.deliverer()
    await first.step()
    while first._tasks:
        await next(iter(first._tasks))
    await deliver(scene.deliverer())
    assert scene.told() == [1, 1]
    assert len({each.headers["webhook-id"] for _, each in scene.sent}) == 1
    assert [row.state for row in scene.deliveries(webhook_id)] == [DeliveryState.DELIVERED]


async def test_a_result_outlasts_an_outage_of_the_store(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent while the database went away is not sent again when it is back."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.faults()
    await deliverer.step()

    async def away(_work: object, **_: object) -> None:
        raise StoreAwayError("the database does not answer; try again")

    with monkeypatch.context() as outage:
        outage.setattr(scene.storage, "write", away)
        with pytest.raises(StoreAwayError):
            await deliverer.settle()
        with pytest.raises(StoreAwayError):
            await deliverer.step()
    await deliver(deliverer)
    assert scene.told() == [1]
    assert [row.state for row in scene.deliveries(webhook_id)] == [DeliveryState.DELIVERED]


async def test_one_that_is_deleted_while_it_is_sent_to(scene: Scene) -> None:
    """Nothing is left of it."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.faults(2)
    await deliverer.step()
    scene.database.write(lambda at: hooks.delete_webhook(at, webhook_id))
    await deliver(deliverer)
    count = select(func.count()).select_from(WebhookDelivery)
    assert scene.database.read(lambda at: at.scalar(count)) == 0


async def test_the_old_secret_signs_for_a_while(scene: Scene) -> None:
    """Both are good until its time is over, then the new one alone."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    before = scene.database.read(lambda at: hooks.secrets_of(at, webhook_id))
    assert before is not None
    after, end = new_secret(), NOON + timedelta(days=1)
    scene.database.write(lambda at: hooks.replace_secret(at, webhook_id, after, end))
    for now, are_good in ((NOON, [True, True]), (end, [False, True])):
        scene.now = now
        scene.faults()
        await deliver(deliverer)
        received = scene.sent[-1][1]
        assert [received.is_signed_by(each) for each in (before.secret, after)] == are_good


async def test_what_is_stored_no_more_is_not_told(scene: Scene) -> None:
    """It fails once, and holds up nothing."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.faults(14)
    await deliver(deliverer, steps=6)
    assert scene.told()[-1] == 14
    rows = {row.subject_id: row for row in scene.deliveries(webhook_id)}
    assert (rows[13].state, rows[13].attempts) == (DeliveryState.FAILED, 1)
    assert rows[13].detail == "what it tells of is stored no more"
    assert scene.hook(webhook_id).failures == 0


async def test_an_owner_reaches_public_addresses_alone(scene: Scene) -> None:
    """Networks are allowed to the operators; what an owner's name leads to is not sent to."""
    owner_id = scene.database.write(lambda at: add_owner(at, "eve", NOON))
    webhook_id, deliverer = scene.webhook("inner", owner_id), scene.deliverer()
    new = NewDelivery(webhook_id, "msg_1", WebhookEvent.WEBHOOK_TEST, webhook_id, NOON)
    scene.database.write(lambda at: deliveries.add_delivery(at, new))
    scene.webhook("outer")
    scene.faults()
    await deliver(deliverer)
    assert [host for host, _ in scene.sent] == ["outer"]
    (row,) = scene.deliveries(webhook_id)
    assert row.detail == "not sent: inner is no public address, or leads to one that is not"


async def test_an_event_that_can_t_be_told_ends_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure of the server's own is logged, and its delivery fails."""
    webhook_id, deliverer = scene.webhook(), scene.deliverer()
    scene.faults()
    monkeypatch.setattr(module, "body_of", lambda *_: 1 / 0)
    with capture_logs() as logs:
        await deliver(deliverer)
    assert [entry["event"] for entry in logs] == ["a webhook's event can't be told"]
    (row,) = scene.deliveries(webhook_id)
    assert (row.state, row.detail) == (
        DeliveryState.FAILED,
        "the server failed to make the message",
    )


async def test_without_a_webhook_there_is_nothing_to_do(scene: Scene) -> None:
    """Nobody looks again until there is one."""
    assert not await scene.deliverer().step()
