"""The cell of a topic: its newest state, encoded once for all who watch it."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from meijin.v1.game_service_pb2 import GameUpdate, WatchArenaResponse
from meijin.web.live.boards import LiveBoard, to_json
from meijin.web.live.topics import GRID_GAMES

ENDED_FOR = timedelta(seconds=6)
"""How long a game that has ended stays in a grid, where others wait for its place."""


def event(kind: str, content: Mapping[str, object]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(content, separators=(',', ':'))}\n\n".encode()


class Cell:
    """The newest state of a topic, by versions: who has missed one is told all of the newest."""

    def __init__(self, name: str, shown: Callable[[str], str]) -> None:
        """`shown` is what people call a bot of a name."""
        self.version = 0
        """0 until something is known."""
        self._name = name
        self._shown = shown
        self._boards: dict[str, LiveBoard] = {}
        self.change = b""
        """What brings those up to date who were told the version before."""
        self.chunk = b""
        """The same as it goes over a connection: a chunk of HTTP/1.1, made once for all who watch."""
        self.farewell: bytes | None = None
        """What watchers are told when there will be nothing more; ``None`` until then."""
        self._whole: bytes | None = None

    def take(self, messages: Iterable[WatchArenaResponse], now_ms: int, *, is_first: bool) -> None:
        """Take what was told of one look at the games.

        Args:
            now_ms: Now, by the clock of the frames.
            is_first: Whether the messages hold all games, and those known so far are no more.
        """
        if is_first:
            self._boards.clear()
        updates: list[GameUpdate] = []
        for message in messages:
            updates += filter(self._is_of_a_board, message.games)
        for update in updates:
            self._boards.setdefault(update.game_id, LiveBoard()).take(update, now_ms)
        gone = self._drop_ended(now_ms)
        if not (is_first or updates or gone):
            return
        self.version, self._whole = self.version + 1, None
        games = [to_json(update, now_ms, self._shown) for update in updates]
        self.change = self._all() if is_first else self._encoded(games, gone, is_whole=False)
        self.chunk = b"%x\r\n%b\r\n" % (len(self.change), self.change)

    def since(self, version: int) -> bytes | None:
        """What brings one up to date who was told a version; ``None`` where nothing does."""
        if version == self.version:
            return None
        return self.change if version and version == self.version - 1 else self._all()

    def _is_of_a_board(self, update: GameUpdate) -> bool:
        """Whether a game is shown: thoughts may come so late that it is none any more."""
        return update.game_id in self._boards or update.HasField("game")

    def _drop_ended(self, now_ms: int) -> list[str]:
        """Forget games that have ended long ago, or are too many."""
        spare = len(self._boards) - GRID_GAMES
        limit_ms = now_ms - ENDED_FOR // timedelta(milliseconds=1)
        gone: list[str] = []
        if self._name.startswith("game:"):
            return gone
        for game_id, board in self._boards.items():
            if board.ended_ms is not None and (board.ended_ms < limit_ms or len(gone) < spare):
                gone.append(game_id)
        for game_id in gone:
            del self._boards[game_id]
        return gone

    def _all(self) -> bytes:
        if self._whole is None:
            games = [
                to_json(board.whole, board.clocks_ms, self._shown)
                for board in self._boards.values()
            ]
            self._whole = self._encoded(games, (), is_whole=True)
        return self._whole

    def _encoded(
        self, games: Iterable[Mapping[str, object]], gone: Iterable[str], *, is_whole: bool
    ) -> bytes:
        content = {
            "topic": self._name,
            "whole": is_whole,
            "games": list(games),
            "gone": list(gone),
        }
        return event("games", content)
