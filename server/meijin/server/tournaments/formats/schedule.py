"""Formats whose whole schedule is made with the tournament."""

import math
import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.base import MAX_GAMES, BotIds, Format, openings_of
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.report import Report, TieBreak, TournamentStanding, ranks_of
from meijin.store.schema import BotId
from meijin.store.tournaments import NewTournament, PlannedGame, TournamentRow
from meijin.store.tournaments.match_counts import PairingResult

DEFAULT_ROUNDS = 2

POINTS = np.array([1, 0.5, 0])
"""Of a game won, drawn and lost."""

CHUNK = 1000
"""Games that are made at once of a schedule that is read."""

Places: TypeAlias = NDArray[np.int32]
"""Bots by their places in the order of entry, from 0 on."""


class PlayedOut(Format):
    """Plays what was planned when the tournament was made, to the last game.

    Args:
        remaining: How many games of the schedule have no result.
    """

    IS_SCHEDULED = True

    def __init__(self, remaining: int) -> None:
        self.remaining = remaining

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow) -> Self:
        return cls(row.planned - row.finished)

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        return row.planned

    @classmethod
    def report(cls, connection: Connection, row: TournamentRow, crosstable: Crosstable) -> Report:
        """The bots by points, and where these are equal by Sonneborn-Berger."""
        return Report(standings_of([key for key, _ in row.bots], crosstable))

    @property
    def is_decided(self) -> bool:
        return self.remaining == 0

    def game_ended(self, result: PairingResult) -> None:
        self.remaining -= 1


class ScheduledFormat(PlayedOut):
    """Plans each round by who meets whom."""

    @staticmethod
    @abstractmethod
    def pairs(bots: int) -> tuple[Places, Places]:
        """Who meets whom, each pair once: the first bots and the second ones."""

    @classmethod
    def plan(cls, connection: Connection, asked: NewTournament, here: BotIds) -> NewTournament:
        bots, rounds = asked.bots, asked.rounds or DEFAULT_ROUNDS
        pairs, openings = cls.pairs(len(bots)), openings_of(asked)
        schedule = Schedule(bots, pairs, rounds=rounds, openings=openings, seed=asked.seed)
        if (games := rounds * len(pairs[0])) > MAX_GAMES:
            raise InvalidRequestError(
                f"{len(bots)} bots and rounds {rounds} make {games} games; at most {MAX_GAMES}"
            )
        return replace(asked, rounds=rounds, schedule=schedule)


class RoundRobin(ScheduledFormat):
    """Everybody meets everybody."""

    @staticmethod
    def pairs(bots: int) -> tuple[Places, Places]:
        first, second = np.triu_indices(bots, k=1)
        return first.astype(np.int32), second.astype(np.int32)


class Gauntlet(ScheduledFormat):
    """The first bot meets each of the others."""

    FIRST_MEETS_ALL = True

    @staticmethod
    def pairs(bots: int) -> tuple[Places, Places]:
        others = np.arange(1, bots, dtype=np.int32)
        return np.zeros_like(others), others


def standings_of(bots: Sequence[BotId], table: Crosstable) -> tuple[TournamentStanding, ...]:
    """Bots by points, and where these are equal by Sonneborn-Berger.

    That is each opponent's points for every game won against it, and half of them for every
    game drawn.
    """
    ids = np.sort(np.array(bots, np.int64))
    first, second = np.searchsorted(ids, table.firsts), np.searchsorted(ids, table.seconds)
    totals, beaten = np.zeros((len(ids), 3), np.int64), np.zeros(len(ids))
    np.add.at(totals, first, table.scores)
    np.add.at(totals, second, table.scores[:, ::-1])
    points = totals @ POINTS
    np.add.at(beaten, first, table.scores @ POINTS * points[second])
    np.add.at(beaten, second, table.scores[:, ::-1] @ POINTS * points[first])
    entered = np.searchsorted(ids, np.array(bots, np.int64))
    places = entered[np.lexsort((-beaten[entered], -points[entered]))]
    keys = list(zip(points[places].tolist(), beaten[places].tolist(), strict=True))
    counts = (totals[places, place].tolist() for place in range(3))
    return tuple(
        TournamentStanding(
            rank, BotId(bot), key[0], wins, draws, losses, (TieBreak("Sonneborn-Berger", key[1]),)
        )
        for rank, bot, key, wins, draws, losses in zip(
            ranks_of(keys), ids[places].tolist(), keys, *counts, strict=True
        )
    )


