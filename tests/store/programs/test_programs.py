"""Programs of bots, kept once, listed and changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.store.conftest import NOON, AddBots

from meijin.programs.kinds import ProgramKind
from meijin.store import Database, bots
from meijin.store.access.owners import add_owner
from meijin.store.errors import RowNotFoundError
from meijin.store.programs import programs
from meijin.store.programs.programs import NewProgram, ProgramHoldings, ProgramRow
from meijin.store.schema import BotId, ProgramId, ProgramState

LATER = NOON + timedelta(hours=1)


def new(bot_id: BotId, digest: str = "a" * 64, **changes: Any) -> NewProgram:
    plain = NewProgram(
        bot_id=bot_id,
        digest=digest,
        kind=ProgramKind.SCRIPT,
        size=100,
        file_name="bot.py",
        label="1.0",
        uploader="owner eve",
    )
    return replace(plain, **changes)


def add(database: Database, made: NewProgram) -> ProgramRow:
    row, was_there = database.write(programs.add_program, made, NOON)
    assert not was_there
    return row


def get(database: Database, program_id: ProgramId) -> ProgramRow:
    return database.read(programs.get_program, program_id)


def test_a_digest_of_a_bot_is_kept_once(database: Database, add_bots: AddBots) -> None:
    """It stays as it was; another bot has one of its own."""
    ada, bob = add_bots("ada", "bob")
    first = add(database, new(ada))
    again = database.write(programs.add_program, new(ada, label="2.0"), LATER)
    assert again == (first, True)
    other = add(database, new(bob))
    assert (first.bot, first.label, other.bot) == ("ada", "1.0", "bob")


def test_a_retired_program_may_come_again(database: Database, add_bots: AddBots) -> None:
    """It is examined anew, under the id that it had."""
    (ada,) = add_bots("ada")
    first = add(database, new(ada))
    assert database.write(programs.retire, first, NOON)
    row, was_there = database.write(programs.add_program, new(ada, label="2.0"), LATER)
    assert (row.id, row.state, was_there) == (first.id, ProgramState.UPLOADED, False)
    assert (row.label, row.create_time, row.update_time) == ("2.0", LATER, LATER)


def test_programs_are_listed_newest_first(database: Database, add_bots: AddBots) -> None:
    """Of a bot, of an owner or in a state, and from one on."""
    (bob,) = add_bots("bob")
    eve = database.write(add_owner, "eve", NOON)
    ada = database.write(bots.add_bot, "ada", NOON, owner_id=eve)
    one, two, three = (
        add(database, new(bot_id, digit * 64)).id
        for bot_id, digit in ((ada, "1"), (bob, "2"), (ada, "3"))
    )
    assert database.write(programs.retire, get(database, one), NOON)

    def listed(**bounds: Any) -> list[ProgramId]:
        return [row.id for row in database.read(programs.list_programs, limit=10, **bounds)]

    assert listed() == [three, two, one]
    assert listed(before=three) == [two, one]
    assert listed(bot_id=bob) == [two]
    assert listed(owner_id=eve) == [three, one]
    assert listed(state=ProgramState.RETIRED) == [one]


def test_only_an_admitted_program_is_played_with(database: Database, add_bots: AddBots) -> None:
    """A suspended one keeps its place, and a retired one loses it."""
    (ada,) = add_bots("ada")
    first = add(database, new(ada))
    database.write(programs.make_current, first)
    assert get(database, first.id).is_current
    assert database.read(programs.current_program, ada) is None
    for state in (ProgramState.ADMITTED, ProgramState.SUSPENDED, ProgramState.ADMITTED):
        assert database.write(programs.set_state, get(database, first.id), state, LATER)
        found = database.read(programs.current_program, ada)
        assert (found is not None) is (state is ProgramState.ADMITTED)
    assert database.write(programs.retire, get(database, first.id), LATER)
    assert not get(database, first.id).is_current


def test_a_state_that_has_changed_meanwhile_stays(database: Database, add_bots: AddBots) -> None:
    """Who has read another state is told, and changes nothing."""
    (ada,) = add_bots("ada")
    seen = add(database, new(ada))
    assert database.write(programs.set_state, seen, ProgramState.SUSPENDED, LATER, "spam")
    assert not database.write(programs.set_state, seen, ProgramState.ADMITTED, LATER)
    assert not database.write(programs.retire, seen, LATER)
    now = get(database, seen.id)
    assert (now.state, now.reason) == (ProgramState.SUSPENDED, "spam")


def test_holdings_are_an_owners_or_a_lone_bots(database: Database, add_bots: AddBots) -> None:
    """What is retired counts for nobody, and its bytes are not kept."""
    (bob,) = add_bots("bob")
    eve = database.write(add_owner, "eve", NOON)
    ada, zoe = (database.write(bots.add_bot, name, NOON, owner_id=eve) for name in ("ada", "zoe"))
    gone = add(database, new(ada, "1" * 64))
    database.write(programs.retire, gone, NOON)
    for bot_id, digit in ((ada, "2"), (zoe, "3"), (bob, "4")):
        add(database, new(bot_id, digit * 64))
    read = database.read
    assert read(programs.holdings, bot_id=ada, owner_id=eve) == ProgramHoldings(2, 200)
    assert read(programs.holdings, bot_id=bob, owner_id=None) == ProgramHoldings(1, 100)
    assert read(programs.digests_in_use) == {digit * 64 for digit in "234"}


def test_an_unknown_program_is_told(database: Database) -> None:
    with pytest.raises(RowNotFoundError, match="no program 7; list the programs"):
        get(database, ProgramId(7))
