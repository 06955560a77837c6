"""The Dutch system: who meets whom in the next round, by points.

Bots with the same points are a group, whose upper half meets its lower half: the first of the
upper half the first of the lower one, and so on. Whoever is left over goes down to the next
group. As many as can be are paired within their group, as long as all others still can be.

Nobody meets the same opponent twice, or has a second bye, while that can be avoided; and then
nobody begins with one colour two times more often than with the other while that can be avoided.
All of it is decided for a whole round by maximum matchings, so that a round of many bots takes
polynomial time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from meijin.server.tournaments.formats.matching import Graph, Matching
from meijin.store.schema import BotId


@dataclass(slots=True)
class Entry:
    """One bot before a round."""

    bot_id: BotId
    points: float = 0.0
    opponents: set[BotId] = field(default_factory=set)
    balance: int = 0
    """How much more often it was the first of a meeting, who begins with black, than the second."""
    was_first: bool = False
    """It was so in its last meeting."""
    byes: int = 0

    def has_met(self, other: "Entry") -> bool:
        return other.bot_id in self.opponents

    def wants_same(self, other: "Entry") -> bool:
        """Whether one of the two would be out of balance after a meeting."""
        return self.balance * other.balance > 0


Pair = tuple[int, int]
May = Callable[[Entry, Entry], bool]


def next_round(entries: Sequence[Entry]) -> Sequence[tuple[Entry, Entry]]:
    """Pair bots: the first of each two begins with black; those with the most points come first.

    With an odd number of them the bye goes to the one with the fewest byes so far, of these to
    the one with the fewest points, and of these to the last seed, as long as the others can
    be paired.

    Args:
        entries: In the order of their seeds.
    """
    field_ = sorted(entries, key=lambda entry: -entry.points)
    fewest = min(entry.byes for entry in entries)
    byes = _byes(field_)
    first = [at for at in byes if at is None or field_[at].byes == fewest]
    for choice, may in ((first, _balanced), (first, _new), (byes, _new), (byes, _any)):
        graph = [
            [place for place, other in enumerate(field_) if other is not one and may(one, other)]
            for one in field_
        ]
        for bye in choice:
            matching = Matching(graph, (place for place, _ in enumerate(field_) if place != bye))
            if matching.size == len(field_) // 2:
                pairs = _Pairing(field_, graph, matching, bye).pairs()
                meetings = [(field_[one], field_[other]) for one, other in pairs]
                return [_in_order(*pair, board) for board, pair in enumerate(meetings)]
    raise AssertionError("any two bots may meet")


def _balanced(one: Entry, other: Entry) -> bool:
    return not one.has_met(other) and not one.wants_same(other)


def _new(one: Entry, other: Entry) -> bool:
    return not one.has_met(other)


def _any(_one: Entry, _other: Entry) -> bool:
    return True


def _byes(entries: Sequence[Entry]) -> Sequence[int | None]:
    """Who may have the bye, in the order of preference; nobody where all are paired."""
    if len(entries) % 2 == 0:
        return [None]
    places = range(len(entries) - 1, -1, -1)
    return sorted(places, key=lambda place: entries[place].byes)


class _Pairing:
    """Pairs the bots of a field from the top.

    Args:
        entries: By points.
        graph: Who may meet whom, by places.
        rest: A perfect matching of all that are to be paired.
    """

    def __init__(
        self, entries: Sequence[Entry], graph: Graph, rest: Matching, bye: int | None
    ) -> None:
        self._entries = entries
        self._graph = graph
        self._neighbours = [frozenset(places) for places in graph]
        self._rest = rest
        self._places = [place for place, _ in enumerate(entries) if place != bye]

    def pairs(self) -> list[Pair]:
        """Every pair, those with the most points first."""
        found: list[Pair] = []
        floaters: list[int] = []
        while self._places:
            points = self._entries[self._places[0]].points
            group = [at for at in self._places if self._entries[at].points == points]
            self._places = self._places[len(group) :]
            floaters = self._pair_group(floaters + group, found)
        return found

    def _pair_group(self, group: list[int], found: list[Pair]) -> list[int]:
        """Pair as many of a group and those who came down to it; return who goes down."""
        bracket = Matching(self._graph, group)
        down: list[int] = []
        while group:
            one = group[0]
            for other in self._candidates(group):
                rest = self._rest.without(one, other)
                if rest.size < self._rest.size - 1:
                    continue
                smaller = bracket.without(one, other)
                if smaller.size == bracket.size - 1:
                    bracket, self._rest = smaller, rest
                    found.append((one, other))
                    group = [at for at in group[1:] if at != other]
                    break
            else:
                bracket = bracket.without(one)
                down.append(one)
                group = group[1:]
        return down

    def _candidates(self, group: Sequence[int]) -> list[int]:
        """Whom the first of a group may meet, in the order of preference."""
        one, *others = group
        points = self._entries[one].points
        if self._entries[group[-1]].points == points:
            half = len(group) // 2
            others = [*group[half:], *reversed(group[1:half])] if half else []
        else:  # who came down meets the best of the group
            others = sorted(others, key=lambda at: self._entries[at].points == points)
        may = [at for at in others if at in self._neighbours[one]]
        return sorted(may, key=lambda at: self._trouble(one, at))

    def _trouble(self, one: int, other: int) -> tuple[bool, bool]:
        """What speaks against a pair, where not all of it can be avoided."""
        first, second = self._entries[one], self._entries[other]
        return first.has_met(second), first.wants_same(second)


def _in_order(one: Entry, other: Entry, board: int) -> tuple[Entry, Entry]:
    """The two of a meeting, the one first that is to begin with black.

    That is who did so less often; else who did not do so the last time; else they take turns
    from board to board.
    """
    if one.balance != other.balance:
        is_first = one.balance < other.balance
    elif one.opponents and other.opponents and one.was_first != other.was_first:
        is_first = not one.was_first
    else:
        is_first = board % 2 == 0
    return (one, other) if is_first else (other, one)
