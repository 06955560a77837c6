"""Ladders by classes of time control, what bots run on, and an index of versions' labels."""

import re
from collections import defaultdict
from fractions import Fraction
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_CLASSES = (("ultrabullet", 4), ("bullet", 20), ("blitz", 120), ("rapid", 600), ("classical", None))
"""Those at this step, and the seconds that they end at."""
_MOVES = 40
_CONTROL = re.compile(r"(?:([0-9.]+)(?:\+([0-9.]+))?)?(?:(?(1),)([0-9.]+)/move)?")


def upgrade() -> None:
    """Apply the step. A ladder with games of several classes keeps its runs, without its games."""
    _add_columns()
    for ladder_id, variant, run_id in _ladders():
        _split(ladder_id, variant, run_id)
    _execute(
        "UPDATE ladder SET games = (SELECT count(*) FROM game"
        " WHERE ladder_id = ladder.id AND state = 'finished' AND NOT is_repeat)"
    )
    with op.batch_alter_table("ladder") as ladder:
        ladder.alter_column("variant", existing_type=sa.String(60), server_default=None)
    op.create_index("bot_version_label", "bot_version", ["bot_id", "label", "id"])


def _add_columns() -> None:
    op.add_column("ladder", sa.Column("variant", sa.String(60), nullable=False, server_default=""))
    op.add_column("ladder", sa.Column("time_class", sa.String(60), nullable=True))
    # Not in a batch, which would make the table of a million pairings anew.
    kind = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    op.execute(f"ALTER TABLE pairing ADD COLUMN ladder_id {kind} REFERENCES ladder (id)")
    op.add_column(
        "bot_version",
        sa.Column("hardware", sa.String(80), nullable=False, server_default=""),
    )
    with op.batch_alter_table("bot_version") as version:
        version.alter_column("hardware", existing_type=sa.String(80), server_default=None)


def _ladders() -> list[tuple[int, str, int | None]]:
    """Each old one with its variant, which its name was, and its published run."""
    op.execute("UPDATE ladder SET variant = replace(name, '-', ' ')")
    rows = _execute("SELECT id, variant, run_id FROM ladder ORDER BY id")
    return [(row.id, row.variant, row.run_id) for row in rows]


def _split(ladder_id: int, variant: str, run_id: int | None) -> None:
    """Put a ladder's tournaments and games on ladders of their classes.

    Where all that counted is of one class, the ladder becomes that class's, with its runs.
    """
    controls = _controls(ladder_id)
    played = {name for name, has_results in controls.values() if has_results}
    names = {name for name, _ in controls.values()}
    kept = min(played or names, default=None) if len(played) <= 1 else None
    ladders = {name: ladder_id if name == kept else _add(variant, name) for name in names}
    if kept is not None:
        _rename(ladder_id, _name(variant, kept), _class(kept))
    else:
        _rename(ladder_id, _name(variant, "mixed"), None)
    if any(key != ladder_id for key in ladders.values()):
        _move(ladder_id, {control: ladders[name] for control, (name, _) in controls.items()})
        for key in set(ladders.values()) - {ladder_id}:
            _begin(key, ladder_id)
    if kept is None:
        _retire(ladder_id, run_id)


def _controls(ladder_id: int) -> dict[str, tuple[str, bool]]:
    """The ladder's time controls: of each the class, and whether games of it have, or had, results."""
    found: dict[str, bool] = defaultdict(bool)
    rows = _execute(
        "SELECT time_control, 0 AS results FROM tournament WHERE ladder_id = :key"
        " UNION SELECT pairing.time_control, 0 FROM pairing"
        " JOIN tournament ON tournament.id = pairing.tournament_id"
        " WHERE tournament.ladder_id = :key AND pairing.time_control IS NOT NULL"
        " UNION SELECT coalesce(pairing.time_control, tournament.time_control),"
        " CASE WHEN game.state = 'finished' OR game.state = 'void' AND game.id IN"
        " (SELECT fault.game_id FROM fault WHERE fault.kind = 'voided') THEN 1 ELSE 0 END"
        " FROM game JOIN pairing ON pairing.id = game.pairing_id"
        " JOIN tournament ON tournament.id = game.tournament_id WHERE game.ladder_id = :key",
        key=ladder_id,
    )
    for row in rows:
        found[row.time_control] |= bool(row.results)
    return {control: (_class_of(control), results) for control, results in found.items()}


def _class_of(control: str) -> str:
    """The class of a time control, by a side's time for 40 moves, as defined at this step."""
    form = _CONTROL.fullmatch(control)
    assert form is not None, control
    initial, increment, per_move = form.groups()
    bounds = []
    if initial is not None:
        bounds.append(Fraction(initial) + _MOVES * Fraction(increment or 0))
    if per_move is not None:
        bounds.append(_MOVES * Fraction(per_move))
    return next(name for name, bound in _CLASSES if bound is None or min(bounds) < bound)


def _class(name: str) -> str:
    """A class with its bounds, such as ``blitz 20-120``."""
    names = [each for each, _ in _CLASSES]
    place = names.index(name)
    least = _CLASSES[place - 1][1] if place else 0
    bound = _CLASSES[place][1]
    return f"{name} {least}-{'' if bound is None else bound}"


