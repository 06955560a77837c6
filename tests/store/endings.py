"""Games of a scene, ended."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tests.store.conftest import Scene

from meijin.game import Ending, Party, Result, encode_moves
from meijin.store import Database
from meijin.store.journal import GameEnd, JournalEntry, commit_entry
from meijin.store.ladders.games import fingerprint
from meijin.store.schema import EntryId

LATER = datetime(2026, 3, 4, 13, tzinfo=UTC)
LINE = encode_moves((112, 113, 114))
VOID: dict[str, Any] = {"result": Result.NONE, "ending": Ending.VOID, "at_fault": Party.SERVER}


def end_of(scene: Scene, pairing: int, game_id: int, **changes: Any) -> GameEnd:
    """A win of black in the game of a pairing, with the same moves as all others."""
    start = scene.start(pairing, game_id)
    moves = changes.get("moves", LINE)
    end = GameEnd(
        id=start.id,
        tournament_id=scene.tournament_id,
        end_sequence=game_id,
        end_time=LATER,
        moves=moves,
        times=b"\x01" * 16,
        analysis={"2": {"score": 5}},
        result=Result.BLACK_WINS,
        ending=Ending.FIVE,
        at_fault=Party.NOBODY,
        detail="",
        fault_version_id=None,
        evidence={},
        fingerprint=fingerprint(start.black_id, start.white_id, 2, moves),
        bots=scene.bots,
    )
    return replace(end, **changes)


def play(
    database: Database, scene: Scene, results: dict[int, Result], *, swapped: Collection[int] = ()
) -> None:
    """End the games of the pairings with these numbers, in this order; some with a swap."""
    entry = JournalEntry(EntryId(1))
    entry.starts = [scene.start(number - 1, number) for number in results]
    for sequence, (number, result) in enumerate(results.items(), start=1):
        ended = end_of(scene, number - 1, number, result=result, end_sequence=sequence)
        ending = Ending.VOID if result is Result.NONE else Ending.ADJUDICATION
        entry.ends.append(replace(ended, ending=ending, is_swapped=number in swapped))
    database.write(commit_entry, entry)
