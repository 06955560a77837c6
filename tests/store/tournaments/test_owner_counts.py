"""What the tournaments of one owner come to."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.query_plans import plans

from meijin.store import Database
from meijin.store.schema import OwnerId
from meijin.store.tournaments import load_of, nth_newest


def test_counting_an_owners_tournaments_reads_no_game(tmp_path: Path) -> None:
    """Nor any that is over: what is running, and the newest of the owner, are in indexes."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        with plans(database) as found:
            assert database.read(partial(load_of, owner_id=OwnerId(1))) == (0, 0)
            assert database.read(partial(nth_newest, owner_id=OwnerId(1), number=20)) is None
    running, newest = found
    assert running == "SEARCH tournament USING INDEX tournament_not_finished (state=?)"
    assert newest == "SEARCH tournament USING INDEX tournament_of_owner (owner_id=?)"
