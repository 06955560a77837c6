"""The audit: a server's database and its bots' journals, read behind its back and held to the rules.

Chaos, power cuts, and every test in which a tournament is disturbed ask the same questions of the
same tables.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, func, select, text
from tests.ladder.statistics.made_games import replay

from meijin.game import Board, Choose, Color, Ending, Result, decode_moves
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.pair_counts import PairCounts
from meijin.ladder.verification.verify import verify
from meijin.store import Database
from meijin.store.games import decode_decisions
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import Standings, standings
from meijin.store.schema import (
    Bot,
    BotVersion,
    Game,
    GameState,
    Pairing,
    Tournament,
    TournamentState,
    aliased,
)

ON_THE_BOARD = {Ending.FIVE, Ending.DRAW}


class Books:
    """What stands in a server's database."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)

    def _all(self, query: Any) -> Sequence[Any]:
        return self.database.read(lambda at: at.execute(query).all())

    def games(self, state: GameState | None = None) -> Sequence[Any]:
        """The games, or those in a state, with opening, variant, and names of black, white and the first.

        The first is whom the pairing calls black.
        """
        first, white, white_version = aliased(Bot), aliased(Bot), aliased(BotVersion)
        query = (
            select(
                Game.__table__,
                Pairing.opening.label("opening_cells"),
                Tournament.variant,
                Bot.name.label("black"),
                white.name.label("white"),
                first.name.label("first"),
            )
            .join(Pairing, Pairing.id == Game.pairing_id)
            .join(Tournament, Tournament.id == Game.tournament_id)
            .join(BotVersion, BotVersion.id == Game.black_id)
            .join(Bot, Bot.id == BotVersion.bot_id)
            .join(white_version, white_version.id == Game.white_id)
            .join(white, white.id == white_version.bot_id)
            .join(first, first.id == Pairing.black_id)
            .order_by(Game.end_sequence)
        )
        return self._all(query if state is None else query.where(Game.state == state))

    def finished(self) -> int:
        return len(self._all(select(Game.id).where(Game.state == GameState.FINISHED)))

    def planned(self) -> int:
        return self.database.read(lambda at: at.scalar(select(func.count(Pairing.id)))) or 0

    def running(self) -> set[str]:
        return {
            str(row.id) for row in self._all(select(Game.id).where(Game.state == GameState.RUNNING))
        }

    def last_game(self) -> int:
        return self.database.read(lambda at: at.scalar(select(func.max(Game.id)))) or 0

    def are_under_way(self, finished: int) -> bool:
        """Whether this many games have a result, and others run."""
        return self.finished() >= finished and bool(self.running())

    def tournaments_running(self) -> int:
        is_running = Tournament.state == TournamentState.RUNNING
        return len(self._all(select(Tournament.id).where(is_running)))

    # -- the audit --------------------------------------------------------------------------

    def breaches(self) -> Iterator[str]:
        """What is not as it must be when all is played: each planned game counts once, by the rules."""
        games = self.games()
        counted = [game for game in games if game.state is not GameState.VOID]
        counts = Counter(game.pairing_id for game in counted)
        for pairing in {*counts, *(row.id for row in self._all(select(Pairing.id)))}:
            if counts[pairing] != 1:
                yield f"pairing {pairing} has {counts[pairing]} games"
        ends = [game.end_sequence for game in counted if game.end_sequence is not None]
        if len(ends) != len(set(ends)):
            yield "two games ended as the same one"
        for game in games:
            if game.state is GameState.RUNNING:
                yield f"game {game.id} still runs"
            else:
                yield from (f"game {game.id} {words}" for words in _replay(game))
        if self.database.is_sqlite:
            (check,) = self._all(text("PRAGMA integrity_check"))
            if check != ("ok",):
                yield f"the database is damaged: {check}"

    def breaches_of(self, journal: Path) -> Iterator[str]:
        """What a bot was told that is not stored; the journal's name is the bot's."""
        games = {str(game.id): game for game in self.games()}
        for key, told in read_journal(journal).items():
            if key not in games:
                yield f"{journal.stem} was told of game {key}, which is not stored"
                continue
            for breach in compare(journal.stem, games[key], told):
                yield f"game {key}, {journal.stem}: {breach}"

    def assert_each_planned_game_was_played_once(self, planned: int) -> None:
        """Every pairing has one game, which was decided on the board."""
        games = self.games()
        assert list(self.breaches()) == []
        assert [game.end_sequence for game in games] == list(range(1, planned + 1))
        forfeits = [game.detail for game in games if game.ending not in ON_THE_BOARD]
        assert forfeits == []

    def assert_ladder_is_what_the_games_give(self) -> None:
        """The published ladder equals one computed here, game by game, and proves itself."""
        games = self.games(GameState.FINISHED)
        distinct = {_content(game): game for game in reversed(games)}
        rated = sorted(distinct.values(), key=lambda game: game.end_sequence)
        points = {Result.BLACK_WINS: 1.0, Result.DRAW: 0.5, Result.WHITE_WINS: 0.0}
        results = [(game.black_id, game.white_id, points[game.result]) for game in rated]
        table = self.database.read(_standings)
        assert table.run is not None
        assert (table.run.games, table.run.repeats) == (len(rated), len(games) - len(rated))
        elos = {row.version_id: row.elo for row in table.standings}
        fit = fit_with_widths(_columns(results, [game.opening for game in rated]))
        assert list(elos) == sorted(elos, key=lambda version: (-elos[version], version))
        shift = statistics.mean(elos.values()) - statistics.mean(fit.elo)
        for version, strength in zip(fit.players.tolist(), fit.elo.tolist(), strict=True):
            assert elos[version] == pytest.approx(strength + shift, abs=1e-3)
        classic = replay(results)
        for row in table.standings:
            assert row.classic_elo == round(classic[row.version_id], 4)
        assert sum(row.as_black.games for row in table.standings) == len(rated)
        assert verify(self.database, table.ladder.id).differences == ()


