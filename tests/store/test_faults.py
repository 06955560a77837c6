"""The fault ledger."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from tests.store.conftest import Scene

from meijin.game import Ending, Party, Result
from meijin.store import Database, faults
from meijin.store.faults import (
    VoidEvidence,
    add_faults,
    fault_groups,
    fault_of_game,
    fault_times,
    list_faults,
    signature_of,
)
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import (
    FAULT_SIGNATURE,
    EntryId,
    Fault,
    FaultKind,
    FaultParty,
    GameId,
)


def fault(kind: FaultKind, party: FaultParty, time: datetime, **more: Any) -> Fault:
    return Fault(kind=kind, party=party, detail="why", create_time=time, **more)


@pytest.fixture
def ledger(database: Database, scene: Scene) -> Scene:
    """The scene with a running game, a forfeit of ada in it, and two incidents."""
    ada, bob = scene.versions
    later = scene.now + timedelta(hours=1)
    absence = fault(FaultKind.ABSENCE, FaultParty.CONNECTION, later, version_id=bob)
    game = {"evidence": {"ply": 3}, "game_id": GameId(1), "ending": Ending.CRASH, "ply": 3}
    crash = fault(FaultKind.CRASH, FaultParty.BOT, scene.now, version_id=ada, **game)
    outage = fault(FaultKind.OUTAGE, FaultParty.SERVER, scene.now)
    first = JournalEntry(EntryId(1), starts=[scene.start(0, 1)], incidents=[absence])
    database.write(commit_entry, first)
    database.write(add_faults, [crash, outage])
    return scene


def test_faults_are_listed_newest_first(database: Database, ledger: Scene) -> None:
    """With the bot that they concern, and without one where they concern none; in pages."""
    rows = database.read(list_faults, limit=9)
    assert [(row.kind, row.bot, row.game_id) for row in rows] == [
        (FaultKind.OUTAGE, "", None),
        (FaultKind.CRASH, "ada", 1),
        (FaultKind.ABSENCE, "bob", None),
    ]
    crash = rows[1]
    assert (crash.party, crash.ending, crash.ply) == (FaultParty.BOT, Ending.CRASH, 3)
    assert (crash.detail, crash.evidence) == ("why", {"ply": 3})
    assert (crash.version, crash.create_time) == ("1.0", ledger.now)
    rest = database.read(list_faults, limit=2, before=crash.id)
    assert [row.kind for row in rest] == [FaultKind.ABSENCE]


def test_faults_of_a_bot_a_game_or_a_kind(
    database: Database, ledger: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are left out; of a kind those too that are too far back to be looked at."""

    def listed(**filters: Any) -> list[FaultKind]:
        return [row.kind for row in database.read(list_faults, limit=9, **filters)]

    assert listed(bot_id=ledger.bots[1]) == [FaultKind.ABSENCE]
    assert listed(game_id=GameId(1)) == [FaultKind.CRASH]
    assert listed(kind=FaultKind.ABSENCE) == [FaultKind.ABSENCE]
    monkeypatch.setattr("meijin.store.faults.SEARCHED", 2)
    assert listed(kind=FaultKind.ABSENCE) == []


def test_the_times_of_the_last_faults(database: Database, ledger: Scene) -> None:
    """Those of one kind and one bot, oldest first."""
    ada, later = ledger.versions[0], ledger.now + timedelta(hours=2)
    for time in (ledger.now, later):
        absence = fault(FaultKind.ABSENCE, FaultParty.CONNECTION, time, version_id=ada)
        database.write(add_faults, [absence])
    times = partial(fault_times, bot_id=ledger.bots[0], kind=FaultKind.ABSENCE)
    assert database.read(times, limit=5) == [ledger.now, later]
    assert database.read(times, limit=1) == [later]


@pytest.mark.parametrize(
    ("detail", "signature"),
    [
        ("KeyError: 17 (crowd.py, line 35)", "KeyError crowd.py:35"),
        ("KeyError: 'h8 (a.py, line 1)'\nb (crowd.py, line 35)", "KeyError crowd.py:35"),
        ("numpy.Odd (crowd.py, line 35)", "numpy.Odd crowd.py:35"),
        ("out of memory", "out of memory"),
        ("x" * 100_000, "x" * FAULT_SIGNATURE),  # which takes no time
        ("took 3.125 s, 1:02 too long", "took … s, … too long"),
        ('h8 is taken, says "eve\'s"', "… is taken, says …"),
        ("a" * 200, "a" * 80),
        ("", ""),
    ],
)
def test_what_faults_have_in_common(detail: str, signature: str) -> None:
    """Of an exception its name and its place; of a sentence what does not change."""
    assert signature_of(detail) == signature


def test_faults_are_grouped(
    database: Database, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By kind and cause, the newest first, over all versions of a bot or of all; in pages."""
    monkeypatch.setattr(faults, "NAMED_AT_ONCE", 1)
    ada, bob = scene.versions
    told = [
        (FaultKind.CRASH, "KeyError: 1 (crowd.py, line 35)", ada),
        (FaultKind.CRASH, "KeyError: 2 (crowd.py, line 36)", ada),
        (FaultKind.STALL, "stood still for 3 s", None),
        (FaultKind.CRASH, "KeyError: 3 (crowd.py, line 35)", bob),
        (FaultKind.STALL, "stood still for 4 s", None),
        (FaultKind.CRASH, "KeyError: 4 (crowd.py, line 35)", ada),
    ]
    for hour, (kind, detail, version) in enumerate(told):
        row = fault(kind, FaultParty.BOT, scene.now + timedelta(hours=hour), version_id=version)
        database.write(add_faults, [replace(row, detail=detail)])

    def found(**filters: Any) -> list[tuple[str, int, int, Sequence[str]]]:
        groups = database.read(partial(fault_groups, **{"limit": 9} | filters))
        return [
            (
                each.newest.signature,
                each.count,
                (each.newest.create_time - each.first_time) // timedelta(hours=1),
                each.bots,
            )
            for each in groups
        ]

    crash = ("KeyError crowd.py:35", 3, 5, ["bob", "ada"])
    stall: tuple[str, int, int, Sequence[str]] = ("stood still for … s", 2, 2, [])
    other = ("KeyError crowd.py:36", 1, 0, ["ada"])
    assert found() == [crash, stall, other]
    assert found(bot_id=scene.bots[0]) == [("KeyError crowd.py:35", 2, 5, ["ada"]), other]
    assert found(kind=FaultKind.STALL) == [stall]
    assert found(limit=1) == [crash]
    last = database.read(fault_groups, limit=1)[0].newest.id
    assert found(before=last) == [stall, other]


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


def test_evidence_comes_back_from_json() -> None:
    """In words that databases hold already; a game voided while it ran had no result."""
    evidence = VoidEvidence("why", Result.WHITE_WINS, Ending.TIME, Party.BLACK, "late")
    text = json.dumps(evidence.to_json())
    before = {"result": "0-1", "ending": "time", "at_fault": "black", "detail": "late"}
    assert json.loads(text) == {"reason": "why", **before}
    assert VoidEvidence.from_json(json.loads(text)) == evidence
    assert VoidEvidence.from_json({"ply": 3, "detail": "the tournament was cancelled"}) is None
