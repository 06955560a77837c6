"""Chaos: random faults during a tournament; nothing is lost, and nobody is robbed."""

import errno
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.system.chaos.arena import BOTS
from tests.system.chaos.audit import Told, Window, compare
from tests.system.chaos.campaign import Campaign
from tests.system.chaos.failing_disk import CALLS, FailingDisk, Schedule
from tests.system.chaos.plan import EMBEDDED_ONLY, POSTGRESQL_ONLY, Kind, Target, plan
from tests.system.chaos.stepped_clock import SteppedClock

from meijin.game import Ending, Result, encode_moves

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL

SEED = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(1_000_000))
"""Another one each time; the one that is printed with a failure repeats its plan."""

WITH_POSTGRESQL = POSTGRESQL_ONLY | {
    Kind.SERVER_KILLED,
    Kind.SERVER_STOPPED,
    Kind.WORKER_KILLED,
    Kind.CONNECTION_CUT,
    Kind.CONNECTIONS_CUT,
    Kind.BOT_KILLED,
}
"""The kinds of faults in which another database may make a difference."""


@pytest.mark.timeout(1800)
def test_nothing_is_lost_and_nobody_is_robbed(tmp_path: Path) -> None:
    """Two and twenty faults in 168 games of eight bots; SQLite on a disk of its own."""
    report = Campaign(tmp_path, SEED, rounds=6, faults=22).run()
    print(report)
    assert report.breaches == [], report


@pytest.mark.timeout(1800)
def test_nothing_is_lost_on_postgresql(tmp_path: Path, postgresql: "PostgreSQL") -> None:
    """The same, shorter, on PostgreSQL, which is restarted and crashes."""
    campaign = Campaign(
        tmp_path, SEED, rounds=2, faults=12, kinds=WITH_POSTGRESQL, postgresql=postgresql
    )
    report = campaign.run()
    print(report)
    assert report.breaches == [], report


@pytest.mark.parametrize("others", [EMBEDDED_ONLY, POSTGRESQL_ONLY])
def test_a_plan_follows_from_its_seed(others: set[Kind]) -> None:
    """It has each kind of fault that is possible, and pairs them with sense."""
    kinds = set(Kind) - others
    for seed in range(100):
        steps = plan(seed, kinds, BOTS, 30)
        assert steps == plan(seed, set(kinds), BOTS, 30)
        drawn = [injection for step in steps for injection in step]
        assert len(drawn) == 30
        assert {injection.kind for injection in drawn} == kinds
        assert all((injection.victim in BOTS) == injection.kind.has_victim for injection in drawn)
        targets = [[injection.kind.target for injection in step] for step in steps]
        assert all(found == sorted(set(found)) for found in targets)
        assert [Target.SERVER, Target.QUEUE] not in targets
    assert plan(1, kinds, BOTS, 30) != plan(2, kinds, BOTS, 30)


@pytest.mark.parametrize(
    ("told", "breach"),
    [
        (Told(["", "00000100"], {(0, 0), (2, 2)}, ["1-0 five"]), ""),
        (Told(["", "00000100"], {(0, 0), (2, 2)}, []), ""),
        (Told(["", "00000500"], {(0, 0), (2, 2)}, []), "was told 00000500, stored is 000001000200"),
        (Told(["00000100", ""], {(0, 0), (2, 2)}, []), "was told 00000100 and then "),
        (Told(["0000"], {(0, 0), (2, 2)}, []), "was asked for the other side's ply 1"),
        (Told([""], {(0, 0), (2, 3)}, []), "never sent 2 at ply 2, which is stored"),
        (Told([""], {(0, 0), (2, 2)}, ["1/2-1/2 draw"]), "was told ['1/2-1/2 draw'], stored is"),
    ],
)
def test_a_journal_is_held_against_the_record(told: Told, breach: str) -> None:
    """Each way in which they can differ is found."""
    game = SimpleNamespace(
        black="ada",
        white="fred",
        opening_plies=0,
        moves=encode_moves([0, 1, 2]),
        result=Result.BLACK_WINS,
        ending=Ending.FIVE,
    )
    found = list(compare("ada", game, told))
    assert [words[: len(breach)] for words in found] == [breach] * bool(breach)


def test_a_fault_explains_forfeits_of_its_victim_alone() -> None:
    """In the games that ran when it struck, or began before it was mended."""
    window = Window(victims={"ada"}, running={3}, last_before=5, last=8)
    assert [game for game in range(10) if window.explains("ada", game)] == [3, 6, 7, 8]
    assert not any(window.explains("fred", game) for game in range(10))


def test_a_failing_disk_fails_while_it_is_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the schedule of a seed: an error, less than all, or late; and then no more."""
    disk = FailingDisk(tmp_path)
    monkeypatch.setattr(time, "sleep", lambda _: happened.append("late"))
    for name in CALLS:
        monkeypatch.setattr(os, name, getattr(os, name))  # is put back
    Schedule(tmp_path / "failing-disk").install()
    schedules = []
    with (tmp_path / "log").open("wb") as file:
        for seed in (7, 7, 8, 0):
            happened: list[object] = []
            disk.mend()
            os.pwrite(file.fileno(), b"12", 0)
            disk.fail(seed)
            for _ in range(100):
                try:
                    happened.append(os.pwrite(file.fileno(), b"12", 0))
                    os.fdatasync(file.fileno())
                except OSError as error:
                    happened.append(error.errno)
            schedules.append(happened)
    first, again, other, none = schedules
    assert first == again != other
    assert set(first) == {1, 2, errno.EIO, errno.ENOSPC, "late"}
    assert set(none) == {2}


@pytest.mark.skipif(not SteppedClock.is_possible(), reason="needs cc, the C compiler")
def test_a_stepped_clock_shows_another_hour(tmp_path: Path) -> None:
    """The monotonic clock is left as it is."""
    clock = SteppedClock(tmp_path)
    clock.step(-3600)
    program = "import time; print(time.time(), time.monotonic())"
    command = [sys.executable, "-c", program]
    environment = os.environ | clock.environment
    before = time.time(), time.monotonic()
    shown = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    after = time.time(), time.monotonic()
    wall, monotonic = map(float, shown.stdout.split())
    assert before[0] <= wall + 3600 <= after[0]
    assert before[1] <= monotonic <= after[1]
