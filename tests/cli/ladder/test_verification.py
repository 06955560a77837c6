"""What `meijin ladder verify` says of heads."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from meijin.cli.ladder.verification import head_lines
from meijin.ladder.verification.heads import CheckedHead
from meijin.store.ladders.heads import Head

FIRST = Head("rao-kupper-3", "caro", date(2026, 1, 1), 9, 8, 0, "ab")
SECOND = replace(FIRST, day=FIRST.day + timedelta(days=1), cutoff=20, games=19, chain="cd")
KEPT = [CheckedHead(each, each.games, each.chain, ()) for each in (FIRST, SECOND)]
OTHER = [replace(each, chain="ef") for each in KEPT]
REWRITTEN = "caro: REWRITTEN: of its head of {} the games are others: kept {}, computed {}"


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (KEPT, ["caro: the 19 games up to 2026-01-02 are those of its head"]),
        (
            [KEPT[0], OTHER[1]],
            [
                REWRITTEN.format("2026-01-02", "19 and cd", "19 and ef"),
                "the 8 games up to 2026-01-01 are those of its head",
            ],
        ),
        (
            OTHER,
            [
                REWRITTEN.format("2026-01-01", "8 and ab", "8 and ef"),
                "no earlier head says since when",
            ],
        ),
        (
            [replace(KEPT[0], voids=('game 3: "a test"', 'game 4: "another"'))],
            [
                "caro: the 8 games up to 2026-01-01 are those of its head",
                'voided since by an operator: game 3: "a test"; game 4: "another"',
            ],
        ),
    ],
    ids=["kept", "rewritten since the first", "rewritten", "voids"],
)
def test_lines_tell_until_when_history_is_the_same(
    found: list[CheckedHead], lines: list[str]
) -> None:
    assert list(head_lines(found)) == lines
