"""A server's database, read behind its back and held against the rules; and the fixtures."""

import signal
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, func, select, text
from sqlalchemy.orm import aliased
from tests.system.processes import Processes, Server

from meijin.game import Board, Color, Ending, Outcome, Result, chosen_color, decode_moves
from meijin.ladder.statistics import elo
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.pair_counts import PairCounts
from meijin.ladder.verify import verify
from meijin.store import Database
from meijin.store.database import database_file
from meijin.store.games import decode_choice
from meijin.store.journal import StoredMove, kept_moves, unpack_moves
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import Standings, standings
from meijin.store.move_log.reader import LogReader, read_log
from meijin.store.move_log.segment import log_folder
from meijin.store.schema import (
    Bot,
    BotVersion,
    Game,
    GameId,
    GameState,
    Pairing,
    Tournament,
    TournamentState,
)

ON_THE_BOARD = {Ending.FIVE, Ending.DRAW}


class Books:
    """What stands in a server's database, read behind its back."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)

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
        if state is not None:
            query = query.where(Game.state == state)
        return self.database.read(lambda sql: sql.execute(query).all())

    def finished(self) -> int:
        """How many games have a result."""
        query = select(func.count(Game.id)).where(Game.state == GameState.FINISHED)
        return self.database.read(lambda sql: sql.execute(query).scalar_one())

    def finished_at_least(self, games: int) -> bool:
        """Whether so many games have a result."""
        return self.finished() >= games

    def planned(self) -> int:
        """How many games are planned."""
        return self.database.read(lambda sql: sql.scalar(select(func.count(Pairing.id)))) or 0

    def running(self) -> set[str]:
        """The games that run."""
        query = select(Game.id).where(Game.state == GameState.RUNNING)
        return set(map(str, self.database.read(lambda sql: sql.scalars(query).all())))

    def openings_under_way(self) -> set[str]:
        """The games in which stones of an opening lie, and no side is chosen yet."""
        codes: dict[GameId, list[int]] = {}
        for move in self.moves():
            codes.setdefault(move.game_id, []).append(move.code)
        is_open = {str(key) for key, some in codes.items() if not any(map(chosen_color, some))}
        return is_open & self.running()

    def was_written_anew(self) -> bool:
        """Whether the journal holds a game that was written anew."""
        return any(move.is_anew for move in self.moves())

    def moves(self) -> list[StoredMove]:
        """What is kept of running games, in the database and in the log beside it."""
        packed = self.database.read(lambda at: b"".join(kept_moves(at)))
        path = database_file(str(self.database.url))
        if path is not None:
            with LogReader(log_folder(path.resolve())) as log:
                entries = self.database.read(lambda at: list(read_log(at, log)))
                packed += b"".join(entry.moves for entry in entries)
        return list(unpack_moves(packed))

    def are_under_way(self, finished: int) -> bool:
        """Whether so many games have a result, and others run."""
        return self.finished() >= finished and bool(self.running())

    def have_ended(self, games: set[str]) -> bool:
        """Whether none of these games runs."""
        return self.running().isdisjoint(games)

    def tournaments_running(self) -> int:
        """How many tournaments are being played."""
        is_running = Tournament.state == TournamentState.RUNNING
        query = select(func.count(Tournament.id)).where(is_running)
        return self.database.read(lambda sql: sql.execute(query).scalar_one())

    def assert_each_planned_game_was_played_once(self, planned: int) -> None:
        """Every pairing has one game; each was decided on the board and replays to its result."""
        games = self.games()
        pairings = self.database.read(lambda sql: sql.scalars(select(Pairing.id)).all())
        assert len(pairings) == planned
        assert Counter(game.pairing_id for game in games) == Counter(pairings)
        assert [game.end_sequence for game in games] == list(range(1, planned + 1))
        for game in games:
            _assert_replays(game)
        if self.database.is_sqlite:
            check = text("PRAGMA integrity_check")
            assert self.database.read(lambda sql: sql.execute(check).scalar()) == "ok"

    def assert_holds(self, journal: Path) -> None:
        """Every move and every result that a bot was told of is stored."""
        games = {str(game.id): game for game in self.games()}
        lines = journal.read_text().splitlines()
        assert lines
        for line in lines:
            what, game_id, told = line.split(" ", 2)
            game = games[game_id]
            if what == "told":
                assert game.moves.hex().startswith(told), f"game {game_id} lost a move"
            elif what == "ended":
                assert f"{game.result.value} {game.ending.value}" == told

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
        elos = {row.version_id: row.line.elo for row in table.standings}
        fit = fit_with_widths(_columns(results, [game.opening for game in rated]))
        assert list(elos) == sorted(elos, key=lambda version: (-elos[version], version))
        shift = statistics.mean(elos.values()) - statistics.mean(fit.elo)
        for version, strength in zip(fit.players.tolist(), fit.elo.tolist(), strict=True):
            assert elos[version] == pytest.approx(strength + shift, abs=1e-3)
        classic = elo.replay(results)
        for row in table.standings:
            assert row.line.classic_elo == round(classic[row.version_id], 4)
        assert sum(row.line.as_black.games for row in table.standings) == len(rated)
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


def _standings(sql: Connection) -> Standings:
    table = standings(sql, ladders.get_ladder(sql, ""))
    assert table.ladder.is_current
    return table


def _assert_replays(game: Any) -> None:
    assert game.state is GameState.FINISHED
    assert game.ending in ON_THE_BOARD, f"game {game.id}: {game.detail}"
    assert game.moves.startswith(game.opening_cells)
    board = Board.from_moves(decode_moves(game.moves), game.variant)
    expected = Outcome(Ending.DRAW if board.winner is None else Ending.FIVE, board.winner)
    assert (game.result, game.ending) == (expected.result, expected.ending)
    assert board.winner is not None or board.is_full
    assert len(game.times) == 16 * (len(board.moves) - game.opening_plies)
    rule = game.variant.opening_rule
    if not rule.stones:
        assert game.choice is None
        return
    choice, *_ = decode_choice(game.choice)
    assert choice.ply in {rule.stones, rule.most_stones}
    # Who chose has the colour that it chose: the first player is black unless that swapped them.
    chooser_is_first = choice.ply != rule.stones
    assert game.is_swapped == (chooser_is_first == (choice.color is Color.WHITE))
    assert (game.black != game.first) == game.is_swapped


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Processes hear SIGINT, also where the tests run in a shell's background, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Starts processes in the test's own folder; all are gone at the end."""
    processes = Processes(tmp_path)
    yield processes
    processes.kill_all()


@pytest.fixture(scope="module")
def guarded_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks for tokens, for all tests of a module."""
    processes = Processes(tmp_path_factory.mktemp("arena"))
    yield Server(processes)
    processes.kill_all()


@pytest.fixture
def open_books() -> Iterator[Callable[[str], Books]]:
    """Look into the database of an URL."""
    with ExitStack() as stack:

        def open_books(url: str) -> Books:
            books = Books(url)
            stack.callback(books.database.close)
            return books

        yield open_books
