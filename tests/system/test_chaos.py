"""Chaos: random faults during a tournament; nothing is lost, and nobody is robbed."""

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.system.chaos.arena import BOTS
from tests.system.chaos.campaign import Campaign
from tests.system.chaos.plan import EMBEDDED_ONLY, POSTGRESQL_ONLY, Kind, Target, plan

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
    """Thirty faults in 224 games of eight bots; SQLite on a disk of its own."""
    report = Campaign(tmp_path, SEED, rounds=8, faults=30).run()
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
