from datetime import UTC, datetime, timedelta

from meijin.server.views.faults import fault_groups
from meijin.store.faults import FaultRow
from meijin.store.schema import FaultKind, FaultParty

NOW = datetime(2026, 11, 27, tzinfo=UTC)


def fault(bot: str, detail: str, minutes: int = 0, kind: FaultKind = FaultKind.CRASH) -> FaultRow:
    return FaultRow(
        kind=kind,
        party=FaultParty.BOT,
        detail=detail,
        create_time=NOW - timedelta(minutes=minutes),
        bot=bot,
        version="1",
    )


def test_crashes_are_grouped_by_exception_and_place() -> None:
    """Whatever they say between; other faults by their kind."""
    newest = fault("ada", "KeyError: 17 (crowd.py, line 35)")
    groups = fault_groups(
        [
            newest,
            fault("bob", "KeyError: (3, 4) (crowd.py, line 35)", 1),
            fault("bob", "KeyError: 17 (crowd.py, line 36)", 2),
            fault("ada", "KeyError: 9 (crowd.py, line 35)", 3),
            fault("bob", "took 3.1 s", 4, FaultKind.TIME),
            fault("carl", "ValueError: 17 (crowd.py, line 35)", 5),
            fault("carl", "took 9 s", 6, FaultKind.TIME),
            fault("dora", "out of memory", 7),
            fault("dora", "out of memory", 8),
        ]
    )
    assert [(each.count, each.bots) for each in groups] == [
        (3, ("ada", "bob")),
        (1, ("bob",)),
        (2, ("bob", "carl")),
        (1, ("carl",)),
        (2, ("dora",)),
    ]
    assert (groups[0].newest, groups[0].first_time) == (newest, NOW - timedelta(minutes=3))
