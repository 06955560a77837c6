"""Void games: finished ones that an operator voids, so that they count nowhere any more."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from meijin.game import Ending, Party, Result
from meijin.store.faults import NewFault, add_faults
from meijin.store.ladders.rated_games import is_rated
from meijin.store.ladders.repeats import mark_like
from meijin.store.ladders.tallies import forget_tallies
from meijin.store.openings.rechecks import add_rechecks
from meijin.store.schema import (
    Bot,
    BotVersion,
    FaultKind,
    FaultParty,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    Tournament,
    TournamentId,
    TournamentState,
)
from meijin.store.void_evidence import VoidEvidence

MAX_REASON = 200
"""Characters of why a game is void."""


@dataclass(frozen=True, slots=True)
class GameVoid:
    """A finished game to be voided."""

    id: GameId
    reason: str
    """One sentence for people."""
    time: datetime


def void_reason(text: str) -> str:
    """Why a game is to be void, as it is kept.

    Raises:
        ValueError: it says nothing, or too much.
    """
    reason = text.replace("\0", "").strip()
    if not reason:
        raise ValueError("say in a sentence why the game is void")
    if len(reason) > MAX_REASON:
        raise ValueError(f"it is longer than {MAX_REASON} characters")
    return reason


def void_game(connection: Connection, void: GameVoid) -> bool:
    """Void a finished game, with its effect everywhere; tell whether it was a finished game.

    Its result stays in the fault's evidence. Its pairing is to be played again, so that a
    finished tournament runs again, and the first of its repeats is rated in its stead.
    """
    game = _finished_game(connection, void.id)
    rated_before = set() if game is None else _rated_like(connection, game)
    change = update(Game).where(Game.id == void.id, Game.state == GameState.FINISHED)
    values = {
        "state": GameState.VOID,
        "result": Result.NONE,
        "ending": Ending.VOID,
        "at_fault": Party.OPERATOR,
        "detail": void.reason,
        "is_repeat": False,
    }
    if game is None or not connection.execute(change.values(values)).rowcount:
        return False
    add_faults(connection, [_fault(game, void)])
    _play_on(connection, game.tournament_id)
    _uncount(connection, game)
    rated_now: set[GameId] = set()
    if game.ladder_id is not None:
        mark_like(connection, void.id)
        rated_now = _rated_like(connection, game)
        _change_past(connection, game.ladder_id, more_games=len(rated_now) - len(rated_before))
        forget_tallies(connection, game.ladder_id, game.end_sequence)
    add_rechecks(connection, {void.id} | (rated_now - rated_before))
    return True


def _finished_game(connection: Connection, game_id: GameId) -> Row[*tuple[Any, ...]] | None:
    query = select(
        Game.tournament_id,
        Game.ladder_id,
        Game.black_id,
        Game.white_id,
        Game.moves,
        Game.result,
        Game.ending,
        Game.at_fault,
        Game.detail,
        Game.end_sequence,
        Game.fingerprint,
    )
    mine = (Game.id == game_id, Game.state == GameState.FINISHED)
    return connection.execute(query.where(*mine)).one_or_none()


def _rated_like(connection: Connection, game: Row[*tuple[Any, ...]]) -> set[GameId]:
    """The rated games of its ladder among those that may be the same as a game."""
    query = select(Game.id).where(*is_rated(game.ladder_id), Game.fingerprint == game.fingerprint)
    return set(connection.scalars(query))


def _fault(game: Row[*tuple[Any, ...]], void: GameVoid) -> NewFault:
    evidence = VoidEvidence(void.reason, game.result, game.ending, game.at_fault, game.detail)
    return NewFault(
        kind=FaultKind.VOIDED,
        party=FaultParty.OPERATOR,
        detail=void.reason,
        time=void.time,
        evidence=evidence.to_json(),
        game_id=void.id,
        ending=Ending.VOID,
        ply=len(game.moves) // 2,
    )


def _play_on(connection: Connection, tournament_id: TournamentId) -> None:
    """Count the game no more, and take a finished tournament up again; a cancelled one stays so."""
    mine = update(Tournament).where(Tournament.id == tournament_id)
    connection.execute(mine.values(finished=Tournament.finished - 1))
    change = update(Tournament).where(
        Tournament.id == tournament_id, Tournament.state == TournamentState.FINISHED
    )
    values = {"state": TournamentState.RUNNING, "end_time": None, "verdict": ""}
    connection.execute(change.values(values))


def _uncount(connection: Connection, game: Row[*tuple[Any, ...]]) -> None:
    """Have its players count it no more."""
    versions = BotVersion.id.in_((game.black_id, game.white_id))
    players = update(Bot).where(Bot.id.in_(select(BotVersion.bot_id).where(versions)))
    connection.execute(players.values(games=Bot.games - 1))


def _change_past(connection: Connection, ladder_id: LadderId, *, more_games: int) -> None:
    """Have a ladder's run and history computed anew.

    Voiding a repeat does so too: it was no rated game, but its run has counted it.
    """
    change = update(Ladder).where(Ladder.id == ladder_id)
    counts = {
        "revision": Ladder.revision + 1,
        "voided": Ladder.voided + 1,
        "games": Ladder.games + more_games,
    }
    connection.execute(change.values(counts))
