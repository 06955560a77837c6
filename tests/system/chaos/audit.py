"""The audit: what must hold after a campaign, each breach told in a sentence."""

import json
import socket
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import aliased
from tests.system.chaos.arena import BOTS, Arena
from tests.system.conftest import Books
from tests.system.processes import processes_of

from meijin.game import Board, Ending, Result, decode_moves
from meijin.store.faults import FaultRow, list_faults
from meijin.store.schema import Bot, FaultParty, Game, GameState, Pairing, Tournament

BOARD = {Ending.FIVE, Ending.DRAW}
BOTS_OWN = {FaultParty.BOT, FaultParty.CONNECTION}
MANY = 10_000


@dataclass(frozen=True, slots=True)
class Window:
    """Which games ran while faults lasted, and the bots that these may have cost a game."""

    victims: Collection[str]
    running: Collection[int]
    """When the faults struck."""
    last_before: int
    """The newest game then."""
    last: int
    """The newest game when all was mended."""

    def explains(self, bot: str, game: int) -> bool:
        """Whether a bot may have lost a game by what was done to it."""
        struck = game in self.running or self.last_before < game <= self.last
        return bot in self.victims and struck


@dataclass
class Told:
    """What one bot was told of one game, and what it answered."""

    turns: list[str] = field(default_factory=list)
    """The moves at each turn, as hexadecimal digits."""
    sent: set[tuple[int, int]] = field(default_factory=set)
    """The ply and the cell of each answer."""
    endings: list[str] = field(default_factory=list)


def all_games(books: Books) -> Sequence[Any]:
    """Every game with the names of its players."""
    black, white = aliased(Bot), aliased(Bot)
    query = (
        select(
            Game.__table__,
            Pairing.opening.label("opening_cells"),
            Tournament.variant,
            black.name.label("black"),
            white.name.label("white"),
        )
        .join(Pairing, Pairing.id == Game.pairing_id)
        .join(Tournament, Tournament.id == Game.tournament_id)
        .join(black, black.id == Pairing.black_id)
        .join(white, white.id == Pairing.white_id)
        .order_by(Game.id)
    )
    return books.database.read(lambda sql: sql.execute(query).all())


def last_game(books: Books) -> int:
    """The newest game that is stored."""
    return books.database.read(lambda sql: sql.scalar(select(func.max(Game.id)))) or 0


def read_journal(lines: Sequence[str]) -> dict[str, Told]:
    """A bot's journal, game by game."""
    found: defaultdict[str, Told] = defaultdict(Told)
    for line in lines:
        what, game, rest = line.split(" ", 2)
        if what == "told":
            found[game].turns.append(rest)
        elif what == "sent":
            ply, cell = rest.split()
            found[game].sent.add((int(ply), int(cell)))
        else:
            found[game].endings.append(rest)
    return dict(found)


class Audit:
    """Looks for breaches in what a campaign has left."""

    def __init__(self, arena: Arena, books: Books, windows: Sequence[Window]) -> None:
        self._arena = arena
        self._books = books
        self._windows = windows
        self._games = all_games(books)
        self._faults: defaultdict[int, list[FaultRow]] = defaultdict(list)
        for row in books.database.read(lambda sql: list_faults(sql, limit=MANY)):
            if row.game_id is not None and row.ending is not None:
                self._faults[row.game_id].append(row)

    @property
    def forfeits(self) -> list[Any]:
        """The games that were lost other than on the board."""
        finished = (game for game in self._games if game.state is GameState.FINISHED)
        return [game for game in finished if game.ending not in BOARD]

    @property
    def voids(self) -> list[Any]:
        """The games that count for nothing and were played again."""
        return [game for game in self._games if game.state is GameState.VOID]

    def breaches(self) -> list[str]:
        """Everything that is not as it must be, with the arena still there."""
        return [
            *self._plan(),
            *self._records(),
            *self._ledger(),
            *self._journals(),
            *_asserted("the ladder", self._books.assert_ladder_is_what_the_games_give),
            *self._verification(),
            *self._logs(),
        ]

    def _plan(self) -> Iterator[str]:
        """Each planned game was played and counts once."""
        counts = Counter(game.pairing_id for game in self._games if game not in self.voids)
        pairings = self._books.database.read(lambda sql: sql.scalars(select(Pairing.id)).all())
        for pairing in {*pairings, *counts}:
            if counts[pairing] != 1:
                yield f"pairing {pairing} has {counts[pairing]} games"
        ends = sorted(game.end_sequence for game in self._games if game not in self.voids)
        if ends != sorted(set(ends)):
            yield "two games ended as the same one"

    def _records(self) -> Iterator[str]:
        for game in self._games:
            if game.state is GameState.RUNNING:
                yield f"game {game.id} still runs"
            else:
                yield from _replay(game)

    def _ledger(self) -> Iterator[str]:
        """No bot lost a game but by what was done to that very bot; voids have a reason."""
        for game in self.forfeits:
            loser = game.white if game.result is Result.BLACK_WINS else game.black
            rows = self._faults[game.id]
            if [(row.bot, row.party in BOTS_OWN) for row in rows] != [(loser, True)]:
                yield f"game {game.id} was forfeited by {loser}, and the ledger says {rows}"
            if not any(window.explains(loser, game.id) for window in self._windows):
                yield (
                    f"game {game.id} was forfeited by {loser} ({game.ending.value}), to which "
                    f"nothing was done: {game.detail} {[row.evidence for row in rows]}"
                )
        for game in self.voids:
            rows = self._faults[game.id]
            if not rows or any(row.party in BOTS_OWN for row in rows):
                yield f"game {game.id} is void: {game.detail}; the ledger says {rows}"

    def _journals(self) -> Iterator[str]:
        """What bots were told is stored, what is stored they have sent."""
        games = {str(game.id): game for game in self._games}
        for bot in BOTS:
            told = read_journal(self._arena.processes.journal(bot).read_text().splitlines())
            for key in told.keys() - games.keys():
                yield f"{bot} was told of game {key}, which is not stored"
            for key, game in games.items():
                if bot in {game.black, game.white}:
                    for breach in compare(bot, game, told.get(key, Told())):
                        yield f"game {key}, {bot}: {breach}"

    def _verification(self) -> Iterator[str]:
        url = f"--database={self._arena.database_url}"
        done = self._arena.processes.run("ladder", "verify", "--json", url)
        if done.returncode or json.loads(done.stdout)["differences"]:
            yield f"meijin ladder verify: {done.stdout} {done.stderr}"

    def _logs(self) -> Iterator[str]:
        for path in sorted(self._arena.processes.folder.glob("*.log")):
            text = path.read_text(errors="replace")
            for word in ("Traceback", "gmk_"):
                if word in text:
                    at = text.index(word)
                    yield f"{path.name} says: {text[max(0, at - 300) : at + 1500]}"


