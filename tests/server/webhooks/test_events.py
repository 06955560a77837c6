"""Events of a whole server, told to a receiver on loopback."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from sqlalchemy import Connection, select
from tests.openapi import assert_sent
from tests.peer import play_moves
from tests.server.webhooks.receivers import Received, Receiver
from tests.server_in_test import FIVE, ServerInTest

from meijin.store.ladders.runs import NewRun
from meijin.store.ladders.runs import publish as publish_run
from meijin.store.schema import Ladder, LadderId, RunParameters
from meijin.v1 import fault_service_pb2 as fault_pb
from meijin.v1 import game_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.v1 import webhook_service_pb2 as pb
from meijin.wire.json import message_of

Code = grpc.StatusCode
pytestmark = pytest.mark.settings(webhook_networks="127.0.0.0/8", max_faults=1)
CREATE, DELIVERIES = "WebhookService/CreateWebhook", "WebhookService/ListDeliveries"


async def next_of(receiver: Receiver) -> Received:
    """What the receiver gets next, while the server goes on; it is as the document says."""
    received = await asyncio.to_thread(receiver.next)
    if "type" in received.json:
        assert_sent(received.json)
    return received


async def subscribe(server: ServerInTest, receiver: Receiver, *events: str, **more: Any) -> str:
    """The secret of a webhook that is told of some events."""
    names = [f"WEBHOOK_EVENT_{event}" for event in events]
    answer = await server.ask(CREATE, url=receiver.url, events=names, **more)
    return str(answer.secret)


def publish(connection: Connection) -> None:
    """Publish a run without ratings on the only ladder."""
    run = NewRun(
        ladder_id=LadderId(connection.scalars(select(Ladder.id)).one()),
        revision=1,
        voided=0,
        sequenced=0,
        cutoff=1,
        games=1,
        repeats=0,
        checksum="",
        algorithm="by hand",
        parameters=RunParameters(advantage=20.5, draws=10.25),
        create_time=datetime.now(UTC),
        ratings=(),
        covariances=None,
    )
    assert publish_run(connection, run)


async def test_an_ended_game_is_told(server: ServerInTest, receiver: Receiver) -> None:
    """Signed, of this time, with the game as the contract writes it, and never again."""
    secret = await subscribe(server, receiver, "GAME_ENDED", "TOURNAMENT_ENDED")
    black, white = await server.pair()
    await play_moves((black, white), FIVE)
    told = [await next_of(receiver) for _ in range(2)]
    assert all(each.is_signed_by(secret) for each in told)
    assert all(abs(int(each.headers["webhook-timestamp"]) - time.time()) < 300 for each in told)
    assert all(each.headers["content-type"] == "application/json" for each in told)
    assert len({each.headers["webhook-id"] for each in told}) == 2
    data = {each.json["type"]: each.json["data"] for each in told}
    game = message_of(game_pb2.Game, data["game.ended"])
    assert (game.black, game.white, game.ply) == (black.name, white.name, len(FIVE))
    assert game.outcome.ending == game_pb2.ENDING_FIVE
    tournament = message_of(tournament_pb.Tournament, data["tournament.ended"])
    assert tournament.state == tournament_pb.TOURNAMENT_STATE_FINISHED
    (first,) = (each for each in told if each.json["type"] == "game.ended")
    assert datetime.fromisoformat(first.json["timestamp"]) == game.end_time.ToDatetime(UTC)
    await server.until(lambda: not server.app.webhooks._sending)
    listed = (await server.ask(DELIVERIES, webhook_id="1")).deliveries
    assert {each.state for each in listed} == {pb.DELIVERY_STATE_DELIVERED}
    assert [each.attempts for each in listed] == [1, 1]
    assert receiver.received.empty()


async def test_faults_and_pauses_are_told(server: ServerInTest, receiver: Receiver) -> None:
    """An entry of the ledger is one event, and a pause is not another fault."""
    await subscribe(server, receiver, "BOT_PAUSED", "FAULT_RECORDED")
    black, white = await server.pair()
    await black.fail((await black.turn()).game, "boom")
    await white.ended()
    told: dict[str, Any] = {}
    while len(told) < 2:
        body = (await next_of(receiver)).json
        if body["data"]["bot"]:  # a busy machine adds stalls
            assert body["type"] not in told
            told[body["type"]] = body["data"]
    fault = message_of(fault_pb.Fault, told["fault.recorded"])
    assert (fault.bot, fault.kind, fault.detail) == (black.name, fault_pb.FAULT_KIND_CRASH, "boom")
    pause = message_of(fault_pb.Fault, told["bot.paused"])
    assert (pause.bot, pause.kind) == (black.name, fault_pb.FAULT_KIND_PAUSE)


async def test_a_published_run_is_told(server: ServerInTest, receiver: Receiver) -> None:
    """With its ladder, which is newer than the webhook."""
    await subscribe(server, receiver, "LADDER_PUBLISHED")
    await server.pair()
    server.database.write(publish)
    data = (await next_of(receiver)).json["data"]
    table = message_of(ladder_pb.GetStandingsResponse, data)
    assert table.ladder.name == "freestyle-5x5-classical"
    assert (table.run.run_id, table.run.parameters) == ("1", "")


async def test_a_sentence_for_people(server: ServerInTest, receiver: Receiver) -> None:
    """In the one field that they take; names of tournaments mention nobody and mark nothing."""
    await subscribe(server, receiver, "TOURNAMENT_ENDED", format="WEBHOOK_FORMAT_DISCORD")
    await server.pair(name="<!channel> @everyone *big*")
    await server.cancel("1")
    body = (await next_of(receiver)).json
    assert r"\<!channel\> \@everyone \*big\*" in body.pop("content")
    assert body == {"allowed_mentions": {"parse": []}, "flags": 4}


async def test_a_test_and_its_redelivery(server: ServerInTest, receiver: Receiver) -> None:
    """The webhook itself is what is told; sent again by hand it has the same id."""
    await subscribe(server, receiver, "GAME_ENDED")
    sent = (await server.ask("WebhookService/SendDelivery", webhook_id="1")).delivery
    first = await next_of(receiver)
    assert first.json["type"] == "webhook.test"
    assert message_of(pb.Webhook, first.json["data"]).url == receiver.url
    await server.until(lambda: not server.app.webhooks._sending)
    await server.ask("WebhookService/SendDelivery", delivery_id=sent.delivery_id)
    again = await next_of(receiver)
    assert again.headers["webhook-id"] == first.headers["webhook-id"] == sent.message_id


@pytest.mark.settings(webhooks=False)
async def test_a_server_that_sends_none(server: ServerInTest) -> None:
    """It makes none either, and says how it would."""
    end = await server.refusal(CREATE, url="https://example.org/")
    assert (end.code, end.reason) == (Code.FAILED_PRECONDITION, "WRONG_STATE")
    assert "MEIJIN_WEBHOOKS=true" in end.details
    assert not (await server.ask("WebhookService/ListWebhooks")).webhooks
