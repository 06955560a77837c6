"""Chaos: random faults during a tournament; nothing is lost, and nobody is robbed."""

import os
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.conftest import PostgreSQL
from tests.system.books import Told, compare, unsent
from tests.system.chaos.campaign import Campaign
from tests.system.chaos.plan import POSTGRESQL_ONLY, Kind

from meijin.game import GOMOKU, Ending, Result, encode_moves

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
def test_nothing_is_lost_on_postgresql(tmp_path: Path, postgresql: PostgreSQL) -> None:
    """The same, shorter, on PostgreSQL, which is restarted and crashes."""
    campaign = Campaign(
        tmp_path, SEED, rounds=2, faults=12, kinds=WITH_POSTGRESQL, postgresql=postgresql
    )
    report = campaign.run()
    print(report)
    assert report.breaches == [], report


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
        variant=GOMOKU,
        opening_plies=0,
        moves=encode_moves([0, 1, 2]),
        result=Result.BLACK_WINS,
        ending=Ending.FIVE,
    )
    found = [*compare("ada", game, told), *unsent("ada", game, told)]
    assert [words[: len(breach)] for words in found] == [breach] * bool(breach)
