"""The tally of a ladder: its finished games added up one by one, in the order of their ends."""

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Self

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics import elo
from meijin.ladder.statistics.fit.pair_counts import PairCounts
from meijin.store.ladders.ladders import LadderRow
from meijin.store.ladders.lineage import ParentOf
from meijin.store.ladders.log import FinishedGame
from meijin.store.ladders.rated_games import ScoredGame
from meijin.store.ladders.tallies import KeptTally, TallyMark
from meijin.store.schema import BotVersionId, LadderId

RECENT = 10_000
"""Rated games that are known one by one: who changes is looked for among them."""
NO_CHAIN = bytes(hashlib.sha256().digest_size)
"""What the chain of no games is."""

_VERSION = np.dtype(
    [
        ("version_id", "<i8"),
        ("classic_elo", "<f8"),
        ("games", "<i8"),
        ("faults", "<i8"),
        ("last_day", "<i8"),
        ("component", "<i8"),
    ]
)
_COUNT = np.dtype(
    [
        ("black_id", "<i8"),
        ("white_id", "<i8"),
        ("opening", "<i8"),
        ("wins", "<i4"),
        ("draws", "<i4"),
        ("losses", "<i4"),
    ]
)


@dataclass(slots=True)
class VersionState:
    """What a version has come to after some games."""

    classic_elo: float = elo.START
    games: int = 0
    """Rated ones."""
    faults: int = 0
    """Games that it forfeited, repeats too."""
    last_day: int = 0
    """The ordinal of the day of its last rated game, in the proleptic calendar; 0 for none."""
    component: int = 0
    """The same for those whom rated games link, from opponent to opponent."""


def last_days_of(versions: Mapping[BotVersionId, VersionState]) -> dict[int, date]:
    """The day (UTC) of the last rated game of everyone who has one."""
    return {
        version: date.fromordinal(state.last_day)
        for version, state in versions.items()
        if state.last_day
    }


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything that a run is computed from, at one instant."""

    ladder_id: LadderId
    name: str
    revision: int
    voided: int
    """How many of its finished games have been voided."""
    sequenced: int
    """The `end_sequence` of the last game in its log, void ones too."""
    cutoff: int
    """The `end_sequence` of its last game; 0 for none."""
    chain: bytes
    """The chained SHA-256 of its finished games."""
    counts: PairCounts
    """The rated games by players and opening; a row each, sorted."""
    versions: Mapping[BotVersionId, VersionState]
    """Everyone who has finished a game."""
    games: int
    """Rated ones."""
    repeats: int
    """Finished games that are not rated, since they repeat others."""
    anchors: Sequence[BotVersionId]
    """Sorted."""
    parents: Sequence[ParentOf]
    """Of those who have finished a game, and of those in turn; sorted."""
    recent: Sequence[ScoredGame]
    """The newest `RECENT` rated games, in order."""

    @classmethod
    def of(
        cls,
        ladder: LadderRow,
        tally: "Tally",
        anchors: Sequence[BotVersionId],
        parents: Sequence[ParentOf],
    ) -> Self:
        """What a tally of the ladder's games tells."""
        return cls(
            ladder_id=ladder.id,
            name=ladder.name,
            revision=ladder.revision,
            voided=ladder.voided,
            sequenced=ladder.sequenced,
            cutoff=tally.cutoff,
            chain=tally.chain,
            counts=tally.counts(),
            versions=tally.versions,
            games=tally.games,
            repeats=tally.repeats,
            anchors=anchors,
            parents=parents,
            recent=tuple(tally.recent),
        )

    @property
    def last_days(self) -> dict[int, date]:
        """The day (UTC) of everyone's last rated game."""
        return last_days_of(self.versions)

    @property
    def checksum(self) -> str:
        """SHA-256, hexadecimal, of what the ratings follow from, as lines of text.

        The first is the chain of the games, hexadecimal; then come an anchor each, and a version
        with its parent each.
        """
        links = (f"{version} {parent}" for version, parent in self.parents)
        lines = [self.chain.hex(), *map(str, self.anchors), *links]
        return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


