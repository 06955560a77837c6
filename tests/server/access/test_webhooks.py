"""Webhooks over the wire: whose they are, and what may be asked of them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text
from tests.server_in_test import ServerInTest

from meijin.server.access import webhooks as decisions
from meijin.server.api.services import webhooks as service
from meijin.server.webhooks.egress import Lookups
from meijin.store.schema import WebhookId
from meijin.store.webhooks.hooks import secrets_of
from meijin.v1 import webhook_service_pb2 as pb

pytestmark = pytest.mark.settings(registration="closed")
CREATE, LIST = "WebhookService/CreateWebhook", "WebhookService/ListWebhooks"
UPDATE, SEND = "WebhookService/UpdateWebhook", "WebhookService/SendDelivery"
DELETE, DELIVERIES = "WebhookService/DeleteWebhook", "WebhookService/ListDeliveries"
URL = "https://hooks.example.org/secret-path"


@pytest.fixture(autouse=True)
def _no_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is asked for outside of this machine: those of new webhooks are known by a list."""
    monkeypatch.setattr(service, "Lookups", partial(Lookups, find_address))

    def unknown(host: str, *_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, f"nobody knows {host}")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)


def find_address(host: str, _port: int) -> Sequence[str]:
    if host == "inner.example.org":
        return ["93.184.216.34", "10.0.0.7"]
    if host == "nowhere.example.org":
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return ["93.184.216.34"]


async def ids(server: ServerInTest, token: str | None = None) -> list[str]:
    return [each.webhook_id for each in (await server.ask(LIST, token)).webhooks]


async def test_a_webhook_is_shown_without_its_secret(server: ServerInTest) -> None:
    """With everything else that was asked for; what was left out is everything."""
    made = await server.ask(CREATE, url=URL, format="WEBHOOK_FORMAT_SLACK")
    assert made.secret.startswith("whsec_")
    (listed,) = (await server.ask(LIST)).webhooks
    assert listed == made.webhook
    assert (listed.url, listed.format) == (URL, pb.WEBHOOK_FORMAT_SLACK)
    assert list(listed.events) == pb.WebhookEvent.values()[1:-1]
    assert made.secret not in str(listed)


async def test_owners_have_their_own(server: ServerInTest) -> None:
    """An owner neither sees nor touches another's, in the same words as for none at all."""
    eve, ada = await server.token("owner", "eve"), await server.token("owner", "ada")
    await server.register("hers", owner="eve")
    await server.ask(CREATE, eve, url=URL, bot="hers")
    await server.ask(CREATE, url=URL)
    assert [await ids(server, who) for who in (eve, ada, None)] == [["1"], [], ["1", "2"]]
    sent = (await server.ask(SEND, webhook_id="1")).delivery
    for method, field, key in (
        *((method, "webhook_id", "1") for method in (DELETE, UPDATE, SEND, DELIVERIES)),
        (SEND, "delivery_id", sent.delivery_id),
    ):
        end, unknown = [await server.refusal(method, ada, **{field: each}) for each in (key, "777")]
        assert end.reason == unknown.reason == "NOT_FOUND"
        assert end.details.replace(key, "777", 1) == unknown.details
    for bot in ("hers", "nobody"):
        end = await server.refusal(CREATE, ada, url=URL, bot=bot)
        assert (end.reason, end.details) == ("NOT_FOUND", f'you have no bot "{bot}"')


IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"url": ""}, "url: it must be a URL such as https://example.org/hook"),
    ({"url": "http://example.org/"}, "url: it must be https"),
    ({"url": "https://10.0.0.1/"}, "url: 10.0.0.1 is no public address, or leads to one"),
    ({"url": "https://0x7f000001/"}, "url: 0x7f000001 is no name; write an address as four"),
    ({"url": "https://inner.example.org/"}, "url: inner.example.org is no public address, or"),
    ({"url": "https://nowhere.example.org/"}, "url: nowhere.example.org has no address that"),
    ({"url": URL + "x" * 2000}, "url: it is longer than 2000 characters"),
    ({"url": URL, "events": [6]}, "no webhook can be told of webhook.test alone"),
    ({"url": URL, "events": [77]}, "events: there is no WebhookEvent 77"),
    ({"url": URL, "events": [0]}, "events: there is no WebhookEvent 0"),
    ({"url": URL, "format": 77}, "format: there is no WebhookFormat 77"),
    ({"url": URL, "tournament_id": "x"}, 'tournament_id "x" is none of this server\'s'),
    ({"url": URL, "bot": "ada", "events": [3]}, "ladder.published is about no bot"),
]
MISSING: list[dict[str, Any]] = [{"bot": "x"}, {"tournament_id": "7"}, {"ladder": "x"}]


