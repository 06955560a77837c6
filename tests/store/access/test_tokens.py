"""Tokens: whose they are, and until when."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text
from tests.query_plans import statements
from tests.store.conftest import NOON, AddBots

from meijin.store import Database
from meijin.store.access import owners, tokens
from meijin.store.access.tokens import Identity
from meijin.store.rows import change_row
from meijin.store.schema import Bot, TokenId, TokenKind

LATER = NOON + timedelta(hours=1)


def add(database: Database, kind: TokenKind, **more: object) -> str:
    secret = tokens.new_secret(kind.value)
    database.write(tokens.add_token, secret, kind, NOON, **more)  # type: ignore[arg-type]  # as the test says
    return secret


def identity(database: Database, secret: str, now: datetime = NOON) -> Identity | None:
    return database.read(tokens.authenticate, token=secret, now=now)


def test_a_token_says_whose_it_is(database: Database, add_bots: AddBots) -> None:
    """A bot's names the bot, an owner's the owner, and the others nobody."""
    (ada,) = add_bots("ada")
    eve = database.write(owners.add_owner, name="eve", now=NOON)
    secrets = [
        add(database, TokenKind.BOT, bot_id=ada),
        add(database, TokenKind.OWNER, owner_id=eve),
        add(database, TokenKind.OPERATOR),
        add(database, TokenKind.READ),
    ]
    assert [identity(database, secret) for secret in secrets] == [
        Identity(TokenKind.BOT, ada, TokenId(1)),
        Identity(TokenKind.OWNER, None, TokenId(2), eve),
        Identity(TokenKind.OPERATOR, None, TokenId(3)),
        Identity(TokenKind.READ, None, TokenId(4)),
    ]


def test_only_hashes_are_stored(database: Database, add_bots: AddBots) -> None:
    """No column of the table holds a token, nor more of it than six characters."""
    (ada,) = add_bots("ada")
    secret = add(database, TokenKind.BOT, bot_id=ada)
    row = database.read(lambda at: at.execute(text("SELECT * FROM token")).one())
    assert not any(secret[-7:] in str(value) for value in row)
    assert secret[-6:] in row


@pytest.mark.parametrize("token", ["", "nothing", "gmk_bot_"])
def test_an_unknown_token_is_nobodys(database: Database, add_bots: AddBots, token: str) -> None:
    """A token that was never made gives ``None``; a digest is no token either."""
    (ada,) = add_bots("ada")
    secret = add(database, TokenKind.BOT, bot_id=ada)
    assert identity(database, token) is None
    assert identity(database, tokens.token_digest(secret)) is None


def test_a_revoked_token_is_nobodys(database: Database, add_bots: AddBots) -> None:
    """All of a bot's at once, or one by one; those of others stay."""
    ada, bob = add_bots("ada", "bob")
    secrets = [add(database, TokenKind.BOT, bot_id=bot) for bot in (ada, ada, bob, bob)]
    database.write(tokens.revoke_tokens_of, bot_id=ada, now=NOON)
    assert database.write(tokens.revoke_token, token_id=TokenId(3), now=NOON)
    assert not database.write(tokens.revoke_token, token_id=TokenId(3), now=NOON)
    assert [identity(database, secret) is None for secret in secrets] == [True, True, True, False]
    valid = database.read(tokens.valid_among, token_ids=map(TokenId, range(1, 5)), now=NOON)
    assert valid == {TokenId(4)}


def test_a_token_expires(database: Database) -> None:
    """At its instant it is nobody's, and an operator has none any more."""
    secret = add(database, TokenKind.OPERATOR, expire_time=LATER)
    before = LATER - timedelta(microseconds=1)
    assert identity(database, secret, before) is not None
    assert database.read(tokens.has_operator_token, now=before)
    assert identity(database, secret, LATER) is None
    assert not database.read(tokens.has_operator_token, now=LATER)
    assert not database.read(tokens.valid_among, token_ids=[TokenId(1)], now=LATER)


def test_tokens_are_long_and_never_the_same() -> None:
    """256 random bits after a prefix that tells the kind."""
    made = {tokens.new_secret("bot") for _ in range(100)}
    assert len(made) == 100
    assert all(token.startswith("gmk_bot_") and len(token) >= 8 + 43 for token in made)


def test_an_owner_sees_its_own_and_its_bots(database: Database, add_bots: AddBots) -> None:
    """The list of an owner holds no token of another; revoked ones are asked for."""
    eve = database.write(owners.add_owner, name="eve", now=NOON)
    (ada, bob) = add_bots("ada", "bob")
    database.write(change_row, Bot, ada, owner_id=eve)
    for bot_id in (ada, bob):
        add(database, TokenKind.BOT, bot_id=bot_id)
    add(database, TokenKind.OWNER, owner_id=eve)
    add(database, TokenKind.OPERATOR)
    database.write(tokens.revoke_token, token_id=TokenId(1), now=NOON)

    def listed(**more: Any) -> list[tuple[int, str, str]]:
        query = partial(tokens.list_tokens, limit=10, now=NOON, **more)
        return [(row.id, row.bot, row.owner) for row in database.read(query)]

    assert listed(owner_id=eve) == [(3, "", "eve")]
    assert listed(owner_id=eve, with_invalid=True) == [(1, "ada", "eve"), (3, "", "eve")]
    assert listed() == [(2, "bob", ""), (3, "", "eve"), (4, "", "")]


def test_uses_are_written_by_one_statement(database: Database) -> None:
    """However many tokens there are; those that were not used keep what they had."""
    for _ in range(3):
        add(database, TokenKind.READ)
    with statements(database.writer) as said:
        database.write(tokens.write_uses, {TokenId(1): NOON, TokenId(3): LATER})
    assert len(said) == 1
    rows = database.read(tokens.list_tokens, limit=10, now=NOON)
    assert [row.use_time for row in rows] == [NOON, None, LATER]