def left_over(arena: Arena) -> Iterator[str]:
    """Stop everything in order; what does not end, or stays."""
    for name, bot in arena.bots.items():
        if not bot.is_running:
            yield f"{name} had ended: {bot.words[-500:]}"
        elif status := bot.stop():
            yield f"{name} ended with status {status}: {bot.words[-500:]}"
    if status := arena.server.process.stop():
        yield f"the server ended with status {status}: {arena.server.process.words[-1000:]}"
    for pid in processes_of(arena.processes.folder):
        yield f"process {pid} is left"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # ended connections may stay
        try:
            probe.bind(("127.0.0.1", arena.server.port))
        except OSError as error:
            yield f"the port is left: {error}"
    for path in sorted(arena.server.data.rglob("*")):
        if path.suffix in {".tmp", ".sock"} or path.name.endswith(("-wal", "-shm", "-journal")):
            yield f"{path.name} is left"


def _replay(game: Any) -> Iterator[str]:
    """A record that the rules do not allow, or that ends otherwise than it says."""
    if not game.moves.startswith(game.opening_cells):
        yield f"game {game.id} does not begin with its opening"
    try:
        board = Board.from_moves(decode_moves(game.moves), game.variant)
    except ValueError as error:
        yield f"game {game.id} does not replay: {error}"
        return
    if game.state is GameState.FINISHED and game.ending in BOARD:
        result = Result.DRAW if board.winner is None else Result.won_by(board.winner)
        if game.result is not result or (board.winner is None and not board.is_full):
            yield f"game {game.id} ended as {game.result}, by the rules as {result}"
    elif board.winner is not None:
        yield f"game {game.id} was won before it ended by {game.ending}"
    if len(game.times) != 16 * (len(board.moves) - game.opening_plies):
        yield f"game {game.id} has times of {len(game.times) / 16:g} moves"


def compare(bot: str, game: Any, told: Told) -> Iterator[str]:
    """A bot's journal of a game against the record."""
    side = 0 if bot == game.black else 1
    record = game.moves.hex()
    for earlier, later in zip(told.turns, told.turns[1:], strict=False):
        if not later.startswith(earlier):
            yield f"was told {earlier} and then {later}"
    for turn in told.turns:
        if not record.startswith(turn):
            yield f"was told {turn}, stored is {record}"
        if len(turn) // 4 % 2 != side:
            yield f"was asked for the other side's ply {len(turn) // 4}"
    for ply, cell in enumerate(decode_moves(game.moves)):
        if ply >= game.opening_plies and ply % 2 == side and (ply, cell) not in told.sent:
            yield f"never sent {cell} at ply {ply}, which is stored"
    if len(told.endings) > 1 or set(told.endings) - {f"{game.result.value} {game.ending.value}"}:
        yield f"was told {told.endings}, stored is {game.result} {game.ending}"


def _asserted(what: str, check: Callable[[], None]) -> Iterator[str]:
    try:
        check()
    except AssertionError as error:
        yield f"{what}: {error or 'an assertion failed'}"
