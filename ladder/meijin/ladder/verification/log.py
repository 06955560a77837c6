"""A ladder's log as it is verified: each game against its own moves, each day's tally."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from typing import TypeAlias

from meijin.game import GameRecord, Outcome, decode_moves
from meijin.game.records.referee import problems
from meijin.ladder.tally import Tally, counts_of, versions_of
from meijin.ladder.verification.figures import first_difference
from meijin.store.ladders.games import FinishedGame, LoggedGame, with_repeats
from meijin.store.schema import DayTally, GameId, GameState

NEVER = datetime(1, 1, 1, tzinfo=UTC)

GamesOf: TypeAlias = Callable[[date, tuple[int, int, int]], Sequence[GameId]]
"""The games of a day by black, white and opening."""


@dataclass(slots=True)
class CheckedLog:
    """The games of a log on their way to a tally."""

    games: Iterable[LoggedGame]
    is_replayed: bool
    """Their moves are played again."""
    problems: list[str] = field(default_factory=list)
    """What is wrong with the first game of which anything is, a sentence."""
    last_end: datetime = NEVER

    def __iter__(self) -> Iterator[FinishedGame]:
        known: set[bytes] = set()
        for game, is_repeat in with_repeats(self.games):
            finished = game.finished(is_repeat=is_repeat)
            self.last_end = max(self.last_end, game.end_time)
            if not self.problems:
                found = [*self._problems(game, finished, known)]
                self.problems += [f"game {game.id}: {each}" for each in found[:1]]
            if game.state is GameState.FINISHED:
                known.add(game.digest)
            yield finished

    def _problems(self, game: LoggedGame, made: FinishedGame, known: set[bytes]) -> Iterator[str]:
        is_repeat = game.has_moves and game.digest in known
        for name in ("fingerprint", "opening"):
            kept, computed = getattr(game, name), getattr(made, name)
            if kept != computed:
                yield f"{name} kept {kept}, computed {computed} from its players and moves"
        if game.state is GameState.FINISHED and game.is_repeat != is_repeat:
            yield f"repeat kept {game.is_repeat}, computed {is_repeat}"
        if self.is_replayed:
            yield from replayed(game)


def replayed(game: LoggedGame) -> Iterator[str]:
    """What its moves, played by the rule, say against its end."""
    try:
        moves = decode_moves(game.moves)
        outcome = Outcome(game.ending, game.result.winner, game.at_fault)
        record = GameRecord(
            variant=game.variant,
            black="",
            white="",
            moves=tuple(moves),
            opening_plies=game.opening_plies,
            outcome=outcome,
        )
    except ValueError as error:
        yield str(error)
        return
    if outcome.result is not game.result:
        yield f'result kept {game.result.value}, computed {outcome.result.value} from "{outcome}"'
    yield from problems(record)


def tallies_at(
    tally: Tally, games: Iterable[FinishedGame], cutoffs: set[int]
) -> dict[int, DayTally]:
    """Add games up; return the tallies of the days so far at some of their ends."""
    found: dict[int, DayTally] = {}
    for game in games:
        tally.add((game,))
        if game.end_sequence in cutoffs:
            found[game.end_sequence] = tally.today()
    return found


def first_other_day(
    kept: Sequence[DayTally],
    made: Mapping[int, DayTally],
    names: Mapping[int, str],
    games_of: GamesOf,
) -> Iterator[str]:
    """What is wrong with the first tally that is not that of its games."""
    for tally in kept:
        again = made.get(tally.cutoff)
        gone = f"the last one, whose end is number {tally.cutoff}, is gone"
        if found := _other(tally, again, names, games_of) if again else gone:
            yield f"games of {tally.day}: {found}"
            return


def _other(kept: DayTally, made: DayTally, names: Mapping[int, str], games_of: GamesOf) -> str:
    if kept.counts != made.counts:
        return _other_count(kept, made, names, games_of)
    for name in ("day", "games", "repeats"):
        stored, computed = getattr(kept, name), getattr(made, name)
        if stored != computed:
            return f"{name} kept {stored}, computed {computed}"
    if kept.versions != made.versions:
        return _other_state(kept, made, names)
    if kept.chain != made.chain:
        return f"chain kept {kept.chain.hex()}, computed {made.chain.hex()}"
    return ""


def _other_count(
    kept: DayTally, made: DayTally, names: Mapping[int, str], games_of: GamesOf
) -> str:
    stored, computed = _rows(kept), _rows(made)
    first = min(key for key in {*stored, *computed} if stored.get(key) != computed.get(key))
    games = ", ".join(map(str, games_of(kept.day, first)))
    before, now = (_score(rows.get(first, (0, 0, 0))) for rows in (stored, computed))
    pair = f"{names[first[0]]} against {names[first[1]]} on one opening"
    return f"{pair}: W-D-L kept {before}, computed {now} (game {games or 'gone'})"


def _rows(tally: DayTally) -> dict[tuple[int, int, int], tuple[int, int, int]]:
    """Black's wins, draws and losses by black, white and opening."""
    counts = counts_of(tally.counts)
    assert counts.openings is not None
    columns = [counts.first, counts.second, counts.openings]
    columns += [each.astype(int) for each in (counts.wins, counts.draws, counts.losses)]
    rows = zip(*(each.tolist() for each in columns), strict=True)
    return {(row[0], row[1], row[2]): (row[3], row[4], row[5]) for row in rows}


def _score(results: tuple[int, int, int]) -> str:
    return "-".join(map(str, results))


def _other_state(kept: DayTally, made: DayTally, names: Mapping[int, str]) -> str:
    stored, computed = (
        {key: asdict(state) for key, state in versions_of(each.versions).items()}
        for each in (kept, made)
    )
    first = min(key for key in {*stored, *computed} if stored.get(key) != computed.get(key))
    return next(first_difference(names[first], stored.get(first), computed.get(first)))
