"""The audit log says what there is: random acts are found again in it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from meijin.server.access import bots
from meijin.server.access.bots import BotUpdate
from meijin.server.access.caller import Caller
from meijin.server.access.permissions import Policy
from meijin.server.errors import MeijinError
from meijin.server.settings import Registration
from meijin.store import Database
from meijin.store.access import owners
from meijin.store.access.audit import list_acts
from meijin.store.access.tokens import Identity, NewToken, add_token
from meijin.store.errors import StoreError
from meijin.store.schema import Bot, BotState, ChallengePolicy, OwnerId, TokenKind

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
NAMES = ("ada", "bob", "cyd", "dan")
POLICY = Policy(registration=Registration.INVITATION, owner_quota=2)

Act = Callable[..., Any]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A migrated store."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as opened:
        opened.migrate()
        yield opened


def callers(connection: Connection) -> list[Caller]:
    """Two owners and an operator."""
    made = []
    for name in ("eve", "mallory", ""):
        owner_id = owners.add_owner(connection, name, NOON) if name else None
        kind = TokenKind.OWNER if name else TokenKind.OPERATOR
        new = NewToken(f"secret {name}", kind, owner_id=owner_id, label="night")
        token_id = add_token(connection, new, NOON)
        identity = Identity(kind, None, token_id, owner_id)
        made.append(Caller(identity, "/test", "ipv4:127.0.0.1:7", name or "operator"))
    return made


def random_act(rng: random.Random) -> Act:
    """Something that somebody does to a bot."""
    name, other = rng.choice(NAMES), rng.choice(NAMES)
    secret = f"{rng.random()}"
    changes = [
        BotUpdate(state=rng.choice(list(BotState)), reason=secret),
        BotUpdate(is_hidden=rng.random() < 0.5),
        BotUpdate(new_name=other),
        BotUpdate(challenges=rng.choice(list(ChallengePolicy))),
    ]
    acts: list[Act] = [
        partial(bots.register, policy=POLICY, name=name, owner="", secret=secret),
        *(partial(bots.update, name=name, change=change, paused=()) for change in changes),
    ]
    return rng.choice(acts)


def facts_of(connection: Connection) -> dict[str, dict[str, object]]:
    """What the bots are."""
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
            database.write(partial(act, caller=caller, now=NOON))
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


def test_an_owner_never_changes_anothers_bot(database: Database) -> None:
    """Whatever it tries, the bot stays as it is and the log empty."""
    eve, mallory, _ = database.write(callers)
    register = partial(bots.register, policy=POLICY, name="ada", owner="", secret="s")
    database.write(partial(register, caller=eve, now=NOON))
    before = database.read(facts_of)
    rng = random.Random(1)
    for _ in range(100):
        with suppress(MeijinError, IntegrityError):
            database.write(partial(random_act(rng), caller=mallory, now=NOON))
    assert database.read(facts_of)["ada"] == before["ada"]
    rows = database.read(partial(list_acts, limit=1000, of="ada"))
    assert [row.actor for row in rows] == ["eve"]
    assert OwnerId(1) == eve.owner_id
