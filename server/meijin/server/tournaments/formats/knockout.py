"""A knockout: who loses a tie is out, until one bot is left."""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import islice
from typing import Self, TypeAlias

from sqlalchemy import Connection

from meijin.game import TimeControl
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import (
    MAX_GAMES,
    Capacity,
    Format,
    GamePair,
    Plan,
    Request,
    openings_of,
)
from meijin.server.tournaments.formats.bracket import Bracket, Tie
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.pairs import (
    Played,
    Scores,
    count,
    played_pairs,
    scores_of,
)
from meijin.server.tournaments.formats.report import Report, TournamentStanding, ranks_of
from meijin.server.tournaments.formats.schedule import deal
from meijin.server.tournaments.formats.seeding import seeded, seeding_of
from meijin.store.schema import BotId
from meijin.store.tournaments import TournamentRow
from meijin.store.tournaments.match_counts import (
    GAMES_OF_A_PAIR,
    PairingResult,
    PlannedResult,
    planned_results,
)
from meijin.wire import Options, move_time

LEAST_FAST_CLOCK = 0.01
MILLISECOND = timedelta(milliseconds=1)

TieKey: TypeAlias = tuple[int, frozenset[BotId]]
"""The round, and the two bots."""


@dataclass(frozen=True, slots=True)
class KnockoutSettings:
    """What a tie is."""

    pairs: int = 1
    """Pairs of games."""
    extra_pairs: int = 2
    """Further ones, one by one, while it is level."""
    fast_pairs: int = 1
    """After these, further ones with a faster clock; then the better seed goes on."""
    fast_clock: float = 0.25
    """What the faster clock has of the tournament's."""

    @classmethod
    def parse(cls, options: Options) -> Self:
        """The settings that options say; those that are left out have their defaults.

        Raises:
            InvalidRequestError: a number is out of its range.
        """
        usual = cls()
        fast_clock = float(options.get("fast_clock") or usual.fast_clock)
        if not LEAST_FAST_CLOCK <= fast_clock <= 1:
            raise InvalidRequestError(
                f"knockout.fast_clock {fast_clock:g} is not in {LEAST_FAST_CLOCK:g} to 1"
            )
        return cls(
            int(options.get("pairs") or usual.pairs),
            int(options.get("extra_pairs", usual.extra_pairs)),
            int(options.get("fast_pairs", usual.fast_pairs)),
            fast_clock,
        )

    @property
    def most_pairs(self) -> int:
        """The most pairs of games of a tie."""
        return self.pairs + self.extra_pairs + self.fast_pairs

    def most_games(self, bots: int) -> int:
        """The most games that so many bots may play."""
        return (bots - 1) * self.most_pairs * GAMES_OF_A_PAIR