class Schedule:
    """Every game of a tournament, in the order they are to be played; made as they are read.

    In each round every pair plays one game. Rounds come in twos: the second has the first's
    openings with the colours reversed. The seed decides who has which colour first, the order
    of the pairs, and which openings are dealt; all openings are dealt to a pair before one
    comes again.

    A million games are 20 MB of arrays so; as objects they took 1.1 GB.

    Args:
        bots: In the order of entry.
        pairs: Who meets whom, by their places in that order.
    """

    def __init__(
        self,
        bots: Sequence[BotId],
        pairs: tuple[Places, Places],
        *,
        rounds: int,
        openings: Sequence[bytes],
        seed: int,
    ) -> None:
        self._bots = bots
        self._first, self._second = pairs
        self._rounds = rounds
        self._openings = openings
        self._seed = seed

    def __len__(self) -> int:
        return self._rounds * len(self._first)

    def __iter__(self) -> Iterator[PlannedGame]:
        rng = np.random.default_rng(self._seed)
        pairs, cards = len(self._first), len(self._openings)
        is_reversed = rng.random(pairs) < 0.5  # noqa: PLR2004 - a fair coin
        first = np.where(is_reversed, self._second, self._first)
        second = np.where(is_reversed, self._first, self._second)
        number = 1
        for deck in _decks(pairs, cards, (self._rounds + 1) // 2, rng):
            for start in range(0, len(deck), size := max(1, CHUNK // pairs)):
                dealt = deck[start : start + size]
                order = np.tile(np.arange(pairs, dtype=np.int32), (len(dealt), 1))
                rng.permuted(order, axis=1, out=order)
                dealt = np.take_along_axis(dealt, order, axis=1)
                yield from self._rounds_of(number, first[order], second[order], dealt)
                number += 2 * len(dealt)

    def _rounds_of(
        self, number: int, first: Places, second: Places, dealt: Places
    ) -> Iterator[PlannedGame]:
        """Two rounds of each row, whose columns are pairs; made as arrays, and read in chunks."""
        rounds = min(2 * len(dealt), self._rounds - number + 1)
        numbers = np.arange(number, number + rounds).repeat(dealt.shape[1])
        pairs = np.arange(dealt.size).reshape(dealt.shape) + number // 2 * dealt.shape[1] + 1
        columns = (
            numbers,
            np.stack((first, second), axis=1).ravel(),
            np.stack((second, first), axis=1).ravel(),
            np.stack((dealt, dealt), axis=1).ravel(),
            np.stack((pairs, pairs), axis=1).ravel(),
        )
        bots, openings = self._bots, self._openings
        for start in range(0, len(numbers), CHUNK):
            end = min(start + CHUNK, len(numbers))
            chunk = (column[start:end].tolist() for column in columns)
            for each, black, white, opening, pair in zip(*chunk, strict=True):
                yield PlannedGame(each, bots[black], bots[white], openings[opening], pair=pair)


class _Deck:
    """What each pair is dealt: all cards before one comes again, in an order of its own.

    A pair goes through one shuffled deck from a card and by steps of its own, which have no
    divisor in common with the number of cards.
    """

    def __init__(self, pairs: int, cards: int, dealt: int, rng: np.random.Generator) -> None:
        steps = [step for step in range(1, cards + 1) if math.gcd(step, cards) == 1]
        self._cards = rng.permutation(cards).astype(np.int32)
        self._starts = rng.integers(cards, size=pairs)
        self._steps = rng.choice(np.array(steps), size=pairs)
        self._dealt = dealt

    def __len__(self) -> int:
        return self._dealt

    def __getitem__(self, dealt: slice) -> Places:
        """What is dealt in some turns: a row each."""
        turns = np.arange(self._dealt)[dealt, np.newaxis]
        found: Places = self._cards[(self._starts + self._steps * turns) % len(self._cards)]
        return found


def _decks(pairs: int, cards: int, turns: int, rng: np.random.Generator) -> Iterator[_Deck]:
    """The decks that are gone through, one after the other, in some turns."""
    for first in range(0, turns, cards):
        yield _Deck(pairs, cards, min(cards, turns - first), rng)


def deal(openings: Sequence[bytes], *seed: int) -> Iterator[bytes]:
    """Openings without end, all of them before one comes again."""
    rng = random.Random(" ".join(map(str, seed)))  # noqa: S311 - no secret
    while True:
        yield from rng.sample(openings, len(openings))
