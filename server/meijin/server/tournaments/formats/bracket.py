"""A bracket: who meets whom round by round, until one is left.

The seeds stand as usual: the first can meet the second in the last round alone, and the first
seeds have byes where the field is no power of two. A tie is some pairs of games, and further ones
while it is level; when these are used up, the better seed goes on. So every bracket ends with one
winner, whatever the results.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from meijin.server.tournaments.formats.pairs import Played
from meijin.server.tournaments.formats.report import Meeting
from meijin.store.schema import BotId

BY_SEED = "level, so the better seed goes on"
BEFORE_VOID = "went on before a game was voided"


@dataclass(slots=True)
class Tie(Meeting):
    """Two places of a bracket, and the games of those who stand there."""

    pairs: Sequence[Played] = ()
    wanted: int = 0
    """How many more pairs of games are to be planned now."""


@dataclass(slots=True)
class Bracket:
    """All ties, as the results make them.

    Who goes on is decided by the results of a tie, until games of the next round are planned for
    a winner: it stays where it is, even when a game is voided and played again.
    """

    bots: Sequence[BotId]
    """In the order of their seeds."""
    pairs: int
    """Pairs of games of a tie."""
    extra_pairs: int
    """Further ones, one by one, while it is level."""
    played: list[Played] = field(default_factory=list)
    """In the order in which they were planned."""

    def ties(self) -> list[Tie]:
        """Every tie by its number: the first round's from the top, then the next round's."""
        by_tie: defaultdict[tuple[int, frozenset[BotId]], list[Played]] = defaultdict(list)
        busy: defaultdict[int, set[BotId]] = defaultdict(set)
        for pair in self.played:
            by_tie[pair.round, pair.bots].append(pair)
            busy[pair.round] |= pair.bots
        ties: list[Tie] = []
        current = self._first_round()
        while current:
            for tie in current:
                if tie.first is not None and tie.second is not None:
                    tie.pairs = by_tie.get((tie.round, frozenset((tie.first, tie.second))), ())
                    self._decide(tie, tie.first, tie.second, busy[tie.round + 1])
            ties += current
            current = _next_round(current, len(ties))
        return ties

    def _first_round(self) -> list[Tie]:
        order = _seed_order(len(self.bots))
        ties = []
        for number, (one, other) in enumerate(zip(order[::2], order[1::2], strict=True), start=1):
            tie = Tie(1, number, self.bots[one - 1], None)
            if other <= len(self.bots):
                tie.second = self.bots[other - 1]
            else:
                tie.is_bye, tie.is_over, tie.winner = True, True, tie.first
            ties.append(tie)
        return ties

    def _decide(self, tie: Tie, first: BotId, second: BotId, gone_on: set[BotId]) -> None:
        is_over = all(pair.is_over for pair in tie.pairs)
        points = [sum(pair.points_of(bot) for pair in tie.pairs) for bot in (first, second)]
        tie.first_points, tie.second_points = points
        is_level = points[0] == points[1]
        leader = first if points[0] > points[1] else second
        if is_level:
            leader = min(first, second, key=self.bots.index)
        stays = next((bot_id for bot_id in (first, second) if bot_id in gone_on), None)
        if stays is not None:
            tie.winner = stays
            if is_over and (is_level or stays != leader):
                tie.note = BY_SEED if stays == leader else BEFORE_VOID
        elif not is_over:
            return
        elif len(tie.pairs) < self.pairs:
            tie.wanted = self.pairs - len(tie.pairs)
        elif is_level and len(tie.pairs) < self.pairs + self.extra_pairs:
            tie.wanted = 1
        else:
            tie.winner, tie.note = leader, BY_SEED if is_level else ""
        tie.is_over = is_over and tie.winner is not None


def _seed_order(bots: int) -> list[int]:
    """The seeds of a bracket from the top, such as 1, 4, 2, 3: a power of two of them."""
    order = [1, 2]
    while len(order) < bots:
        seeds = 2 * len(order) + 1
        order = [each for seed in order for each in (seed, seeds - seed)]
    return order


def _next_round(ties: Sequence[Tie], last: int) -> list[Tie]:
    """The ties that the winners of a round meet in; none after the last one."""
    if len(ties) == 1:
        return []
    following = []
    for place, (one, other) in enumerate(zip(ties[::2], ties[1::2], strict=True), start=1):
        one.next = other.next = last + place
        following.append(Tie(one.round + 1, last + place, one.winner, other.winner))
    return following