class KnockoutFormat(Format):
    """Plans the games of a tie as soon as its two bots are known.

    A game of an earlier round that is voided is played again; who has games in the next round
    stays there.

    Args:
        bots: Ids and names in the order of their seeds.
        games: What is planned by now.
    """

    MAY_END_EARLY = True

    def __init__(
        self,
        settings: KnockoutSettings,
        bots: Sequence[tuple[BotId, str]],
        openings: Sequence[bytes],
        *,
        time_control: TimeControl,
        seed: int,
        games: Iterable[PlannedResult] = (),
    ) -> None:
        self._settings = settings
        self._fast = faster(time_control, settings.fast_clock)
        self._names = dict(bots)
        self._openings = openings
        self._seed = seed
        self.bracket = _bracket(settings, bots, games)
        self._missing: Counter[TieKey] = Counter()
        """Of each tie that is being played, its games without a result."""
        for pair in self.bracket.played:
            self._missing[pair.round, pair.bots] += GAMES_OF_A_PAIR - pair.games
        self._missing = +self._missing
        self._is_due = True
        """A tie has ended since it was last looked what is to be planned."""

    @classmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """A bracket of the bots in the order of their seeds."""
        if request.rounds:
            raise InvalidRequestError("rounds: a knockout has as many as its bots need")
        settings = KnockoutSettings.parse(request.options or {})
        games = settings.most_games(len(request.bots))
        if games > MAX_GAMES:
            raise InvalidRequestError(
                f"knockout: {settings.most_pairs} pairs of games a tie make up to {games} games; "
                f"at most {MAX_GAMES}"
            )
        options = {"seeding": seeding_of(request).value, **asdict(settings)}
        return Plan(seeded(connection, request), options=options)

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow, storage: Storage) -> Self:
        """With all that is planned, and the results."""
        return cls(
            _settings_of(row),
            row.bots,
            openings_of(row),
            time_control=row.time_control,
            seed=row.seed,
            games=planned_results(connection, row.id),
        )

    @classmethod
    def objection_to_sides(cls, options: Options | None) -> str:
        """Pairs with a faster clock have the same one for both."""
        if (options or {}).get("fast_pairs") == 0:
            return ""
        return "ties of a knockout go on with a faster clock of both; set its fast_pairs to 0"

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """The most that there may be."""
        return _settings_of(row).most_games(len(row.bots))

    @classmethod
    def report(cls, connection: Connection, row: TournamentRow, crosstable: Crosstable) -> Report:
        """Who got how far, and the bracket."""
        games = planned_results(connection, row.id)
        ties = _bracket(_settings_of(row), row.bots, games).ties()
        return report_of([bot for bot, _ in row.bots], ties, scores_of(games))

    @property
    def is_decided(self) -> bool:
        """Whether the final has a winner, and no game of an earlier round is to be played again."""
        return not self._missing and self.bracket.ties()[-1].winner is not None

    @property
    def verdict(self) -> str:
        """Who has won; empty while nobody has."""
        final = self.bracket.ties()[-1]
        if self._missing or final.winner is None:
            return ""
        note = f": {final.note}" if final.note else ""
        return f"{self._names[final.winner]} wins the final{note}"

    def game_ended(self, result: PairingResult) -> None:
        """Count it for its tie."""
        pair = count(self.bracket.played, result)
        tie = pair.round, pair.bots
        self._missing[tie] -= 1
        if not self._missing[tie]:
            del self._missing[tie]
            self._is_due = True

    @property
    def candidates(self) -> Collection[BotId]:
        """Those that entered, when a round may begin: how fast they are matters."""
        return self._names if self._is_due else ()

    async def next_pairs(self, capacity: Capacity) -> Sequence[GamePair]:
        """The next games of every tie whose two bots are known and whose games have ended."""
        if not self._is_due:
            return ()
        self._is_due = False
        pairs = [pair for tie in self.bracket.ties() for pair in self._pairs(tie, capacity)]
        for pair in pairs:
            played = Played(pair.round, pair.first, pair.second)
            self.bracket.played.append(played)
            self._missing[played.round, played.bots] += GAMES_OF_A_PAIR
        return pairs

    def _pairs(self, tie: Tie, capacity: Capacity) -> list[GamePair]:
        """The pairs that a tie wants: who begins with black alternates."""
        if not tie.wanted:
            return []
        assert tie.first is not None
        assert tie.second is not None
        bots = (tie.first, tie.second)
        done = len(tie.pairs)
        deck = deal(self._openings, random.Random(f"{self._seed} {tie.number}"))  # noqa: S311 - no secret
        reason = f"round {tie.round}, tie {tie.number}" + (", which is level" if done else "")
        is_fast = done >= self._settings.pairs + self._settings.extra_pairs
        control = self._fast if is_fast and self._can_be_fast(bots, capacity) else None
        return [
            GamePair(bots[at % 2], bots[1 - at % 2], opening, reason, tie.round, control)
            for at, opening in enumerate(islice(deck, done, done + tie.wanted), start=done)
        ]

    def _can_be_fast(self, bots: Sequence[BotId], capacity: Capacity) -> bool:
        """Whether all of them are here, and have time enough for a move."""
        seats = [capacity.seats.get(bot) for bot in bots]
        least = move_time(self._fast)
        return all(seat is not None and seat.least_move_time <= least for seat in seats)


def faster(control: TimeControl, share: float) -> TimeControl:
    """A time control that gives a share of another's time, in whole milliseconds."""

    def part(duration: timedelta) -> timedelta:
        return max(round(duration * share / MILLISECOND), 1) * MILLISECOND

    return TimeControl(
        initial=None if control.initial is None else part(control.initial),
        increment=part(control.increment) if control.increment else control.increment,
        per_move=None if control.per_move is None else part(control.per_move),
    )


def report_of(bots: Sequence[BotId], ties: Sequence[Tie], scores: Scores) -> Report:
    """The bots by how far they got, and all ties.

    Args:
        bots: In the order of their seeds.
    """
    reached = {bot: (tie.round, True) for tie in ties for bot in (tie.first, tie.second) if bot}
    out = {
        bot: tie.round
        for tie in ties
        for bot in (tie.first, tie.second)
        if bot is not None and tie.winner not in {None, bot}
    }
    reached |= {bot: (round_, False) for bot, round_ in out.items()}
    order = sorted(bots, key=lambda bot: reached[bot], reverse=True)
    ranks = ranks_of([reached[bot] for bot in order])
    champion = ties[-1].winner
    standings = []
    for bot, rank in zip(order, ranks, strict=True):
        wins, draws, losses = scores.get(bot, (0, 0, 0))
        note = f"out in round {out[bot]}" if bot in out else "still in"
        if bot == champion:
            note = "winner"
        points = wins + draws / 2
        standings.append(TournamentStanding(rank, bot, points, wins, draws, losses, note=note))
    return Report(tuple(standings), tuple(tie.to_meeting() for tie in ties))


def _bracket(
    settings: KnockoutSettings, bots: Sequence[tuple[BotId, str]], games: Iterable[PlannedResult]
) -> Bracket:
    seeds = [bot for bot, _ in bots]
    extra = settings.extra_pairs + settings.fast_pairs
    return Bracket(seeds, settings.pairs, extra, played_pairs(games))


def _settings_of(row: TournamentRow) -> KnockoutSettings:
    return KnockoutSettings.parse(row.options or {})
