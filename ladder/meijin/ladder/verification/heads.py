"""Heads that somebody has kept, against the games that a database has now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Connection

from meijin.ladder.algorithms.registry import find_algorithm
from meijin.ladder.tally import Tally
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.games import logged_games, voids_since
from meijin.store.ladders.heads import MAGIC, Head


@dataclass(frozen=True, slots=True)
class CheckedHead:
    """A head, and what its games come to now."""

    head: Head
    games: int
    chain: str
    voids: Sequence[str]
    """The games up to it that were voided since, a sentence each."""

    @property
    def is_kept(self) -> bool:
        """The games are those that they were."""
        return (self.games, self.chain) == (self.head.games, self.head.chain)


def heads_in(text: str) -> list[Head]:
    """Those among the lines of a text, such as a signed file.

    Raises:
        ValueError: a line begins as a head, and is none.
    """
    return [Head.parse(line) for line in text.splitlines() if line.startswith(MAGIC)]


def check_heads(url: str, heads: Sequence[Head]) -> list[CheckedHead]:
    """Chain the games anew up to each head, the first game first.

    Games that were voided since count as they did, by what is kept of each void.

    Raises:
        UnknownLadderError: the database has no ladder of a head's name.
        UnknownAlgorithmError: a head is of another release.
    """
    with Database(url) as database:
        return database.read(_checked, sorted(heads, key=_order))


def _order(head: Head) -> tuple[str, int, str, int]:
    return head.ladder, head.voided, head.algorithm, head.cutoff


def _checked(connection: Connection, heads: Sequence[Head]) -> list[CheckedHead]:
    found: list[CheckedHead] = []
    for _, group in groupby(heads, key=lambda head: _order(head)[:-1]):
        found += _chained(connection, list(group))
    return sorted(found, key=lambda each: (each.head.ladder, each.head.cutoff))


def _chained(connection: Connection, heads: Sequence[Head]) -> Iterator[CheckedHead]:
    """Check heads of one ladder and algorithm after equally many voids, in one go."""
    first, last = heads[0], heads[-1]
    ladder_id = ladders.get_ladder(connection, first.ladder)
    line = find_algorithm(first.algorithm, "a head").game_line
    voids = voids_since(connection, ladder_id, first.voided)
    games = logged_games(connection, ladder_id, cutoff=last.cutoff, voided=first.voided)
    tally, game = Tally(line=line), next(games, None)
    for head in heads:
        while game is not None and game.end_sequence <= head.cutoff:
            tally.add((game,))
            game = next(games, None)
        since = tuple(
            f'game {void.game_id} on {void.time:%Y-%m-%d %H:%M} UTC: "{void.was.reason}"'
            for void in voids
            if void.end_sequence <= head.cutoff
        )
        yield CheckedHead(head, tally.games, tally.chain.hex(), since)
