"""A knockout: who loses a tie is out, until one bot is left."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Self

from sqlalchemy import Connection

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
from meijin.server.tournaments.formats.pairs import (
    Played,
    Scores,
    count,
    missing_games,
    played_pairs,
    scores_of,
)
from meijin.server.tournaments.formats.report import Report, TournamentStanding
from meijin.server.tournaments.formats.schedule import deal
from meijin.server.tournaments.formats.seeding import seeded, seeding_of
from meijin.store.match_counts import (
    GAMES_OF_A_PAIR,
    PairingResult,
    PlannedResult,
    planned_results,
)
from meijin.store.schema import BotId
from meijin.store.tournaments import TournamentRow
from meijin.wire import Options


@dataclass(frozen=True, slots=True)
class KnockoutSettings:
    """What a tie is."""

    pairs: int = 1
    """Pairs of games."""
    extra_pairs: int = 2
    """Further ones, one by one, while it is level; then the better seed goes on."""

    @classmethod
    def parse(cls, options: Options) -> Self:
        """The settings that options say; those that are left out have their defaults."""
        return cls(int(options.get("pairs") or 1), int(options.get("extra_pairs", 2)))

    def most_games(self, bots: int) -> int:
        """The most games that so many bots may play."""
        return (bots - 1) * (self.pairs + self.extra_pairs) * GAMES_OF_A_PAIR


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
        seed: int,
        games: Iterable[PlannedResult] = (),
    ) -> None:
        self._names = dict(bots)
        self._openings = openings
        self._seed = seed
        self.bracket = _bracket(settings, bots, games)
        self._missing = missing_games(self.bracket.played)
        self._is_due = True
        """A game has ended since it was last looked what is to be planned."""

    @classmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """A bracket of the bots in the order of their seeds."""
        if request.rounds:
            raise InvalidRequestError("rounds: a knockout has as many as its bots need")
        settings = KnockoutSettings.parse(request.options or {})
        games = settings.most_games(len(request.bots))
        if games > MAX_GAMES:
            raise InvalidRequestError(
                f"knockout.pairs {settings.pairs} and extra_pairs {settings.extra_pairs} "
                f"make up to {games} games; at most {MAX_GAMES}"
            )
        options = {"seeding": seeding_of(request).value, **asdict(settings)}
        return Plan(seeded(connection, request), options=options)

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow, storage: Storage) -> Self:
        """With all that is planned, and the results."""
        return cls(
            _settings(row),
            row.bots,
            openings_of(row),
            seed=row.seed,
            games=planned_results(connection, row.id),
        )

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """The most that there may be."""
        return _settings(row).most_games(len(row.bots))

    @classmethod
    def report(cls, connection: Connection, row: TournamentRow) -> Report:
        """Who got how far, and the bracket."""
        games = planned_results(connection, row.id)
        ties = _bracket(_settings(row), row.bots, games).ties()
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
        count(self.bracket.played, result)
        self._missing -= 1
        self._is_due = True

    async def next_pairs(self, capacity: Capacity) -> Sequence[GamePair]:
        """The next games of every tie whose two bots are known and whose games have ended."""
        if not self._is_due:
            return ()
        self._is_due = False
        pairs = [pair for tie in self.bracket.ties() for pair in self._pairs(tie)]
        self.bracket.played += [Played(pair.round, pair.first, pair.second) for pair in pairs]
        self._missing += GAMES_OF_A_PAIR * len(pairs)
        return pairs

    def _pairs(self, tie: Tie) -> list[GamePair]:
        """The pairs that a tie wants: who begins with black alternates."""
        if not tie.wanted:
            return []
        assert tie.first is not None
        assert tie.second is not None
        bots = (tie.first, tie.second)
        done = len(tie.pairs)
        deck = deal(self._openings, random.Random(f"{self._seed} {tie.number}"))  # noqa: S311 - no secret
        reason = f"round {tie.round}, tie {tie.number}" + (", which is level" if done else "")
        return [
            GamePair(bots[at % 2], bots[1 - at % 2], opening, reason, tie.round)
            for at, opening in enumerate(islice(deck, done, done + tie.wanted), start=done)
        ]


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
    steps = [reached[bot] for bot in order]
    champion = ties[-1].winner
    standings = []
    for bot in order:
        wins, draws, losses = scores.get(bot, (0, 0, 0))
        note = f"out in round {out[bot]}" if bot in out else "still in"
        if bot == champion:
            note = "winner"
        rank = steps.index(reached[bot]) + 1
        points = wins + draws / 2
        standings.append(TournamentStanding(rank, bot, points, wins, draws, losses, note=note))
    return Report(tuple(standings), tuple(tie.to_meeting() for tie in ties))


def _bracket(
    settings: KnockoutSettings, bots: Sequence[tuple[BotId, str]], games: Iterable[PlannedResult]
) -> Bracket:
    seeds = [bot for bot, _ in bots]
    return Bracket(seeds, settings.pairs, settings.extra_pairs, played_pairs(games))


def _settings(row: TournamentRow) -> KnockoutSettings:
    return KnockoutSettings.parse(row.stopping or {})
