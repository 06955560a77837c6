"""The audit: what must hold after a campaign, each breach told in a sentence."""

import socket
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.processes import processes_of
from tests.system.books import ON_THE_BOARD, Told, read_journal, unsent
from tests.system.chaos.arena import BOTS, Arena

from meijin.game import Result
from meijin.store.faults import FaultRow, list_faults
from meijin.store.schema import FaultParty, GameState

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


class Audit:
    """Looks for breaches in what a campaign has left."""

    def __init__(self, arena: Arena, windows: Sequence[Window]) -> None:
        self._server = arena.server
        self._books = arena.server.books
        self._windows = windows
        self._games = self._books.games()
        self._faults: defaultdict[int, list[FaultRow]] = defaultdict(list)
        for row in self._books.database.read(lambda at: list_faults(at, limit=MANY)):
            if row.game_id is not None and row.ending is not None:
                self._faults[row.game_id].append(row)

    @property
    def forfeits(self) -> list[Any]:
        """The games that were lost other than on the board."""
        finished = (game for game in self._games if game.state is GameState.FINISHED)
        return [game for game in finished if game.ending not in ON_THE_BOARD]

    @property
    def voids(self) -> list[Any]:
        """The games that count for nothing and were played again."""
        return [game for game in self._games if game.state is GameState.VOID]

    def breaches(self) -> list[str]:
        """Everything that is not as it must be, with the arena still there."""
        return [
            *self._books.breaches(),
            *self._ledger(),
            *self._journals(),
            *_asserted("the ladder", self._books.assert_ladder_is_what_the_games_give),
            *_asserted("meijin ladder verify", self._verify),
            *self._logs(),
        ]

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
        for bot in BOTS:
            journal = self._server.journal(bot)
            yield from self._books.breaches_of(journal)
            told = read_journal(journal)
            for game in self._games:
                if bot in {game.black, game.white}:
                    for breach in unsent(bot, game, told.get(str(game.id), Told())):
                        yield f"game {game.id}, {bot}: {breach}"

    def _verify(self) -> None:
        url = f"--database={self._server.database_url}"
        assert self._server.ask("ladder", "verify", url)["differences"] == []

    def _logs(self) -> Iterator[str]:
        for path in sorted(self._server.folder.glob("*.log")):
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


def _asserted(what: str, check: Callable[[], None]) -> Iterator[str]:
    try:
        check()
    except AssertionError as error:
        yield f"{what}: {error or 'an assertion failed'}"
