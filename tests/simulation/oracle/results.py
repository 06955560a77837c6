"""One result a game: every planned game is played and counted exactly once."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict

from tests.simulation.oracle.books import Books, GameRecord
from tests.simulation.oracle.violation import require

from meijin.game import Ending


class Results:
    """The starts and ends of games, and the changes of their ladders."""

    def __init__(self, books: Books) -> None:
        self.endings: Counter[str] = Counter()
        self.last_end = 0
        """The sequence number of the last end."""
        self._books = books
        self._rated_ends = 0
        self._rated_voids = 0

    def begin(self, game: GameRecord, state: object) -> None:
        """A game is stored: no other of its pairing may count."""
        require(state in {"running", "void", "finished"}, f"game {game.id} is {state}")
        for other in self._books.games.values():
            if other.pairing_id == game.pairing_id:
                require(other.state == "void", f"pairing {game.pairing_id} is played twice")
        self._books.games[game.id] = game

    def end(self, game: GameRecord, sequence: int, ending: Ending) -> None:
        """The end of a game is stored, behind that of the last one."""
        require(sequence == self.last_end + 1, f"end {sequence} follows {self.last_end}")
        self.last_end = sequence
        require(game.state == "running", f"game {game.id} ends twice")
        game.ending = ending
        self.endings[ending.value] += 1

    def count(self, game: GameRecord, state: str, ending: Ending) -> None:
        game.state = state
        is_void = ending is Ending.VOID
        require((state == "void") == is_void, f"game {game.id}: {state} by {ending.value}")
        if state == "finished":
            self._rated_ends += game.is_rated

    def void(self, game: GameRecord) -> None:
        if game.state == "finished":
            game.state = "void"
            self._rated_voids += game.is_rated

    def check_played(self, reader: sqlite3.Connection, *, tournaments: int) -> None:
        """Every tournament was made once; every planned game was played and counted once."""
        read = reader.execute
        states: defaultdict[int, list[str]] = defaultdict(list)
        for pairing, state in read("SELECT pairing_id, state FROM game"):
            if state != "void":
                states[pairing].append(state)
        for (pairing,) in read("SELECT id FROM pairing"):
            require(states[pairing] == ["finished"], f"pairing {pairing}: {states[pairing]}")
        for game_id, state in read("SELECT id, state FROM game"):
            known = self._books.games[game_id].state
            require(known == state, f"game {game_id} is {state}, and was {known}")
        states_of = [state for (state,) in read("SELECT state FROM tournament")]
        require(states_of == ["finished"] * tournaments, f"{tournaments} are {states_of}")
        (changes,) = read("SELECT coalesce(sum(revision), 0) FROM ladder").fetchone()
        require(changes == self._rated_voids, f"{changes} changes of {self._rated_voids}")
        (waiting,) = read(_WAITING).fetchone()
        finished = self._rated_ends - self._rated_voids
        require(waiting == finished, f"{waiting} games of {finished} wait for their ladders")


_WAITING = """
    SELECT count(*) FROM game JOIN ladder ON ladder.id = ladder_id
    WHERE end_sequence > sequenced AND game.state = 'finished'
"""
"""Games that the ladders' jobs, of which the simulation has none, would take into their logs."""
