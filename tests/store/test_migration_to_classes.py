"""Ladders of all time controls, brought to ladders by classes of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, text
from tests.store.steps import migrate_to
from tests.store.test_migrations import Old

from meijin.game import TIME_CLASSES, TimeControl, encode_moves
from meijin.ladder.refresh import refresh
from meijin.ladder.verify import verify
from meijin.store import Database, tournaments
from meijin.store.errors import MixedLadderError, UnknownLadderError
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import standings
from meijin.store.schema import Game, GameState, Ladder, LadderId, Pairing

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
FAST, SLOW, OTHER_SLOW = "0.1/move", "5/move", "180,30/move"
"""Two classes: bullet, and rapid twice."""

LINE, OTHER = encode_moves((112, 113, 97)), encode_moves((112, 113, 98))

MIXED, ALIKE, EMPTY = 1, 2, 3
"""Ladders with games of two classes, of one, and of none."""
TOURNAMENTS = ((1, MIXED, FAST), (2, MIXED, SLOW), (3, ALIKE, OTHER_SLOW), (4, EMPTY, FAST))
GAMES = (  # tournament, the pairing's own time control, moves, state, whether it repeats another
    (1, None, LINE, "finished", False),
    (2, None, LINE, "finished", True),  # of a game of the other class
    (2, None, LINE, "finished", True),  # of that one too
    (2, FAST, LINE, "finished", True),  # of the first, with whose class it is
    (2, OTHER_SLOW, OTHER, "finished", False),
    (1, None, OTHER, "void", False),  # had a result
    (2, None, OTHER, "void", False),  # had none
    (2, None, LINE[:4], "running", False),
    (3, None, LINE, "finished", False),
)
RESULT = {
    "reason": "r",
    "result": "1-0",
    "ending": "five",
    "at_fault": "nobody",
    "detail": "",
}
"""What a game had been before it was voided."""


def fill(old: Old) -> None:
    """Three ladders, with runs where there are games."""
    for number, name in enumerate(("ada", "bob"), start=1):
        bot = {"state": "active", "reason": "", "is_hidden": False, "former_names": []}
        old.add("bot", id=number, name=name, create_time=NOON, is_open=False, **bot)
        version = {"digest": "d", "label": "1.0", "configuration": []}
        old.add("bot_version", id=number, bot_id=number, create_time=NOON, **version)
    for number, name in (
        (MIXED, "freestyle-15x15"),
        (ALIKE, "freestyle-7x7"),
        (EMPTY, "standard-9x9"),
    ):
        run_id = number if number != EMPTY else None
        counts = {"revision": 9 * number, "run_revision": 4, "voided": int(number == MIXED)}
        old.add("ladder", id=number, name=name, run_id=run_id, **counts)
        if run_id is not None:
            add_run(old, run_id)
    old.add("anchor", ladder_id=MIXED, version_id=2)
    for number, ladder, control in TOURNAMENTS:
        old.add("tournament", **tournament(number, ladder, control))
    for number, game in enumerate(GAMES, start=1):
        add_game(old, number, *game)
    for number, voided, evidence in ((1, 6, RESULT), (2, 7, {})):
        words = {"kind": "voided", "party": "operator", "ending": "void", "detail": "d"}
        old.add("fault", id=number, game_id=voided, evidence=evidence, create_time=NOON, **words)


def add_run(old: Old, number: int) -> None:
    """A run of a ladder of the same number, with one line."""
    run = {"revision": 4, "voided": 0, "cutoff": 4, "games": 2, "repeats": 0, "checksum": "0" * 64}
    values = {"algorithm": "rao-kupper-1", "parameters": {}, "create_time": NOON}
    old.add("rating_run", id=number, ladder_id=number, **run, **values)
    numbers = dict.fromkeys(("elo", "margin", "classic_elo", "opponents_elo"), 1500.0)
    counts = {
        f"{result}_as_{color}": 0
        for color in ("black", "white")
        for result in ("wins", "draws", "losses")
    }
    flags = {"is_anchor": False, "is_provisional": False, "is_linked": True}
    old.add("rating", run_id=number, version_id=1, rank=1, faults=0, **numbers, **counts, **flags)


def tournament(number: int, ladder: int, control: str) -> dict[str, Any]:
    """One that goes on."""
    return {
        "id": number,
        "name": "spring",
        "format": "ladder",
        "rounds": 0,
        "seed": 7,
        "variant": "freestyle 15x15",
        "time_control": control,
        "max_games": 0,
        "ladder_id": ladder,
        "create_time": NOON,
        "state": "running",
        "openings": b"",
        "options": {"confidence": 0.95, "most_games": 0},
        "verdict": "",
        "planned": 0,
    }


def add_game(old: Old, number: int, tournament_id: int, control: str | None, *game: Any) -> None:
    """A game and its pairing, on the ladder of its tournament."""
    moves, state, is_repeat = game
    players = {"black_id": 1, "white_id": 2}
    terms = {"tournament_id": tournament_id, "number": number, "round": 1, "reason": ""}
    old.add("pairing", id=number, opening=b"", time_control=control, **terms, **players)
    ended: dict[str, Any] = {}
    if state != "running":
        ended = {
            "end_sequence": number,
            "end_time": NOON,
            "fingerprint": len(moves),
            "ending": "five" if state == "finished" else "void",
        }
    old.add(
        "game",
        id=number,
        pairing_id=number,
        tournament_id=tournament_id,
        ladder_id={key: ladder for key, ladder, _ in TOURNAMENTS}[tournament_id],
        opening_plies=2,
        moves=moves,
        times=b"",
        detail="",
        start_time=NOON,
        state=state,
        result="1-0" if state == "finished" else "*",
        at_fault="nobody",
        is_repeat=is_repeat,
        **players,
        **ended,
    )


@pytest.fixture
def migrated(any_database_url: str) -> Iterator[Database]:
    """A database with ladders of all time controls, and then migrated."""
    with Database(any_database_url) as database:
        migrate_to(database, "0009")
        database.write(lambda connection: fill(Old(connection)))
        if not database.is_sqlite:  # the rows came with their ids
            for table in ("ladder", "rating_run"):
                sequence = text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), 9)")
                database.write(partial(Connection.execute, statement=sequence))
        database.migrate()
        yield database


def ladder(database: Database, name: str) -> LadderId:
    """A ladder by the name that is asked for."""
    return database.read(lambda at: ladders.get_ladder(at, name))


def test_ladders_are_named_by_their_classes(migrated: Database) -> None:
    """The one of one class keeps its id; the mixed one is kept beside those of its classes."""
    query = select(Ladder.name, Ladder.variant, Ladder.time_class).order_by(Ladder.name)
    rows = migrated.read(lambda at: at.execute(query).all())
    bullet, rapid = (TIME_CLASSES.of(TimeControl.parse(each)) for each in (FAST, SLOW))
    assert [(row.name, str(row.variant), row.time_class) for row in rows] == [
        ("freestyle-15x15-bullet", "freestyle 15x15", bullet),
        ("freestyle-15x15-mixed", "freestyle 15x15", None),
        ("freestyle-15x15-rapid", "freestyle 15x15", rapid),
        ("freestyle-7x7-rapid", "freestyle 7x7", rapid),
        ("standard-9x9-bullet", "standard 9x9", bullet),
    ]
    assert ladder(migrated, "freestyle-7x7") == ALIKE
    assert ladder(migrated, "freestyle-15x15-mixed") == MIXED
    with pytest.raises(UnknownLadderError, match="a ladder for each class"):
        ladder(migrated, "freestyle-15x15")


def test_games_go_to_the_ladders_of_their_time_controls(migrated: Database) -> None:
    """Their own where the pairing has one, the tournament's else; and so do the tournaments."""
    bullet, rapid = (ladder(migrated, f"freestyle-15x15-{name}") for name in ("bullet", "rapid"))
    query = select(Game.ladder_id).order_by(Game.id)
    places = migrated.read(lambda at: at.scalars(query).all())
    assert places == [bullet, rapid, rapid, bullet, rapid, bullet, rapid, rapid, ALIKE]
    listed = migrated.read(partial(tournaments.list_tournaments, limit=9))
    assert [row.ladder_id for row in reversed(listed)] == [bullet, rapid, ALIKE, EMPTY]
    own = select(Pairing.id, Pairing.ladder_id).where(Pairing.ladder_id.is_not(None))
    assert migrated.read(lambda at: at.execute(own).all()) == [(4, bullet)]