async def test_what_can_t_be_made(server: ServerInTest) -> None:
    """In one line that says why; what it is to be bound to has to be there."""
    operator = server.operator_token
    for fields, words in IMPOSSIBLE:
        end = await server.refusal(CREATE, operator, **fields)
        assert end.reason == "INVALID_REQUEST", fields
        assert end.details.startswith(words)
    for fields in MISSING:
        assert (await server.refusal(CREATE, operator, url=URL, **fields)).reason == "NOT_FOUND"
    assert await ids(server) == []


async def test_there_are_so_many_at_most(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "MAX_WEBHOOKS", 3)
    monkeypatch.setattr(decisions, "MAX_WEBHOOKS_OF_OWNER", 2)
    eve = await server.token("owner", "eve")
    for token, number in ((eve, 2), (server.operator_token, 1)):
        for _ in range(number):
            await server.ask(CREATE, token, url=URL)
        assert (await server.refusal(CREATE, token, url=URL)).reason == "QUOTA"


async def test_a_webhook_is_deleted_with_its_deliveries(server: ServerInTest) -> None:
    """Nothing of it is left to be asked for."""
    await server.ask(CREATE, url=URL)
    sent = (await server.ask(SEND, webhook_id="1")).delivery
    await server.ask(DELETE, webhook_id="1")
    assert await ids(server) == []
    end = await server.refusal(SEND, server.operator_token, delivery_id=sent.delivery_id)
    assert end.reason == "NOT_FOUND"


async def test_a_disabled_webhook_is_sent_nothing(server: ServerInTest) -> None:
    """Until it is enabled, which it can be once."""
    operator = server.operator_token
    await server.ask(CREATE, url=URL)
    reason = "the receiver answers 410: it wants no more"
    disable = text(f"UPDATE webhook SET disable_reason = '{reason}'")
    server.database.write(lambda to: to.execute(disable))
    end = await server.refusal(SEND, operator, webhook_id="1")
    assert end.reason == "WRONG_STATE"
    assert f"{reason}; enable it first" in end.details
    enabled = (await server.ask(UPDATE, webhook_id="1", enabled=True)).webhook
    assert enabled.disable_reason == ""
    assert (await server.acts())[-1][1:] == ("enable", "webhook 1")
    end = await server.refusal(UPDATE, operator, webhook_id="1", enabled=True)
    assert end.reason == "WRONG_STATE"


async def test_tests_are_no_way_to_fill_the_disk(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many wait as of other deliveries."""
    monkeypatch.setattr(decisions, "MAX_WAITING", 3)
    await server.ask(CREATE, url=URL)
    row = (
        "INSERT INTO webhook_delivery (webhook_id, message_id, event, subject_id, event_time,"
        " next_time, state, attempts, detail) VALUES (1, 'msg_1', 'webhook.test', 1,"
        " '2999-01-01 00:00:00', '2999-01-01 00:00:00', 'waiting', 0, '')"
    )
    for _ in range(3):
        server.database.write(lambda to: to.execute(text(row)))
    assert (await server.refusal(SEND, server.operator_token, webhook_id="1")).reason == "BUSY"
    page = await server.ask(DELIVERIES, webhook_id="1", page_size=2)
    rest = await server.ask(DELIVERIES, webhook_id="1", page_token=page.next_page_token)
    assert (len(page.deliveries), len(rest.deliveries)) == (2, 1)


async def test_a_new_secret_takes_the_place_of_the_old_in_a_day(server: ServerInTest) -> None:
    """Deliveries are signed with both until then; the log holds neither, nor the path.

    By that others write to Discord.
    """
    old = (await server.ask(CREATE, url=URL)).secret
    new = (await server.ask(UPDATE, webhook_id="1", new_secret=True)).secret
    kept = server.database.read(lambda at: secrets_of(at, WebhookId(1)))
    assert kept is not None
    assert (kept.secret, kept.old_secret) == (new, old)
    assert kept.old_secret_end is not None
    assert kept.old_secret_end > datetime.now(UTC)
    acts = str((await server.ask("AdminService/ListAudit")).acts)
    assert "hooks.example.org" in acts
    assert not any(hidden in acts for hidden in (old, new, "secret-path"))
