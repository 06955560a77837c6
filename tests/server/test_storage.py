"""The store as coroutines see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DataError, IntegrityError, OperationalError

from meijin.server.errors import (
    InvalidRequestError,
    MeijinError,
    NotFoundError,
    StoreAwayError,
    WrongStateError,
)
from meijin.server.process.operator_token import (
    OperatorTokenFile,
    ensure_operator_token,
    operator_token_path,
)
from meijin.server.storage import Storage
from meijin.store import Database, StoreError, Writer
from meijin.store.access.tokens import Identity, NewToken, add_token, authenticate
from meijin.store.errors import NoRunError, UnknownBotError, UnknownRunError
from meijin.store.schema import Owner, Token, TokenId, TokenKind

PATIENCE = 20.0
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    """A migrated store."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        writer = Writer(database)
        storage = Storage(database, writer)
        yield storage
        writer.close()
        storage.close()


def add(name: str) -> Callable[[Connection], None]:
    """Work that stores an owner."""

    def work(connection: Connection) -> None:
        connection.execute(
            text("INSERT INTO owner (name, create_time) VALUES (:name, '2026-01-01 00:00:00')"),
            {"name": name},
        )

    return work


def names(connection: Connection) -> list[str]:
    """The owners there are."""
    return list(connection.scalars(select(Owner.name).order_by(Owner.id)))


async def test_what_is_written_is_read(storage: Storage) -> None:
    """A write is done when it is committed."""
    await storage.write(add("ada"))
    assert await storage.read(names) == ["ada"]


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (UnknownBotError("no bot"), NotFoundError),
        (UnknownRunError("no run"), NotFoundError),
        (NoRunError("no run yet"), WrongStateError),
    ],
)
async def test_the_store_s_errors_become_refusals(
    storage: Storage, error: StoreError, refusal: type[MeijinError]
) -> None:
    """Whether they come from reading or writing, with the same words."""

    def fail(_connection: Connection) -> None:
        raise error

    for access in (storage.read, storage.write):
        with pytest.raises(refusal, match=f"^{error}$"):
            await access(fail)


async def test_a_write_that_nobody_waits_for_harms_nobody(storage: Storage) -> None:
    """Callers may leave before, during and after: later writes are done."""
    gate, entered = Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(connection: Connection) -> None:
        loop.call_soon_threadsafe(entered.set)
        gate.wait(PATIENCE)
        add("during")(connection)

    during = asyncio.create_task(storage.write(slow))
    await entered.wait()
    before = asyncio.create_task(storage.write(add("before")))
    await asyncio.sleep(0)
    during.cancel()
    before.cancel()
    await asyncio.sleep(0)
    gate.set()
    await storage.write(add("after"))
    assert await storage.read(names) == ["during", "after"]


def raising(error: type[Exception]) -> Callable[[Connection], None]:
    """Work that fails as the driver does."""

    def work(_connection: Connection) -> None:
        raise error("statement", {}, Exception("the driver's words"))

    return work


@pytest.mark.parametrize("method", ["read", "write"])
@pytest.mark.parametrize(
    ("error", "heard", "words"),
    [
        (OperationalError, StoreAwayError, "try again"),
        (DataError, InvalidRequestError, "the driver's words"),
        (IntegrityError, IntegrityError, "the driver's words"),
    ],
)
async def test_callers_hear_what_concerns_them(
    storage: Storage,
    method: str,
    error: type[Exception],
    heard: type[Exception],
    words: str,
) -> None:
    """A store that is away, a value that it can't hold; the rest is for whoever wrote the query."""
    with pytest.raises(heard, match=words):
        await getattr(storage, method)(raising(error))


# -- the operator's token ---------------------------------------------------------


async def test_the_operators_token_is_made_once(storage: Storage, tmp_path: Path) -> None:
    """It is written to a file that only its owner may read, and works."""
    file = OperatorTokenFile(tmp_path)
    path = operator_token_path(tmp_path)
    await ensure_operator_token(storage, file)
    token = path.read_text().strip()
    assert path.stat().st_mode & 0o077 == 0
    identity = await storage.read(lambda at: authenticate(at, token, NOON))
    assert identity == Identity(TokenKind.OPERATOR, bot_id=None, token_id=TokenId(1))
    await ensure_operator_token(storage, file)
    assert path.read_text().strip() == token
    assert await storage.read(lambda at: len(at.scalars(select(Token.id)).all())) == 1


async def test_a_file_that_others_could_read_is_closed_to_them(
    storage: Storage, tmp_path: Path
) -> None:
    """An older file's rights are not taken over."""
    path = operator_token_path(tmp_path)
    path.write_text("old\n")
    path.chmod(0o644)
    await ensure_operator_token(storage, OperatorTokenFile(tmp_path))
    assert path.stat().st_mode & 0o077 == 0
    assert path.read_text() != "old\n"


async def test_a_token_that_was_never_stored_is_made_again(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that dies before the commit leaves a file that the next one replaces."""
    path = operator_token_path(tmp_path)
    write = Storage.write

    async def fail(_storage: Storage, _work: Any) -> Any:
        raise RuntimeError("killed")

    monkeypatch.setattr(Storage, "write", fail)
    with pytest.raises(RuntimeError, match="killed"):
        await ensure_operator_token(storage, OperatorTokenFile(tmp_path))
    monkeypatch.setattr(Storage, "write", write)
    await ensure_operator_token(storage, OperatorTokenFile(tmp_path))
    token = path.read_text().strip()
    assert await storage.read(lambda at: authenticate(at, token, NOON)) is not None


@pytest.mark.parametrize("is_stored", [False, True])
async def test_a_rotation_that_was_cut_off_is_finished(
    storage: Storage, tmp_path: Path, *, is_stored: bool
) -> None:
    """Wherever a server dies while it rotates, the file holds the valid token after a start."""
    file = OperatorTokenFile(tmp_path)
    await ensure_operator_token(storage, file)
    new = NewToken("new", TokenKind.OPERATOR)
    replacing = file.replacing("new")
    replacing.__enter__()
    if is_stored:
        await storage.write(lambda to: add_token(to, new, NOON))
    await ensure_operator_token(storage, file)
    assert (file.path.read_text() == "new\n") is is_stored
    assert file.path.stat().st_mode & 0o077 == 0
    assert not file.path.with_name("operator.token.new").exists()
    token = file.path.read_text().strip()
    assert await storage.read(lambda at: authenticate(at, token, NOON)) is not None