@dataclass(slots=True)
class Tally:
    """The finished games up to one of them, added up.

    A game counts for the day (UTC) that it ended on, or for that of the game before, if a clock
    went back in between: so days follow each other as games do.
    """

    day: int = 0
    """The ordinal of the day of the last game."""
    cutoff: int = 0
    chain: bytes = NO_CHAIN
    games: int = 0
    repeats: int = 0
    versions: dict[BotVersionId, VersionState] = field(default_factory=dict)
    recent: deque[ScoredGame] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The newest rated games."""
    base: TallyMark | None = None
    """Where the tallies end that are kept; ``None`` where none are."""
    _before: list[PairCounts] = field(default_factory=list)
    """The counts of the days before."""
    _counts: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)
    """Those of the day: wins, draws and losses by black, white and opening."""
    _closed: list[KeptTally] = field(default_factory=list)
    """The days before whose tallies are not kept as they are."""
    _packed: bytes | None = None
    """The counts of the day as they are kept; ``None`` until they are asked for."""

    @classmethod
    def of(cls, games: Iterable[FinishedGame]) -> Self:
        """Of the first game and those after it."""
        tally = cls()
        tally.add(games)
        return tally

    @classmethod
    def resumed(cls, kept: Sequence[KeptTally], recent: Iterable[ScoredGame]) -> Self:
        """From tallies that are kept, the first day first, and the newest rated games in them."""
        if not kept:
            return cls()
        last = kept[-1]
        return cls(
            day=last.day.toordinal(),
            cutoff=last.cutoff,
            chain=last.chain,
            games=last.games,
            repeats=last.repeats,
            versions=versions_of(last.versions),
            recent=deque(recent, maxlen=RECENT),
            base=TallyMark(last.day, last.cutoff, last.chain),
            _before=[counts_of(day.counts) for day in kept[:-1]],
            _counts={
                (black, white, opening): results
                for black, white, opening, *results in np.frombuffer(last.counts, _COUNT).tolist()
            },
        )

    def add(self, games: Iterable[FinishedGame]) -> None:
        """Add the games that ended next, in order."""
        self._packed = None
        days: dict[str, int] = {}
        for game in games:
            ordinal = days.get(game.day)
            if ordinal is None:
                ordinal = days[game.day] = date.fromisoformat(game.day).toordinal()
            if ordinal > self.day:
                self._close_day()
                self.day = ordinal
            self._add(game)

    def _add(self, game: FinishedGame) -> None:
        self.cutoff, _, black_id, white_id, opening, points, fault, is_repeat = game
        line = (
            f"{black_id} {white_id} {opening} {points} {fault} {is_repeat:d} {self.day}\n"
        ).encode()
        self.chain = hashlib.sha256(self.chain + line).digest()
        black, white = self._state(black_id), self._state(white_id)
        if fault:
            (black if fault == 1 else white).faults += 1
        if is_repeat:
            self.repeats += 1
            return
        self.games += 1
        self.recent.append((black_id, white_id, points / 2))
        black.last_day = white.last_day = self.day
        key = (black_id, white_id, opening)
        if key not in self._counts:
            self._counts[key] = [0, 0, 0]
        self._counts[key][2 - points] += 1
        black.classic_elo, white.classic_elo = elo.exchange(
            (black.classic_elo, black.games), (white.classic_elo, white.games), points / 2
        )
        black.games += 1
        white.games += 1
        if black.component != white.component:
            self._link(black.component, white.component)

    def _state(self, version_id: BotVersionId) -> VersionState:
        state = self.versions.get(version_id)
        if state is None:
            state = self.versions[version_id] = VersionState(component=version_id)
        return state

    def _link(self, one: int, other: int) -> None:
        low, high = sorted((one, other))
        for state in self.versions.values():
            if state.component == high:
                state.component = low

    def _close_day(self) -> None:
        """Let the day be over, if there were games."""
        if not self.day:
            return
        if self.mark != self.base:
            self._closed.append(self._today())
        self._before.append(counts_of(self._packed_counts()))
        self._counts = {}
        self._packed = None

    @property
    def mark(self) -> TallyMark | None:
        """Where it ends; ``None`` without games."""
        if not self.day:
            return None
        return TallyMark(date.fromordinal(self.day), self.cutoff, self.chain)

    def to_keep(self) -> list[KeptTally]:
        """The tallies of the days that have changed since the base."""
        return [*self._closed, self._today()] if self.mark != self.base else []

    def kept(self) -> None:
        """Take it that they are kept."""
        self.base = self.mark
        self._closed = []

    def _today(self) -> KeptTally:
        return KeptTally(
            day=date.fromordinal(self.day),
            cutoff=self.cutoff,
            chain=self.chain,
            games=self.games,
            repeats=self.repeats,
            versions=_packed_versions(self.versions),
            counts=self._packed_counts(),
        )

    def _packed_counts(self) -> bytes:
        if self._packed is None:
            rows = np.array([(*key, *each) for key, each in self._counts.items()], dtype=_COUNT)
            order = np.lexsort((rows["opening"], rows["white_id"], rows["black_id"]))
            self._packed = rows[order].tobytes()
        return self._packed

    def counts(self) -> PairCounts:
        """All rated games by players and opening: a row each, sorted."""
        if len(self._before) != 1:
            self._before = [merged(self._before)]
        return merged([*self._before, counts_of(self._packed_counts())])

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return sum(48 * len(counts.first) for counts in self._before) + 300 * len(self._counts)


def merged(counts: Sequence[PairCounts]) -> PairCounts:
    """Counts of several days as one: a row for each two and opening, sorted."""
    rows = [
        np.concatenate([getattr(each, name) for each in counts] or [np.empty(0, dtype=kind)])
        for name, kind in (
            ("first", np.int64),
            ("second", np.int64),
            ("wins", np.float64),
            ("draws", np.float64),
            ("losses", np.float64),
            ("openings", np.int64),
        )
    ]
    return PairCounts(*rows).merged()


def counts_of(packed: bytes) -> PairCounts:
    """The counts of a kept day."""
    rows = np.frombuffer(packed, _COUNT)
    first, second, openings = (_column(rows, name) for name in ("black_id", "white_id", "opening"))
    wins, draws, losses = (rows[name].astype(np.float64) for name in ("wins", "draws", "losses"))
    return PairCounts(first, second, wins, draws, losses, openings)


def _column(rows: NDArray[np.void], name: str) -> NDArray[np.int64]:
    column: NDArray[np.int64] = rows[name].astype(np.int64)
    return column


def versions_of(packed: bytes) -> dict[BotVersionId, VersionState]:
    """The states of versions that a kept day has."""
    return {
        BotVersionId(version_id): VersionState(*state)
        for version_id, *state in np.frombuffer(packed, _VERSION).tolist()
    }


def _packed_versions(versions: Mapping[BotVersionId, VersionState]) -> bytes:
    rows = [
        (key, each.classic_elo, each.games, each.faults, each.last_day, each.component)
        for key, each in sorted(versions.items())
    ]
    return np.array(rows, dtype=_VERSION).tobytes()
