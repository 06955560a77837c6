"""The store as coroutines see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DataError, IntegrityError, OperationalError
from tests.conftest import PATIENCE

from meijin.server.errors import (
    InvalidRequestError,
    NotFoundError,
    StoreAwayError,
    WrongStateError,
)
from meijin.server.process.operator_token import (
    OperatorTokenFile,
    ensure_operator_token,
)
from meijin.server.storage import Storage
from meijin.store.access.tokens import Identity, add_token, authenticate
from meijin.store.errors import NoRunError, RowNotFoundError
from meijin.store.schema import Owner, Token, TokenId, TokenKind

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def add(name: str) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        connection.execute(
            text("INSERT INTO owner (name, create_time) VALUES (:name, '2026-01-01 00:00:00')"),
            {"name": name},
        )

    return work


def names(connection: Connection) -> list[str]:
    return list(connection.scalars(select(Owner.name).order_by(Owner.id)))


DRIVER: Any = ("statement", {}, Exception("the driver's words"))


@pytest.mark.parametrize(
    ("error", "heard", "words"),
    [
        (RowNotFoundError("no bot"), NotFoundError, "^no bot$"),
        (NoRunError("no run yet"), WrongStateError, "^no run yet$"),
        (OperationalError(*DRIVER), StoreAwayError, "try again"),
        (DataError(*DRIVER), InvalidRequestError, "the driver's words"),
        (IntegrityError(*DRIVER), IntegrityError, "the driver's words"),
    ],
)
async def test_callers_hear_what_concerns_them(
    storage: Storage, error: Exception, heard: type[Exception], words: str
) -> None:
    """Of reads and writes: what isn't there, a store that is away, a value that it can't hold.

    The rest is for whoever wrote the query.
    """

    def fail(_connection: Connection) -> None:
        raise error

    for access in (storage.read, storage.write):
        with pytest.raises(heard, match=words):
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


# -- the operator's token ---------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> OperatorTokenFile:
    return OperatorTokenFile(tmp_path)


async def test_the_operators_token_is_made_once(storage: Storage, file: OperatorTokenFile) -> None:
    """It is written to a file that only its owner may read, and works."""
    path = file.path
    await ensure_operator_token(storage, file)
    token = path.read_text().strip()
    assert path.stat().st_mode & 0o077 == 0
    identity = await storage.read(lambda at: authenticate(at, token, NOON))
    assert identity == Identity(TokenKind.OPERATOR, bot_id=None, token_id=TokenId(1))
    await ensure_operator_token(storage, file)
    assert path.read_text().strip() == token
    assert await storage.read(lambda at: len(at.scalars(select(Token.id)).all())) == 1


async def test_a_file_that_others_could_read_is_closed_to_them(
    storage: Storage, file: OperatorTokenFile
) -> None:
    """An older file's rights are not taken over."""
    file.path.write_text("old\n")
    file.path.chmod(0o644)
    await ensure_operator_token(storage, file)
    assert file.path.stat().st_mode & 0o077 == 0
    assert file.path.read_text() != "old\n"


@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize("has_one", [False, True])
async def test_a_new_token_that_was_cut_off_is_settled(
    storage: Storage, file: OperatorTokenFile, *, is_stored: bool, has_one: bool
) -> None:
    """Wherever a server dies while it makes one, the file holds the valid token after a start."""
    if has_one:
        await ensure_operator_token(storage, file)
    replacing = file.replacing("new")
    replacing.__enter__()
    if is_stored:
        await storage.write(add_token, "new", TokenKind.OPERATOR, NOON)
    await ensure_operator_token(storage, file)
    assert (file.path.read_text() == "new\n") is is_stored
    assert file.path.stat().st_mode & 0o077 == 0
    assert not file.path.with_name("operator.token.new").exists()
    token = file.path.read_text().strip()
    assert await storage.read(lambda at: authenticate(at, token, NOON)) is not None
