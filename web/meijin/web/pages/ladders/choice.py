"""What a visitor asks a table for: which lines, in which order."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter
from typing import TypeVar

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.refusals import bad_request
from meijin.web.request import PageRequest
from meijin.wire.standings import COLUMNS, MARKS, Column, marks

E = TypeVar("E", bound=Enum)


class Order(Enum):
    """Which end of a column comes first, as `aria-sort` names it."""

    ASCENDING = "ascending"
    DESCENDING = "descending"

    @property
    def reverse(self) -> "Order":
        return Order.ASCENDING if self is Order.DESCENDING else Order.DESCENDING

    @classmethod
    def first_of(cls, column: Column) -> "Order":
        """What a click on a column's head brings first."""
        return cls.ASCENDING if column.is_ascending else cls.DESCENDING


MAX_SPEED = 10**11
"""Nodes a second that may be asked for."""


class LineFilter(Enum):
    """Lines by what is known of them."""

    ALL = ""
    ESTABLISHED = "established"
    """Linked, and with games enough."""
    ANCHORS = "anchors"
    FAULTS = "faults"
    """Those that have forfeited games."""
    MARKED = "marked"
    """Those whose results are no plain strength."""


class Runner(Enum):
    """Who runs a bot's program."""

    ANYBODY = ""
    ARENA = "hosted"
    OWNER = "remote"

    @property
    def is_arena(self) -> bool | None:
        """Whether it is the arena; ``None`` where that makes no difference."""
        return None if self is Runner.ANYBODY else self is Runner.ARENA


@dataclass(frozen=True, slots=True)
class TableChoice:
    """Which lines of a table, in which order."""

    run: str = ""
    """An earlier run by its number; the published one when empty."""
    all_versions: bool = False
    search: str = ""
    """What the bot's name holds, or what people call it."""
    shown: Callable[[str], str] = str
    """What people call a bot of a name."""
    hardware: str = ""
    min_speed: int = 0
    """In nodes a second; 0 for any."""
    max_speed: int = 0
    runner: Runner = Runner.ANYBODY
    only: LineFilter = LineFilter.ALL
    column: Column = COLUMNS["rank"]
    order: Order = Order.ASCENDING

    @property
    def is_of_machines(self) -> bool:
        """Whether it is about what bots run on."""
        return bool(self.hardware or self.min_speed or self.max_speed)

    def request(self, ladder: str) -> pb.GetStandingsRequest:
        """The call for what the server chooses."""
        return pb.GetStandingsRequest(
            ladder=ladder,
            run_id=self.run,
            all_versions=self.all_versions,
            hardware=self.hardware,
            min_nodes_per_second=self.min_speed,
            max_nodes_per_second=self.max_speed,
            hosted=self.runner.is_arena,
        )

    def lines(self, table: Iterable[pb.Standing]) -> list[pb.Standing]:
        """The lines that are chosen, in order; those that the column says nothing of come last."""
        chosen = [row for row in table if self._names(row.bot) and self._admits(row)]
        keyed = [(self._key(line), line) for line in chosen]
        valued = [(key, line) for key, line in keyed if key is not None]
        valued.sort(key=itemgetter(0), reverse=self.order is Order.DESCENDING)
        return [line for _, line in valued] + [line for key, line in keyed if key is None]

    def _key(self, line: pb.Standing) -> str | float | None:
        """What orders a line: of bots, what people call them."""
        if self.column is COLUMNS["bot"]:
            return self.shown(line.bot).casefold()
        return self.column.key(line)

    def _names(self, bot: str) -> bool:
        search = self.search.casefold()
        return search in bot.casefold() or search in self.shown(bot).casefold()

    def _admits(self, row: pb.Standing) -> bool:
        match self.only:
            case LineFilter.ALL:
                return True
            case LineFilter.ESTABLISHED:
                return row.linked and not row.provisional
            case LineFilter.ANCHORS:
                return row.anchor
            case LineFilter.FAULTS:
                return row.faults > 0
            case LineFilter.MARKED:
                return any(MARKS[letter].is_warning for letter in marks(row))


def choice_of(request: PageRequest) -> TableChoice:
    """What an address asks for.

    Raises:
        Refusal: a parameter is none that a table has.
    """
    column = COLUMNS.get(request.text("sort", "rank"))
    if column is None:
        raise bad_request(f"sort must be one of {', '.join(COLUMNS)}")
    return TableChoice(
        run=request.text("run", most=20),
        all_versions=request.flag("versions"),
        search=request.text("q").strip(),
        shown=request.site.names.shown,
        hardware=request.text("hardware").strip(),
        min_speed=request.number("min_speed", 0, most=MAX_SPEED),
        max_speed=request.number("max_speed", 0, most=MAX_SPEED),
        runner=_member(Runner, request.text("runner"), "runner"),
        only=_member(LineFilter, request.text("only"), "only"),
        column=column,
        order=_member(Order, request.text("order") or Order.first_of(column).value, "order"),
    )


def _member(kind: type[E], value: str, name: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(str(each.value) for each in kind if each.value)
        raise bad_request(f"{name} must be one of {known}") from None
