"""Programs that may be called are known soon after somebody has changed them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from structlog.testing import capture_logs

from meijin.programs.kinds import ProgramKind
from meijin.server.tournaments.program_watch import ProgramWatch
from meijin.store.programs.players import CallableRow, callable_ids
from meijin.store.schema import BotId, ProgramId


class Store:
    """What the store says of programs, by their ids; and seats that are told of them."""

    def __init__(self) -> None:
        self.hellos: dict[int, Any] = {}
        self.read_ids: list[list[int]] = []
        self.told: list[list[int]] = []
        self.looks = 0

    async def read(self, query: object, *arguments: Any) -> Any:
        if query is callable_ids:
            return dict.fromkeys(map(ProgramId, self.hellos))
        (ids,) = arguments
        self.read_ids.append(list(ids))
        return [self.row(key) for key in ids]

    def row(self, key: int) -> CallableRow:
        values: dict[str, Any] = dict.fromkeys(("digest", "file_name", "label", "bot"), "")
        values |= {"id": ProgramId(key), "bot_id": BotId(key), "kind": ProgramKind.SCRIPT}
        values |= {"owner_id": None, "size": 1, "version_id": None, "is_hidden": False}
        return cast("CallableRow", type("Row", (), values | {"hello": self.hellos[key]}))

    def set_programs(self, programs: Any) -> None:
        self.told.append([each.program_id for each in programs])

    def look(self) -> None:
        self.looks += 1


def watch(store: Store) -> ProgramWatch:
    return ProgramWatch(cast("Any", store), cast("Any", store), cpu_quota=timedelta(hours=1))


async def test_what_is_new_is_read() -> None:
    """And nothing else: a look costs a query where nothing has changed."""
    store = Store()
    programs = watch(store)
    store.hellos = {1: {}, 2: {"capabilities": {"max_board_size": 19}}}
    await programs.look()
    await programs.look()
    store.hellos = {2: {}, 3: {}}
    await programs.look()
    assert store.read_ids == [[1, 2], [3]]
    assert store.told == [[1, 2], [2, 3]]
    assert store.looks == 3


async def test_one_that_cannot_be_read_keeps_nobody_else_away() -> None:
    """An operator is told of it, and what to do."""
    store = Store()
    store.hellos = {1: {"capabilities": {"min_board_size": 19, "max_board_size": 15}}, 2: {}}
    programs = watch(store)
    with capture_logs() as logs:
        await programs.look()
        await programs.look()
    assert store.told == [[2]]
    assert [entry["program"] for entry in logs] == [1]
