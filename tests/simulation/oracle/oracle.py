"""The oracle: reads what is committed, hears what is told and done, and has all of it checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tests.simulation.disk import Disk
from tests.simulation.network import Stream
from tests.simulation.oracle import clocks, moves
from tests.simulation.oracle.books import Books, GameRecord, Mark
from tests.simulation.oracle.deeds import Deeds
from tests.simulation.oracle.facts import Facts
from tests.simulation.oracle.forfeits import Forfeits
from tests.simulation.oracle.presence import Presence
from tests.simulation.oracle.results import Results
from tests.simulation.oracle.violation import require

from meijin.game import Color, Ending, TimeControl, Variant
from meijin.store.move_log.entry import LogEntry
from meijin.v1 import play_service_pb2 as pb


class Oracle:
    """Keeps the books beside the product, and compares.

    Args:
        grace_ns: How long a bot may be away before it forfeits.
    """

    def __init__(self, disk: Disk, now_ns: Callable[[], int], *, grace_ns: int) -> None:
        self.books = Books(now_ns)
        self.presence = Presence(self.books)
        self._results = Results(self.books)
        self._forfeits = Forfeits(self.presence, grace_ns=grace_ns)
        self._facts = Facts(self.books)
        self._deeds = Deeds(self.books)
        self._disk = disk
        self._reader = disk.reader
        self._last_entry = self._last_game = self._last_fault = 0
        self._entries = 0
        self._move_commits = 0
        """How many entries with moves were committed."""
        self._unsynced: list[tuple[GameRecord, Mark]] = []
        """Before each move that a power cut may take, the oldest first, how far its game had come."""

    @property
    def endings(self) -> Counter[str]:
        return self._results.endings

    def committed(self) -> None:
        read = self._reader.execute
        for row in read(_STARTS, (self._last_game,)).fetchall():
            self._last_game = row[0]
            self._start(*row)
        for entry, stored in read(_ENTRIES, (self._last_entry,)).fetchall():
            self._last_entry = entry
            if stored:
                self._add(stored)
        for row in read(_ENDS, (self._results.last_end,)).fetchall():
            self._end(*row)
        for fault, game_id, ending in read(_FAULTS, (self._last_fault,)).fetchall():
            self._last_fault = fault
            if ending == "void":
                self._results.void(self.books.games[game_id])
        (entries,) = read("SELECT count(*) FROM journal").fetchone()
        if entries < self._entries:
            self.check_journal()
        self._entries = entries

    def logged(self, entry: LogEntry) -> None:
        self._add(bytes(entry.moves))

    def synced(self) -> None:
        self._unsynced.clear()

    def _add(self, stored: bytes) -> None:
        self.books.known_entry = self._move_commits  # its answer came before this commit
        self._move_commits += 1
        news, anew = moves.split(stored)
        for move in news:
            self._move(*move)
        moves.check_anew(self.books.games, anew)

    def check_journal(self) -> None:
        """All committed moves of running games are still there."""
        moves.check_journal(self.books.games.values(), self._disk.journal())

    def _start(self, game_id: int, *columns: object) -> None:
        pairing_id, ladder, black, white, variant, control, own_control, plies, stored, state = (
            columns
        )
        game = GameRecord(
            id=game_id,
            pairing_id=pairing_id,  # type: ignore[arg-type]
            names=("", str(black), str(white)),
            variant=Variant.parse(str(variant)),
            control=TimeControl.parse(str(own_control or control)),
            is_rated=ladder is not None,
            opening_plies=int(plies),  # type: ignore[call-overload]
            moves=bytearray(stored[: 2 * plies]),  # type: ignore[index, operator]
        )
        self._results.begin(game, state)
        self._deeds.begin(game)

    def _move(self, game_id: int, ply: int, cell: int, raw_ns: int, charged_ns: int) -> None:
        game = self.books.games[game_id]
        if self._disk.keeps_log and game.state != "running":
            moves.check_late(game, ply, cell)  # its end, with all moves, did not wait for the log
            return
        require(game.state == "running", f"a move of game {game_id}, which is {game.state}")
        self._unsynced.append((game, game.mark))
        moves.add_move(game, ply, cell, raw_ns, charged_ns, now_ns=self.books.now_ns())
        if cell in moves.COLORS:
            game.chosen_in = self._move_commits

    def _end(self, game_id: int, sequence: int, *columns: object) -> None:
        state, ended_by, result, at_fault, stored, times, choice, *players = columns
        assert isinstance(stored, bytes)
        assert choice is None or isinstance(choice, bytes)
        assert isinstance(times, bytes)
        game, ending = self.books.games[game_id], Ending(ended_by)
        self._results.end(game, sequence, ending)
        self._check_record(game, ending, stored, times)
        if choice is not None and game.chosen is None:
            require(self._disk.keeps_log, f"game {game_id}: its choice is in no entry")
            moves.add_choice(game, choice, now_ns=self.books.now_ns())
        self._results.count(game, str(state), ending)
        names = [game.names[game.seat_of(color)] for color in Color]
        require(players == names, f"game {game_id} is stored as {players}, and was {names}")
        loser = {"1-0": Color.WHITE, "0-1": Color.BLACK}.get(str(result))
        self._forfeits.check(game, ending, loser, str(at_fault))

    def _check_record(self, game: GameRecord, ending: Ending, stored: bytes, times: bytes) -> None:
        """Both columns of times hold every move's; the last move comes with the end alone."""
        columns = memoryview(times).cast("Q")
        made = len(columns) // 2
        require(len(stored) // 2 == game.opening_plies + made, f"game {game.id}: {made} times")
        raw, charged = columns[:made], columns[made:]
        most = game.ply + (not ending.is_forfeit)
        if self._disk.keeps_log:  # an action that the log has not yet
            most = len(stored) // 2
        while game.ply < min(most, len(stored) // 2):
            cell = int.from_bytes(stored[2 * game.ply : 2 * game.ply + 2], "little")
            spent = raw[game.ply - game.opening_plies], charged[game.ply - game.opening_plies]
            moves.add_move(game, game.ply, cell, *spent, now_ns=self.books.now_ns())
        clocks.check_record(game, charged)
        moves.check_record(game, stored)

    def written(self, stream: Stream, message: pb.PlayResponse, delivered_ns: int) -> None:
        if message.HasField("welcome") and stream.client.is_hostile:
            self.presence.came(stream)  # its hello may have been refused
        self._facts.written(stream, message, delivered_ns)

    def arrived(self, stream: Stream, message: pb.PlayRequest) -> None:
        """A message of a bot has reached the server's machine."""
        kind = message.WhichOneof("command")
        if kind == "hello" and not stream.client.is_hostile:
            self.presence.came(stream)
        elif kind == "goodbye":
            self._deeds.goodbye(stream.client.name)
        elif kind == "actions":
            self._deeds.act(stream, message.actions)

    def left(self, stream: Stream) -> None:
        self.presence.left(stream)

    def server_died(self) -> None:
        """What was not committed is lost, and who is away is excused."""
        self.presence.server_died()
        self.books.server_died()
        self.committed()
        self.books.known_entry = self._move_commits  # the next one reads them all
        self.check_journal()

    def power_cut(self) -> None:
        """What was not durable may be gone, unless it was told."""
        self.committed()
        left = moves.left_in(self.books.games.values(), self._disk.journal())
        for game, mark in reversed(self._unsynced):
            if game.state == "running" and moves.is_beyond(game, left[game.id]):
                game.rewind(mark)
                told = game.told_turns
                require(told <= game.turn, f"game {game.id}: turn {told} was told, and is lost")
        self._unsynced.clear()
        self.server_died()

    def check_played(self, *, tournaments: int) -> None:
        """Every tournament was made once; every planned game was played and counted once."""
        self._results.check_played(self._reader, tournaments=tournaments)


_STARTS = """
    SELECT game.id, pairing_id, game.ladder_id, black.name, white.name, variant, tournament.time_control,
        pairing.time_control, opening_plies, game.moves, game.state
    FROM game
    JOIN pairing ON pairing.id = pairing_id
    JOIN tournament ON tournament.id = game.tournament_id
    JOIN bot AS black ON black.id = pairing.black_id
    JOIN bot AS white ON white.id = pairing.white_id
    WHERE game.id > ? ORDER BY game.id
"""
_ENTRIES = "SELECT id, moves FROM journal WHERE id > ? ORDER BY id"
_ENDS = """
    SELECT game.id, end_sequence, game.state, ending, result, at_fault, moves, times,
        decisions, black_bot.name, white_bot.name
    FROM game
    JOIN bot_version AS black ON black.id = black_id
    JOIN bot_version AS white ON white.id = white_id
    JOIN bot AS black_bot ON black_bot.id = black.bot_id
    JOIN bot AS white_bot ON white_bot.id = white.bot_id
    WHERE end_sequence > ? ORDER BY end_sequence
"""
_FAULTS = "SELECT id, game_id, ending FROM fault WHERE id > ? AND ending IS NOT NULL ORDER BY id"