def _content(game: Any) -> tuple[object, ...]:
    """What two games share of which one repeats the other: one without a move repeats none."""
    if len(decode_moves(game.moves)) == game.opening_plies:
        return (game.id,)
    players, moves = (game.black_id, game.white_id), (game.opening_plies, game.moves)
    return (*players, *moves, game.result, game.ending, game.at_fault)


def _columns(results: Sequence[tuple[int, int, float]], openings: Sequence[int]) -> PairCounts:
    rows = [(black, white, won == 1, won == 0.5, won == 0) for black, white, won in results]
    first, second, *ends = np.array(rows, dtype=np.int64).T
    wins, draws, losses = (column.astype(np.float64) for column in ends)
    return PairCounts(first, second, wins, draws, losses, np.array(openings, dtype=np.int64))


def _standings(connection: Connection) -> Standings:
    table = standings(connection, ladders.get_ladder(connection, ""))
    assert table.ladder.is_current
    return table


def _replay(game: Any) -> Iterator[str]:
    """How a record breaks the rules, or ends otherwise than it says."""
    if not game.moves.startswith(game.opening_cells):
        yield "does not begin with its opening"
    try:
        board = Board.from_moves(decode_moves(game.moves), game.variant)
    except ValueError as error:
        yield f"does not replay: {error}"
        return
    if game.state is GameState.FINISHED and game.ending in ON_THE_BOARD:
        result = Result.DRAW if board.winner is None else Result.won_by(board.winner)
        ending = Ending.DRAW if board.winner is None else Ending.FIVE
        if (game.result, game.ending) != (result, ending) or not board.is_over:
            yield f"ended as {game.result} by {game.ending}, by the rules as {result}"
        yield from _replay_choice(game)
    elif board.winner is not None:
        yield f"was won before it ended by {game.ending}"
    if len(game.times) != 16 * (len(board.moves) - game.opening_plies):
        yield f"has times of {len(game.times) / 16:g} moves"


def _replay_choice(game: Any) -> Iterator[str]:
    """Who chose has the colour that it chose: the first player is black unless that swapped them."""
    rule = game.variant.opening_rule
    if not rule.steps:
        if game.decisions is not None:
            yield "has a choice that nobody made"
        return
    ((ply, action),), _ = decode_decisions(game.decisions)
    assert isinstance(action, Choose)
    chooser_is_first = ply != rule.steps[0].count
    is_swapped = chooser_is_first == (action.color is Color.WHITE)
    swaps = {is_swapped, game.is_swapped, game.black != game.first}
    if ply not in {rule.steps[0].count, rule.most_stones} or len(swaps) != 1:
        yield f"has the choice {action} at {ply}, and {game.black} is black"


# -- journals -----------------------------------------------------------------------------


@dataclass
class Told:
    """What one bot was told of one game, and what it answered."""

    turns: list[str] = field(default_factory=list)
    """The moves at each turn, as hexadecimal digits."""
    sent: set[tuple[int, int]] = field(default_factory=set)
    """The ply and the cell of each answer."""
    endings: list[str] = field(default_factory=list)


def read_journal(path: Path) -> dict[str, Told]:
    """A bot's journal, game by game, up to the last whole line."""
    found: defaultdict[str, Told] = defaultdict(Told)
    text = path.read_text() if path.exists() else ""
    for line in text[: text.rfind("\n") + 1].splitlines():
        what, game, rest = line.split(" ", 2)
        if what == "told":
            found[game].turns.append(rest)
        elif what == "sent":
            ply, cell = rest.split()
            found[game].sent.add((int(ply), int(cell)))
        else:
            found[game].endings.append(rest)
    return dict(found)


def compare(bot: str, game: Any, told: Told) -> Iterator[str]:
    record = game.moves.hex()
    for earlier, later in zip(told.turns, told.turns[1:], strict=False):
        if not later.startswith(earlier):
            yield f"was told {earlier} and then {later}"
    for turn in told.turns:
        if not record.startswith(turn):
            yield f"was told {turn}, stored is {record}"
        if not game.variant.opening_rule.steps and len(turn) // 4 % 2 != _side(bot, game):
            yield f"was asked for the other side's ply {len(turn) // 4}"
    stored = [] if game.ending is None else [f"{game.result.value} {game.ending.value}"]
    if told.endings not in ([], stored):
        yield f"was told {told.endings}, stored is {game.result} {game.ending}"


def unsent(bot: str, game: Any, told: Told) -> Iterator[str]:
    """The moves of a bot that are stored, and that it never sent."""
    for ply, cell in enumerate(decode_moves(game.moves)):
        is_own = ply >= game.opening_plies and ply % 2 == _side(bot, game)
        if is_own and (ply, cell) not in told.sent:
            yield f"never sent {cell} at ply {ply}, which is stored"


def _side(bot: str, game: Any) -> int:
    return 0 if bot == game.black else 1
