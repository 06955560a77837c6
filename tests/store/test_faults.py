"""The fault ledger."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.query_plans import plans

from meijin.game import Ending, Party
from meijin.store import Database
from meijin.store.faults import NewFault, add_faults, fault_of_game, fault_times, list_faults
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import BotId, EntryId, FaultKind, FaultParty, GameId

if TYPE_CHECKING:
    from tests.store.conftest import Scene


@pytest.fixture
def ledger(database: Database, scene: Scene) -> Scene:
    """The scene with a running game, a forfeit of ada in it, and two incidents."""
    crash = NewFault(
        kind=FaultKind.CRASH,
        party=FaultParty.BOT,
        detail="ValueError: odd",
        time=scene.now,
        evidence={"ply": 3},
        game_id=GameId(1),
        ending=Ending.CRASH,
        ply=3,
        version_id=scene.versions[0],
    )
    absence = NewFault(
        kind=FaultKind.ABSENCE,
        party=FaultParty.CONNECTION,
        detail="away for 2.0 s",
        time=scene.now + timedelta(hours=1),
        version_id=scene.versions[1],
    )
    outage = NewFault(
        kind=FaultKind.OUTAGE,
        party=FaultParty.SERVER,
        detail="the database did not answer for 41.0 s",
        time=scene.now,
    )
    starts = [scene.start(0, 1)]
    first = JournalEntry(EntryId(1), starts=starts, incidents=[absence])
    database.write(lambda to: commit_entry(to, first))
    database.write(lambda to: add_faults(to, [crash, outage]))
    return scene


def test_faults_are_listed_newest_first(database: Database, ledger: Scene) -> None:
    """With the bot that they concern, and without one where they concern none."""
    rows = database.read(partial(list_faults, limit=9))
    assert [(row.kind, row.bot, row.game_id) for row in rows] == [
        (FaultKind.OUTAGE, "", None),
        (FaultKind.CRASH, "ada", 1),
        (FaultKind.ABSENCE, "bob", None),
    ]
    crash = rows[1]
    assert (crash.party, crash.ending, crash.ply) == (FaultParty.BOT, Ending.CRASH, 3)
    assert (crash.detail, crash.evidence) == ("ValueError: odd", {"ply": 3})
    assert (crash.version, crash.create_time) == ("1.0", ledger.now)


def test_faults_are_paged(database: Database, ledger: Scene) -> None:
    """A page begins before the id that the last one ended with."""
    assert ledger.tournament_id
    first = database.read(partial(list_faults, limit=2))
    rest = database.read(partial(list_faults, limit=2, before=first[-1].id))
    assert [row.kind for row in rest] == [FaultKind.ABSENCE]


def test_faults_of_a_bot_or_a_game(database: Database, ledger: Scene) -> None:
    """The others are left out."""
    of_bot = database.read(partial(list_faults, limit=9, bot_id=ledger.bots[1]))
    assert [row.kind for row in of_bot] == [FaultKind.ABSENCE]
    of_game = database.read(partial(list_faults, limit=9, game_id=GameId(1)))
    assert [row.kind for row in of_game] == [FaultKind.CRASH]


def test_faults_of_a_kind(
    database: Database, ledger: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are left out, and so are those that are too far back to be looked at."""
    assert ledger.tournament_id
    of_kind = partial(list_faults, limit=9, kind=FaultKind.ABSENCE)
    assert [row.bot for row in database.read(of_kind)] == ["bob"]
    monkeypatch.setattr("meijin.store.faults.SEARCHED", 2)
    assert database.read(of_kind) == []


def test_the_times_of_the_last_faults(database: Database, ledger: Scene) -> None:
    """Those of one kind and one bot, oldest first."""
    later = ledger.now + timedelta(hours=2)
    for time in (ledger.now, later):
        fault = NewFault(
            kind=FaultKind.ABSENCE,
            party=FaultParty.CONNECTION,
            detail="away",
            time=time,
            version_id=ledger.versions[0],
        )
        database.write(partial(add_faults, faults=[fault]))
    times = partial(fault_times, bot_id=ledger.bots[0], kind=FaultKind.ABSENCE)
    assert database.read(partial(times, limit=5)) == [ledger.now, later]
    assert database.read(partial(times, limit=1)) == [later]


def test_a_bots_faults_are_read_by_their_kind(sqlite_url: str) -> None:
    """Each hello asks for them: those of other kinds, however many, cost nothing."""
    times = partial(fault_times, bot_id=BotId(1), kind=FaultKind.SUPPLIER, limit=5)
    with Database(sqlite_url) as database:
        database.migrate()
        with plans(database) as found:
            database.read(times)
    (plan,) = found
    assert "fault_of_version (version_id=? AND kind=?)" in plan


@pytest.mark.parametrize(
    ("ending", "at_fault", "fault"),
    [
        (Ending.TIME, Party.BLACK, (FaultKind.TIME, FaultParty.BOT)),
        (Ending.ILLEGAL, Party.WHITE, (FaultKind.ILLEGAL, FaultParty.BOT)),
        (Ending.FORBIDDEN, Party.BLACK, (FaultKind.FORBIDDEN, FaultParty.BOT)),
        (Ending.CRASH, Party.WHITE, (FaultKind.CRASH, FaultParty.BOT)),
        (Ending.DISCONNECT, Party.BLACK, (FaultKind.DISCONNECT, FaultParty.CONNECTION)),
        (Ending.VOID, Party.SERVER, (FaultKind.OUTAGE, FaultParty.SERVER)),
        (Ending.VOID, Party.NETWORK, (FaultKind.MASS_DISCONNECT, FaultParty.NETWORK)),
        (Ending.VOID, Party.SUPPLIER, (FaultKind.SUPPLIER, FaultParty.SUPPLIER)),
        (Ending.VOID, Party.OPERATOR, (FaultKind.VOIDED, FaultParty.OPERATOR)),
        (Ending.VOID, Party.NOBODY, None),
        (Ending.FIVE, Party.NOBODY, None),
        (Ending.RESIGN, Party.NOBODY, None),
    ],
)
def test_every_ending_off_the_board_is_a_fault(
    ending: Ending, at_fault: Party, fault: tuple[FaultKind, FaultParty] | None
) -> None:
    """A resignation is a bot's right, and a decided tournament nobody's fault."""
    assert fault_of_game(ending, at_fault) == fault
