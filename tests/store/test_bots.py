"""Bots, their versions and their tokens."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from tests.query_plans import plans

from meijin.store import Database, bots
from meijin.store.bots import EngineRow, Identity
from meijin.store.errors import TooManyVersionsError, UnknownBotError
from meijin.store.schema import Bot, BotId, BotVersionId, Token, TokenId, TokenKind

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)

AddBots = Callable[..., tuple[BotId, ...]]


# -- tokens -----------------------------------------------------------------------


def test_a_token_says_whose_it_is(database: Database, add_bots: AddBots) -> None:
    """A bot's token names the bot; an operator's names none."""
    (ada,) = add_bots("ada")
    secret, admin = bots.new_token(TokenKind.BOT), bots.new_token(TokenKind.ADMIN)
    assert not database.read(bots.has_admin_token)
    database.write(lambda to: bots.add_token(to, secret, TokenKind.BOT, NOON, ada))
    assert not database.read(bots.has_admin_token)
    database.write(lambda to: bots.add_token(to, admin, TokenKind.ADMIN, NOON))
    assert database.read(bots.has_admin_token)
    found = [database.read(partial(bots.authenticate, token=token)) for token in (secret, admin)]
    assert found == [
        Identity(TokenKind.BOT, ada, TokenId(1)),
        Identity(TokenKind.ADMIN, None, TokenId(2)),
    ]


def test_only_hashes_are_stored(database: Database, add_bots: AddBots) -> None:
    """No column of the table holds a token, nor more of it than six characters."""
    (ada,) = add_bots("ada")
    secret = bots.new_token(TokenKind.BOT)
    database.write(lambda to: bots.add_token(to, secret, TokenKind.BOT, NOON, ada))
    row = database.read(lambda at: at.execute(text("SELECT * FROM token")).one())
    assert not any(secret in str(value) for value in row)
    assert not any(secret[-7:] in str(value) for value in row)
    assert database.read(lambda at: at.scalars(select(Token.suffix)).one()) == secret[-6:]


@pytest.mark.parametrize("token", ["", "nothing", "gmk_bot_"])
def test_an_unknown_token_is_nobodys(database: Database, add_bots: AddBots, token: str) -> None:
    """A token that was never made gives ``None``; a digest is no token either."""
    (ada,) = add_bots("ada")
    secret = bots.new_token(TokenKind.BOT)
    database.write(lambda to: bots.add_token(to, secret, TokenKind.BOT, NOON, ada))
    assert database.read(lambda at: bots.authenticate(at, token)) is None
    digest = bots.token_digest(secret)
    assert database.read(lambda at: bots.authenticate(at, digest)) is None


def test_rotating_revokes_a_bots_earlier_tokens(database: Database, add_bots: AddBots) -> None:
    """Only the newest token of a bot works; those of others stay."""
    ada, bob = add_bots("ada", "bob")
    old, new, other = (bots.new_token(TokenKind.BOT) for _ in range(3))
    database.write(lambda to: bots.add_token(to, old, TokenKind.BOT, NOON, ada))
    database.write(lambda to: bots.add_token(to, other, TokenKind.BOT, NOON, bob))
    database.write(lambda to: bots.rotate_token(to, new, ada, NOON))
    identities = [
        database.read(partial(bots.authenticate, token=token)) for token in (old, new, other)
    ]
    assert identities == [
        None,
        Identity(TokenKind.BOT, ada, TokenId(3)),
        Identity(TokenKind.BOT, bob, TokenId(2)),
    ]
    assert database.read(lambda at: [bots.is_revoked(at, TokenId(key)) for key in (1, 2, 3)]) == [
        True,
        False,
        False,
    ]


def test_tokens_are_long_and_never_the_same() -> None:
    """256 random bits after a prefix that tells the kind."""
    tokens = {bots.new_token(TokenKind.BOT) for _ in range(100)}
    assert len(tokens) == 100
    assert all(token.startswith("gmk_bot_") and len(token) >= 8 + 43 for token in tokens)


# -- bots -------------------------------------------------------------------------


def test_a_name_is_taken_once(database: Database, add_bots: AddBots) -> None:
    """The second registration of a name fails in the database."""
    (ada,) = add_bots("ada")
    with pytest.raises(IntegrityError):
        database.write(lambda to: bots.add_bot(to, "ada", NOON))
    assert database.read(lambda at: bots.find_bot(at, "ada")) == ada
    assert database.read(lambda at: bots.find_bot(at, "Ada")) is None
    assert database.read(lambda at: bots.bot_name(at, ada)) == "ada"


def test_a_wrong_name_is_told_the_closest(database: Database, add_bots: AddBots) -> None:
    """A name that is close to none has to be looked up."""
    (ada, _) = add_bots("ada-2", "bob")
    assert database.read(lambda at: bots.get_bot(at, "ada-2")) == ada
    with pytest.raises(UnknownBotError, match=r'^no bot "ada"; did you mean "ada-2"\?$'):
        database.read(lambda at: bots.get_bot(at, "ada"))
    with pytest.raises(UnknownBotError, match=r'^no bot "x"; list the bots to see their names$'):
        database.read(lambda at: bots.get_bot(at, "x"))


def test_open_bots_are_told_apart(database: Database) -> None:
    """A bot that came by open registration is known as such."""
    closed = database.write(lambda to: bots.add_bot(to, "closed", NOON))
    opened = database.write(lambda to: bots.add_bot(to, "open", NOON, is_open=True))
    assert not database.read(lambda at: bots.is_open_bot(at, closed))
    assert database.read(lambda at: bots.is_open_bot(at, opened))


def test_bots_share_their_owner(database: Database) -> None:
    """An owner is made with the first bot and found for the second."""
    for name in ("one", "two"):
        database.write(partial(bots.add_bot, name=name, now=NOON, owner="eve"))
    owners = database.read(lambda at: at.scalars(select(Bot.owner_id)).all())
    assert owners[0] is not None
    assert owners[0] == owners[1]
    rows = database.read(lambda at: bots.list_bots(at, limit=10))
    assert [(row.name, row.owner) for row in rows] == [("one", "eve"), ("two", "eve")]


def test_bots_are_listed_by_name_in_pages(database: Database, add_bots: AddBots) -> None:
    """Each page begins after the last name of the one before."""
    add_bots("cleo", "ada", "bob", "dan")
    first = database.read(lambda at: bots.list_bots(at, limit=3))
    second = database.read(lambda at: bots.list_bots(at, limit=3, after=first[-1].name))
    assert [row.name for row in (*first, *second)] == ["ada", "bob", "cleo", "dan"]
    assert len(first) == 3


def test_instants_come_back_in_utc(database: Database) -> None:
    """An instant of another time zone is the same instant when it is read."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    database.write(lambda to: bots.add_bot(to, "ada", tokyo))
    (row,) = database.read(lambda at: bots.list_bots(at, limit=1))
    assert row.create_time == NOON
    assert row.create_time.tzinfo is UTC


