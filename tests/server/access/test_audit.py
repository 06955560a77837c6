"""The audit log says what there is: random acts are found again in it."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from meijin.server.access import bots
from meijin.server.access.bots import BotUpdate, NewBot
from meijin.server.access.caller import Caller
from meijin.server.errors import MeijinError
from meijin.server.settings import Registration, Settings
from meijin.store import Database
from meijin.store.access import owners
from meijin.store.access.audit import list_acts
from meijin.store.access.tokens import Identity, add_token
from meijin.store.errors import StoreError
from meijin.store.schema import Bot, BotState, ChallengePolicy, TokenKind

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
NAMES = ("ada", "bob", "cyd", "dan")
SETTINGS = Settings.model_construct(registration=Registration.INVITATION, owner_quota=2)

Act = Callable[..., Any]


def callers(connection: Connection) -> list[Caller]:
    made = []
    for name in ("eve", "mallory", ""):
        owner_id = owners.add_owner(connection, name, NOON) if name else None
        kind = TokenKind.OWNER if name else TokenKind.OPERATOR
        secret = f"secret {name}"
        token_id = add_token(connection, secret, kind, NOON, owner_id=owner_id, label="night")
        identity = Identity(kind, None, token_id, owner_id)
        made.append(Caller(identity, "/test", "ipv4:127.0.0.1:7", name or "operator", NOON))
    return made


def random_act(rng: random.Random) -> Act:
    name, other = rng.choice(NAMES), rng.choice(NAMES)
    secret = f"{rng.random()}"
    changes = [
        BotUpdate(state=rng.choice(list(BotState)), reason=secret),
        BotUpdate(is_hidden=rng.random() < 0.5),
        BotUpdate(new_name=other),
        BotUpdate(challenges=rng.choice(list(ChallengePolicy))),
    ]
    acts: list[Act] = [
        partial(bots.register, settings=SETTINGS, new=NewBot(name, "", ""), secret=secret),
        *(partial(bots.update, name=name, change=change, paused=()) for change in changes),
    ]
    return rng.choice(acts)


def facts_of(connection: Connection) -> dict[str, dict[str, object]]:
    columns = (Bot.name, Bot.state, Bot.reason, Bot.is_hidden, Bot.challenges)
    rows = connection.execute(select(*columns))
    return {
        name: {
            "name": name,
            "state": state.value,
            "reason": reason,
            "hidden": hidden,
            "challenges": policy.value,
        }
        for name, state, reason, hidden, policy in rows
    }


@pytest.mark.parametrize("seed", range(5))
def test_the_log_replays_to_what_there_is(database: Database, seed: int) -> None:
    """Each act that succeeds has one row, which begins where the last ended; others have none."""
    rng = random.Random(seed)
    who = database.write(callers)
    done = 0
    for _ in range(120):
        act, caller = random_act(rng), rng.choice(who)
        with suppress(MeijinError, StoreError, IntegrityError):
            database.write(partial(act, caller=caller))
            done += 1
    rows = database.read(partial(list_acts, limit=1000))[::-1]
    assert len(rows) == done > 20
    replayed: dict[str, dict[str, object]] = {}
    for row in rows:
        assert row.after is not None
        if row.before is not None:
            assert replayed.pop(row.before["name"]) == row.before
        facts = {key: value for key, value in row.after.items() if key != "owner"}
        replayed[row.after["name"]] = facts
    assert replayed == database.read(facts_of)
    kinds = {"eve": "owner", "mallory": "owner", "night": "operator"}
    assert all(row.kind == kinds[row.actor] for row in rows)