def test_repeats_are_those_of_the_class(migrated: Database) -> None:
    """The first of each ladder is rated again."""
    repeats = select(Game.id).where(Game.is_repeat.is_(True)).order_by(Game.id)
    assert migrated.read(lambda at: at.scalars(repeats).all()) == [3, 4]


def test_new_ladders_are_computed_and_verified(migrated: Database) -> None:
    """By their own games, with the anchors and the voids of the old one."""
    for name, games, repeats, voided in (("bullet", 1, 1, 1), ("rapid", 2, 1, 0)):
        key = ladder(migrated, f"freestyle-15x15-{name}")
        assert migrated.read(partial(ladders.is_dirty, ladder_id=key))
        assert migrated.read(partial(ladders.anchors, ladder_id=key)) == [2]
        assert migrated.read(partial(ladders.voided_games, ladder_id=key)) == voided
        run = refresh(migrated, key)
        assert run is not None
        assert (run.games, run.repeats) == (games, repeats)
        assert verify(migrated, key).differences == ()


def test_runs_of_a_mixed_ladder_are_kept_to_be_read(migrated: Database) -> None:
    """None is computed any more, none can be verified, and there is nothing to anchor."""
    mixed = LadderId(MIXED)
    found = migrated.read(partial(standings, ladder_id=mixed))
    assert found.run is not None
    assert (found.run.id, [row.bot for row in found.standings]) == (MIXED, ["ada"])
    migrated.write(lambda to: ladders.mark_outdated(to, "newer"))
    assert mixed not in migrated.read(ladders.dirty_ladders)
    assert mixed not in migrated.read(ladders.published_ladders)
    with pytest.raises(MixedLadderError, match='"freestyle-15x15-mixed" mixed classes'):
        verify(migrated, mixed)
    with pytest.raises(MixedLadderError):
        migrated.write(lambda to: ladders.set_anchors(to, mixed, []))


def test_a_ladder_of_one_class_keeps_its_runs(migrated: Database) -> None:
    """They are of the same games as ever, and it is as dirty as it was."""
    found = migrated.read(partial(standings, ladder_id=LadderId(ALIKE)))
    assert found.run is not None
    assert (found.run.id, found.run.revision) == (ALIKE, 4)
    assert migrated.read(partial(ladders.is_dirty, ladder_id=LadderId(ALIKE)))


def test_nothing_is_left_on_the_mixed_ladder(migrated: Database) -> None:
    """Every game is on a ladder of a class."""
    query = select(func.count()).where(Game.ladder_id == MIXED, Game.state != GameState.VOID)
    assert migrated.read(lambda at: at.scalar(query)) == 0
