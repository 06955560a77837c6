"""The tally of a ladder: its finished games added up one by one, in the order of their ends."""

import hashlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from datetime import date
from typing import Self

import numpy as np
import structlog
from sqlalchemy import Connection

from meijin.ladder.statistics import elo
from meijin.ladder.statistics.fit.pair_counts import NO_COUNTS, PairCounts
from meijin.store.ladders import days
from meijin.store.ladders.days import TallyMark
from meijin.store.ladders.games import FinishedGame, ScoredGame, finished_games, newest_results
from meijin.store.ladders.runs import find_run
from meijin.store.ladders.versions import ParentOf
from meijin.store.schema import BotVersionId, DayTally, Ladder, LadderId

RECENT = 10_000
"""Rated games that are known one by one: who changes is looked for among them."""
NO_CHAIN = bytes(hashlib.sha256().digest_size)
"""What the chain of no games is."""

_COUNT = np.dtype(
    [
        *((name, "<i8") for name in ("black_id", "white_id", "opening")),
        *((name, "<i4") for name in ("wins", "draws", "losses")),
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


_VERSION = np.dtype(
    [
        ("version_id", "<i8"),
        *((field.name, "<f8" if field.type is float else "<i8") for field in fields(VersionState)),
    ]
)


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

    ladder: Ladder
    tally: "Tally"
    """Of its finished games, which is not added to meanwhile."""
    counts: PairCounts
    """The rated games by players and opening; a row each, sorted."""
    anchors: Sequence[BotVersionId]
    """Sorted."""
    parents: Sequence[ParentOf]
    """Of those who have finished a game, and of those in turn; sorted."""

    @classmethod
    def of(
        cls,
        ladder: Ladder,
        tally: "Tally",
        anchors: Sequence[BotVersionId],
        parents: Sequence[ParentOf],
    ) -> Self:
        return cls(ladder, tally, tally.counts(), anchors, parents)

    @property
    def checksum(self) -> str:
        """SHA-256, hexadecimal, of what the ratings follow from, as lines of text.

        The first is the chain of the games, hexadecimal; then come an anchor each, and a version
        with its parent each.
        """
        links = (f"{version} {parent}" for version, parent in self.parents)
        lines = [self.tally.chain.hex(), *map(str, self.anchors), *links]
        return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def game_line(game: FinishedGame, day: int) -> str:
    """What the chain has of a game.

    Args:
        day: The ordinal of the day that it counts for.
    """
    _, _, black, white, opening, points, fault, is_repeat, key, moves = game
    return f"{key} {moves} {black} {white} {opening} {points} {fault} {is_repeat:d} {day}\n"


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
    line: Callable[[FinishedGame, int], str] = game_line
    """What is chained of a game."""
    base: TallyMark | None = None
    """Where the tallies end that are kept; ``None`` where none are."""
    _before: list[PairCounts] = field(default_factory=list)
    """The counts of the days before."""
    _counts: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)
    """Those of the day: wins, draws and losses by black, white and opening."""
    _closed: list[DayTally] = field(default_factory=list)
    """The days before whose tallies are not kept as they are."""
    _packed: bytes | None = None
    """The counts of the day as they are kept; ``None`` until they are asked for."""

    @classmethod
    def of(
        cls,
        games: Iterable[FinishedGame],
        line: Callable[[FinishedGame, int], str] = game_line,
    ) -> Self:
        """Of the first game and those after it."""
        tally = cls(line=line)
        tally.add(games)
        return tally

    @classmethod
    def resumed(cls, kept: Sequence[DayTally], recent: Iterable[ScoredGame]) -> Self:
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
        self.cutoff, _, black_id, white_id, opening, points, fault, is_repeat, *_ = game
        self.chain = hashlib.sha256(self.chain + self.line(game, self.day).encode()).digest()
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
            self._closed.append(self.today())
        self._before.append(counts_of(self._packed_counts()))
        self._counts = {}
        self._packed = None

    @property
    def mark(self) -> TallyMark | None:
        """Where it ends; ``None`` without games."""
        if not self.day:
            return None
        return TallyMark(date.fromordinal(self.day), self.cutoff, self.chain)

    def to_keep(self) -> list[DayTally]:
        """The tallies of the days that have changed since the base."""
        return [*self._closed, self.today()] if self.mark != self.base else []

    def kept(self) -> None:
        self.base = self.mark
        self._closed = []

    def today(self) -> DayTally:
        """That of the day so far."""
        return DayTally(
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
            self._before = [NO_COUNTS.joined(*self._before).merged()]
        return self._before[0].joined(counts_of(self._packed_counts())).merged()

    @property
    def size(self) -> int:
        return sum(48 * len(counts.first) for counts in self._before) + 300 * len(self._counts)


def counts_of(packed: bytes) -> PairCounts:
    rows = np.frombuffer(packed, _COUNT)
    ids = (rows[name].astype(np.int64) for name in ("black_id", "white_id", "opening"))
    first, second, openings = ids
    wins, draws, losses = (rows[name].astype(np.float64) for name in ("wins", "draws", "losses"))
    return PairCounts(first, second, wins, draws, losses, openings)


def versions_of(packed: bytes) -> dict[BotVersionId, VersionState]:
    return {
        BotVersionId(version_id): VersionState(*state)
        for version_id, *state in np.frombuffer(packed, _VERSION).tolist()
    }


def _packed_versions(versions: Mapping[BotVersionId, VersionState]) -> bytes:
    rows = [(key, *astuple(each)) for key, each in sorted(versions.items())]
    return np.array(rows, dtype=_VERSION).tobytes()


MOST_BYTES = 256 * 2**20
"""Of the tallies in memory, but for the last one that was asked for."""
PROGRESS = 100_000
"""Games after which the log says how far a long count is."""

_log = structlog.get_logger()


class TallyCache:
    """Tallies of ladders; what the database keeps is the truth, and one that is behind is dropped.

    For one thread at a time.
    """

    def __init__(self) -> None:
        self._tallies: OrderedDict[LadderId, Tally] = OrderedDict()

    def current(self, connection: Connection, ladder_id: LadderId, algorithm: str) -> Tally:
        """The tally of all the ladder's finished games, from that which is kept.

        Those that were kept with a run of another algorithm than this are counted anew.
        """
        mark = days.last_mark(connection, ladder_id)
        tally = self._tallies.pop(ladder_id, None)
        if tally is None or tally.mark != tally.base or tally.base != mark:
            run = find_run(connection, ladder_id)
            is_usable = run is not None and run.algorithm == algorithm
            kept = days.kept_tallies(connection, ladder_id) if is_usable else []
            cutoff = kept[-1].cutoff if kept else 0
            recent = newest_results(connection, ladder_id, cutoff, limit=RECENT)
            tally = Tally.resumed(kept, recent)
        add_with_progress(tally, connection, ladder_id)
        return tally

    def keep(self, ladder_id: LadderId, tally: Tally) -> None:
        """Have a tally that the database has kept ready for the next run."""
        tally.kept()
        self._tallies[ladder_id] = tally
        while (
            len(self._tallies) > 1
            and sum(each.size for each in self._tallies.values()) > MOST_BYTES
        ):
            self._tallies.popitem(last=False)


def add_with_progress(tally: Tally, connection: Connection, ladder_id: LadderId) -> None:
    """Add the games that have ended since, and log the progress."""
    games: list[FinishedGame] = []
    for game in finished_games(connection, ladder_id, after=tally.cutoff):
        games.append(game)
        if len(games) == PROGRESS:
            tally.add(games)
            games.clear()
            _log.info("counting a ladder", ladder_id=ladder_id, games=tally.games)
    tally.add(games)