# -- versions ---------------------------------------------------------------------


def test_a_digest_is_one_version(database: Database, add_bots: AddBots) -> None:
    """The same digest is the same version, whatever its label; another bot's is another."""
    ada, bob = add_bots("ada", "bob")
    versions = [
        database.write(partial(bots.bot_version, bot_id=bot_id, engine=engine, now=NOON))
        for bot_id, engine in [
            (ada, EngineRow("1", "x", ("depth=4",))),
            (ada, EngineRow("2", "x")),
            (bob, EngineRow("1", "x")),
            (ada, EngineRow("1", "y")),
        ]
    ]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3


def test_a_version_is_found_by_its_digest(sqlite_url: str) -> None:
    """By an index, however many others its bot has had: every bot that connects asks."""
    with Database(sqlite_url) as database:
        database.migrate()
        bot_id = database.write(lambda to: bots.add_bot(to, "ada", NOON))
        find = partial(bots.bot_version, bot_id=bot_id, engine=EngineRow("1", "x"), now=NOON)
        made = database.write(find)
        with plans(database) as found:
            assert database.read(find) == made
    assert [plan.endswith("(bot_id=? AND digest=?)") for plan in found] == [True]


def test_versions_keep_their_lineage(database: Database, add_bots: AddBots) -> None:
    """Each version knows the one before it, and what it was when it came."""
    ada, bob = add_bots("ada", "bob")
    for bot_id, digest in [(ada, "a"), (bob, "a"), (ada, "b"), (ada, "a"), (ada, "c")]:
        engine = EngineRow(f"label {digest}", digest, ("depth=4", f"name={digest}"))
        database.write(partial(bots.bot_version, bot_id=bot_id, engine=engine, now=NOON))
    first, second, third = database.read(lambda at: bots.list_versions(at, ada, limit=10))
    assert [version.digest for version in (first, second, third)] == ["a", "b", "c"]
    assert [version.parent_id for version in (first, second, third)] == [None, first.id, second.id]
    assert third.label == "label c"
    assert third.configuration == ["depth=4", "name=c"]
    assert third.create_time == NOON
    page = database.read(lambda at: bots.list_versions(at, ada, limit=1, after=first.id))
    assert [version.id for version in page] == [second.id]


def test_a_bot_has_only_so_many_versions(
    database: Database, add_bots: AddBots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is kept for ever; one that is there may always come in, and other bots too."""
    monkeypatch.setattr(bots, "MAX_VERSIONS", 3)
    monkeypatch.setattr(bots, "MAX_VERSIONS_A_DAY", 2)
    ada, bob = add_bots("ada", "bob")

    def come(digest: str, *, day: int, bot_id: BotId = ada) -> BotVersionId:
        engine, now = EngineRow("1", digest), NOON + timedelta(days=day)
        return database.write(lambda to: bots.bot_version(to, bot_id, engine, now))

    first = come("a", day=0)
    come("b", day=0)
    with pytest.raises(TooManyVersionsError, match="2 new versions in a day"):
        come("c", day=0)
    assert come("a", day=0) == first
    come("c", day=0, bot_id=bob)
    come("c", day=2)
    with pytest.raises(TooManyVersionsError, match="3 versions, the most"):
        come("d", day=9)
    assert come("a", day=9) == first


def test_a_new_version_counts_no_others(sqlite_url: str) -> None:
    """The bounds and the parent are found in the order of an index."""
    with Database(sqlite_url) as database:
        database.migrate()
        bot_id = database.write(lambda to: bots.add_bot(to, "ada", NOON))
        with plans(database) as found:
            database.read(lambda at: bots.newest_versions(at, bot_id, 3))
            database.read(lambda at: bots.list_versions(at, bot_id, limit=3))
    assert [plan for plan in found if "SCAN" in plan or "B-TREE" in plan] == []
    assert all("bot_version_order" in plan for plan in found)


def test_some_bots_are_read_in_the_order_in_which_they_are_named(
    database: Database, add_bots: AddBots
) -> None:
    """Whatever the database thinks of the order of names."""
    zoe, ada, _ = add_bots("Zoe", "ada", "bob")
    rows = database.read(lambda at: bots.get_bots(at, {"ada": ada, "Zoe": zoe}))
    assert [(row.id, row.name, row.owner) for row in rows] == [(ada, "ada", ""), (zoe, "Zoe", "")]
    assert database.read(lambda at: bots.get_bots(at, {})) == []
