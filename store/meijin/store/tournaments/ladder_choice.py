"""The ladder that a game counts for: that of its variant and of its time control's class."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, insert, select

from meijin.game import TimeClass, TimeClasses, TimeControl, Variant
from meijin.store.schema import Ladder, LadderId, Tournament, TournamentId


def ladder_name(variant: Variant, time_class: TimeClass) -> str:
    """What a ladder is called, such as ``freestyle-15x15-blitz``."""
    return f"{variant} {time_class.name}".replace(" ", "-")


def ladder_of(connection: Connection, variant: Variant, time_class: TimeClass) -> LadderId:
    """The ladder of a variant and a class of time control; made when there is none."""
    name = ladder_name(variant, time_class)
    found = connection.scalar(select(Ladder.id).where(Ladder.name == name))
    if found is not None:
        return found
    row = {"name": name, "variant": variant, "time_class": time_class}
    counts = dict.fromkeys(("revision", "run_revision", "voided"), 0)
    made = insert(Ladder).values(**row, **counts).returning(Ladder.id)
    return connection.execute(made).scalar_one()


def ladders_by_control(
    connection: Connection,
    tournament_id: TournamentId,
    controls: Iterable[TimeControl],
    classes: TimeClasses,
) -> Mapping[TimeControl, LadderId]:
    """The ladders of some time controls in a tournament, where they are not the tournament's own.

    Empty for a tournament whose games are not rated.
    """
    query = select(Tournament.variant, Tournament.ladder_id, Ladder.time_class)
    joined = query.join(Ladder, Ladder.id == Tournament.ladder_id)
    row = connection.execute(joined.where(Tournament.id == tournament_id)).one_or_none()
    if row is None:
        return {}
    others = {control: classes.of(control) for control in controls}
    return {
        control: ladder_of(connection, row.variant, time_class)
        for control, time_class in others.items()
        if time_class != row.time_class
    }