def _name(variant: str, name: str) -> str:
    return f"{variant} {name}".replace(" ", "-")


def _add(variant: str, name: str) -> int:
    _execute(
        "INSERT INTO ladder (name, variant, time_class, revision, run_revision, voided, games)"
        " VALUES (:name, :variant, :time_class, 0, 0, 0, 0)",
        name=_name(variant, name),
        variant=variant,
        time_class=_class(name),
    )
    (key,) = _execute("SELECT id FROM ladder WHERE name = :name", name=_name(variant, name)).one()
    return int(key)


def _rename(ladder_id: int, name: str, time_class: str | None) -> None:
    _execute(
        "UPDATE ladder SET name = :name, time_class = :time_class WHERE id = :key",
        name=name,
        time_class=time_class,
        key=ladder_id,
    )


def _move(ladder_id: int, ladders: dict[str, int]) -> None:
    """Move tournaments, pairings and games to the ladders of their time controls."""
    moved = op.create_table(
        "moved",
        sa.Column("control", sa.String(60), primary_key=True),
        sa.Column("ladder_id", _ID, nullable=False),
    )
    op.bulk_insert(moved, [{"control": each, "ladder_id": key} for each, key in ladders.items()])
    _execute(
        "UPDATE pairing SET ladder_id ="
        " (SELECT moved.ladder_id FROM moved WHERE moved.control = pairing.time_control)"
        " WHERE time_control IS NOT NULL"
        " AND tournament_id IN (SELECT id FROM tournament WHERE ladder_id = :key)",
        key=ladder_id,
    )
    _execute(
        "UPDATE game SET ladder_id = (SELECT moved.ladder_id FROM pairing"
        " JOIN tournament ON tournament.id = pairing.tournament_id JOIN moved"
        " ON moved.control = coalesce(pairing.time_control, tournament.time_control)"
        " WHERE pairing.id = game.pairing_id) WHERE ladder_id = :key",
        key=ladder_id,
    )
    _execute(
        "UPDATE tournament SET ladder_id ="
        " (SELECT moved.ladder_id FROM moved WHERE moved.control = tournament.time_control)"
        " WHERE ladder_id = :key",
        key=ladder_id,
    )
    _execute(
        "UPDATE pairing SET ladder_id = NULL WHERE ladder_id = (SELECT tournament.ladder_id"
        " FROM tournament WHERE tournament.id = pairing.tournament_id)"
    )
    op.drop_table("moved")


def _begin(ladder_id: int, old: int) -> None:
    """Have a new ladder computed: with its own repeats and voids, and the anchors of the old."""
    # A game that repeated none in the old ladder repeats none in the new one.
    _execute(
        "UPDATE game SET is_repeat = EXISTS (SELECT 1 FROM game AS earlier"
        " WHERE earlier.ladder_id = game.ladder_id AND earlier.fingerprint = game.fingerprint"
        " AND earlier.state = 'finished' AND earlier.end_sequence < game.end_sequence"
        " AND earlier.black_id = game.black_id AND earlier.white_id = game.white_id"
        " AND earlier.opening_plies = game.opening_plies AND earlier.moves = game.moves"
        " AND earlier.result = game.result AND earlier.ending = game.ending"
        " AND earlier.at_fault = game.at_fault)"
        " WHERE ladder_id = :key AND state = 'finished' AND is_repeat",
        key=ladder_id,
    )
    _execute(
        "UPDATE ladder SET voided = :voided, revision = :voided +"
        " (SELECT count(*) FROM game WHERE ladder_id = :key AND state = 'finished')"
        " WHERE id = :key",
        key=ladder_id,
        voided=_voided(ladder_id),
    )
    _execute(
        "INSERT INTO anchor (ladder_id, version_id)"
        " SELECT :key, version_id FROM anchor WHERE ladder_id = :old",
        key=ladder_id,
        old=old,
    )


def _voided(ladder_id: int) -> int:
    """How many games of a ladder were voided that had a result, which is in the evidence."""
    query = sa.text(
        "SELECT fault.evidence AS evidence FROM fault JOIN game ON game.id = fault.game_id"
        " WHERE game.ladder_id = :key AND fault.kind = 'voided'"
    ).columns(evidence=sa.JSON)
    rows = op.get_bind().execute(query.execution_options(yield_per=10_000), {"key": ladder_id})
    return sum("result" in row.evidence for row in rows)


def _retire(ladder_id: int, run_id: int | None) -> None:
    """Leave a ladder its runs and nothing that would have another computed; or drop it."""
    _execute("UPDATE ladder SET revision = run_revision WHERE id = :key", key=ladder_id)
    _execute("DELETE FROM anchor WHERE ladder_id = :key", key=ladder_id)
    if run_id is None:
        for table in ("posterior", "rating_day"):
            _execute(f"DELETE FROM {table} WHERE ladder_id = :key", key=ladder_id)  # noqa: S608 - two words
        _execute("DELETE FROM ladder WHERE id = :key", key=ladder_id)


def _execute(statement: str, **values: object) -> sa.CursorResult[Any]:
    return op.get_bind().execute(sa.text(statement), values)
