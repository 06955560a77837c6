"""A knockout: who loses a tie is out, until one bot is left."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import islice
from typing import Self

from sqlalchemy import Connection

from meijin.game import TimeControl
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import MAX_GAMES, BotIds, Capacity, GamePair
from meijin.server.tournaments.formats.bracket import Bracket, Tie
from meijin.server.tournaments.formats.pairs import PairedFormat, Played, Scores, seeded, seeding_of
from meijin.server.tournaments.formats.report import Report, TournamentStanding, ranks_of
from meijin.store.schema import BotId
from meijin.store.tournaments import NewTournament, TournamentRow
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult, PlannedResult
from meijin.wire.capabilities import move_time
from meijin.wire.formats import Options

LEAST_FAST_CLOCK = 0.01
MILLISECOND = timedelta(milliseconds=1)


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
    def parse(cls, options: Options | None) -> Self:
        """The settings that options say; those that are left out have their defaults.

        Raises:
            InvalidRequestError: a number is out of its range.
        """
        usual, options = cls(), options or {}
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
        return (bots - 1) * self.most_pairs * GAMES_OF_A_PAIR


class KnockoutFormat(PairedFormat):
    """Plans the games of a tie as soon as its two bots are known.

    Who has games in the next round stays there, also when a game of an earlier one is voided.
    """

    MAY_END_EARLY = True

    def __init__(self, row: TournamentRow, games: Iterable[PlannedResult] = ()) -> None:
        super().__init__(row, games)
        self._settings = settings = KnockoutSettings.parse(row.options)
        self._fast = faster(row.time_control, settings.fast_clock)
        self._names = dict(row.bots)
        extra = settings.extra_pairs + settings.fast_pairs
        self.bracket = Bracket(self.bots, settings.pairs, extra, self.pairs)
        self._is_due = True
        """A tie has ended since it was last looked what is to be planned."""
        self._look()

    def _look(self) -> None:
        """See who is to play next, and whether the final has a winner.

        How fast those are that entered matters when a round may begin. A game of an earlier round
        may be to be played again.
        """
        self.candidates = self._names if self._is_due else ()
        final = self.bracket.ties()[-1]
        self.verdict = ""
        if final.winner is not None and all(pair.is_over for pair in self.pairs):
            note = f": {final.note}" if final.note else ""
            self.verdict = f"{self._names[final.winner]} wins the final{note}"

    @classmethod
    def plan(cls, connection: Connection, asked: NewTournament, here: BotIds) -> NewTournament:
        if asked.rounds:
            raise InvalidRequestError("rounds: a knockout has as many as its bots need")
        settings = KnockoutSettings.parse(asked.options)
        games = settings.most_games(len(asked.bots))
        if games > MAX_GAMES:
            raise InvalidRequestError(
                f"knockout: {settings.most_pairs} pairs of games a tie make up to {games} games; "
                f"at most {MAX_GAMES}"
            )
        options = {"seeding": seeding_of(asked).value, **asdict(settings)}
        return replace(asked, bots=seeded(connection, asked), options=options)

    @classmethod
    def objection_to_sides(cls, options: Options | None) -> str:
        """Pairs with a faster clock have the same one for both."""
        if (options or {}).get("fast_pairs") == 0:
            return ""
        return "ties of a knockout go on with a faster clock of both; set its fast_pairs to 0"

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        return KnockoutSettings.parse(row.options).most_games(len(row.bots))

    def report_by(self, scores: Scores) -> Report:
        """By how far the bots got, and the bracket."""
        ties = self.bracket.ties()
        reached = {bot: (tie.round, True) for tie in ties for bot in (tie.first, tie.second) if bot}
        out = {
            bot: tie.round
            for tie in ties
            for bot in (tie.first, tie.second)
            if bot is not None and tie.winner not in {None, bot}
        }
        reached |= {bot: (round_, False) for bot, round_ in out.items()}
        order = sorted(self.bots, key=lambda bot: reached[bot], reverse=True)
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
        return Report(tuple(standings), tuple(ties))

    def game_ended(self, result: PairingResult) -> None:
        """See what follows once all games of the tie have ended."""
        ended = self.count(result)
        bots = ended.bots
        of_round = (pair for pair in self.pairs if pair.round == ended.round)
        if all(pair.is_over for pair in of_round if pair.first in bots):
            self._is_due = True
            self._look()

    async def next_pairs(self, capacity: Capacity, storage: Storage) -> Sequence[GamePair]:
        """The next games of every tie whose two bots are known and whose games have ended."""
        if not self._is_due:
            return ()
        self._is_due = False
        pairs = [pair for tie in self.bracket.ties() for pair in self._pairs(tie, capacity)]
        self.pairs += [Played(pair.round, pair.first, pair.second) for pair in pairs]
        self._look()
        return pairs

    def _pairs(self, tie: Tie, capacity: Capacity) -> list[GamePair]:
        """The pairs that a tie wants: who begins with black alternates."""
        if not tie.wanted:
            return []
        assert tie.first is not None
        assert tie.second is not None
        bots = (tie.first, tie.second)
        done = len(tie.pairs)
        deck = self.deck(tie.number)
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
        cpu=control.cpu,
    )
