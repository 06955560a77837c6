"""Tournaments as they are shown, who is entered, how strong they are, and what they forfeited."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, case, func, null, select

from meijin.game import Color, Party, TimeControl
from meijin.store.rows import columns_of
from meijin.store.schema import (
    TOURNAMENT_IS_NO_CHALLENGE,
    Bot,
    BotId,
    BotVersion,
    Entrant,
    Game,
    GameState,
    Ladder,
    Tournament,
    TournamentId,
    computed,
)
from meijin.store.tournaments.states import IS_MADE, unknown_tournament


class TournamentRow(Tournament):
    """A tournament with its ladder and its bots."""

    ladder: str = computed(func.coalesce(Ladder.name, ""), default="")
    """The ladder's name; empty when unrated."""
    bots: tuple[tuple[BotId, str], ...] = computed(null(), default=())
    """The entrants' ids and names, in the order of entry."""

    def control_of(self, bot_id: BotId) -> TimeControl:
        """What a bot gets on its clock, unless the pairing says another."""
        return self.time_controls.get(bot_id, self.time_control)


def get_tournament(connection: Connection, tournament_id: TournamentId) -> TournamentRow:
    """One tournament.

    Raises:
        RowNotFoundError: there is none of that id.
    """
    rows = _tournaments(connection, [tournament_id])
    if not rows:
        raise unknown_tournament(tournament_id)
    return rows[0]


def list_tournaments(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    with_challenges: bool = False,
) -> Sequence[TournamentRow]:
    """Tournaments, newest first, from the one before the id `before`.

    Args:
        with_challenges: Those of challenges too.
    """
    query = select(Tournament.id).where(IS_MADE).order_by(Tournament.id.desc()).limit(limit)
    if not with_challenges:
        query = query.where(TOURNAMENT_IS_NO_CHALLENGE)
    if before is not None:
        query = query.where(Tournament.id < before)
    return _tournaments(connection, connection.scalars(query).all())


def _tournaments(connection: Connection, ids: Sequence[TournamentId]) -> Sequence[TournamentRow]:
    bots = _entrants(connection, ids)
    query = (
        select(*columns_of(TournamentRow))
        .outerjoin(Ladder, Ladder.id == Tournament.ladder_id)
        .where(Tournament.id.in_(ids), IS_MADE)
        .order_by(Tournament.id.desc())
    )
    rows = connection.execute(query).mappings()
    return [TournamentRow(**{**row, "bots": tuple(bots[row["id"]])}) for row in rows]


def entrants(connection: Connection, tournament_id: TournamentId) -> Sequence[BotId]:
    """Who was entered, in that order; none where everyone may play."""
    entered = (Entrant.tournament_id == tournament_id, Entrant.seat >= 0)
    query = select(Entrant.bot_id).where(*entered).order_by(Entrant.seat)
    return connection.scalars(query).all()


def _entrants(
    connection: Connection, ids: Sequence[TournamentId]
) -> dict[TournamentId, list[tuple[BotId, str]]]:
    """Who was entered in that order, or where everyone may play, who came, by name."""
    query = (
        select(Entrant.tournament_id, Bot.id, Bot.name)
        .join(Bot, Bot.id == Entrant.bot_id)
        .where(Entrant.tournament_id.in_(ids))
        .order_by(case((Entrant.seat >= 0, Entrant.seat), else_=0), Bot.name)
    )
    bots: dict[TournamentId, list[tuple[BotId, str]]] = {key: [] for key in ids}
    for tournament_id, bot_id, name in connection.execute(query):
        bots[tournament_id].append((bot_id, name))
    return bots


_SIDES = {Color.BLACK: Game.black_id, Color.WHITE: Game.white_id}


def fault_counts(connection: Connection, tournament_id: TournamentId) -> Counter[BotId]:
    """How many games each bot has forfeited, void ones left out; without those that have none."""
    counts: Counter[BotId] = Counter()
    for color, side in _SIDES.items():
        query = (
            select(BotVersion.bot_id, func.count())
            .join(Game, side == BotVersion.id)
            .where(
                Game.tournament_id == tournament_id,
                Game.state == GameState.FINISHED,
                Game.at_fault == Party.of(color),
            )
            .group_by(BotVersion.bot_id)
        )
        for bot_id, count in connection.execute(query):
            counts[bot_id] += count
    return counts
