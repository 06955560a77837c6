"""Payloads of webhooks: what is told about an event, as messages of the contract."""

from collections.abc import Callable, Mapping
from datetime import datetime

from google.protobuf.message import Message
from sqlalchemy import Connection, select

from meijin.game import Ending
from meijin.server.api.answers.games import stored_game
from meijin.server.api.answers.messages import (
    fault_to_proto,
    run_to_proto,
    tournament_to_proto,
    webhook_to_proto,
)
from meijin.server.views.tournaments import tournament_summary
from meijin.server.webhooks.message import Payload
from meijin.store.errors import RowNotFoundError
from meijin.store.faults import list_faults
from meijin.store.games import GameRow, get_game
from meijin.store.ladders.runs import standings
from meijin.store.schema import (
    GameId,
    LadderId,
    RatingRun,
    RatingRunId,
    TournamentId,
    TournamentState,
    WebhookEvent,
    WebhookId,
)
from meijin.store.webhooks.hooks import get_webhook
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.wire.json import json_object
from meijin.wire.mapping import to_message

SHOWN_STANDINGS = 10
"""The best of a run, which are told."""


def payload_of(
    connection: Connection, event: WebhookEvent, subject_id: int, time: datetime
) -> Payload | None:
    """What is told about an event; ``None`` where its subject is not stored any more."""
    try:
        message, sentence = _TOLD[event](connection, subject_id)
    except RowNotFoundError:
        return None
    return Payload(event, time, json_object(message), sentence)


_Told = tuple[Message, str]


def _game(connection: Connection, game_id: int) -> _Told:
    row = get_game(connection, GameId(game_id))
    return stored_game(row), _game_sentence(row)


def _game_sentence(game: GameRow) -> str:
    pair = f"game {game.id}: {game.black} (black) against {game.white} (white)"
    ply, winner = len(game.moves) // 2, game.result.winner
    if game.ending is None:
        return f"{pair} runs"
    if game.ending is Ending.VOID:
        return f"{pair} is void"
    if winner is None:
        return f"{pair} is drawn after {ply} plies"
    return f"{pair}: {winner.name.lower()} wins by {game.ending.value}, ply {ply}"


def _tournament(connection: Connection, tournament_id: int) -> _Told:
    summary = tournament_summary(connection, TournamentId(tournament_id))
    row = summary.row
    name = f'tournament {row.id} "{row.name}"' if row.name else f"tournament {row.id}"
    state = "is cancelled" if row.state is TournamentState.CANCELLED else f"is {row.state.value}"
    sentence = f"{name} {state}, {row.finished} games played"
    if row.verdict:
        sentence += f": {row.verdict}"
    return tournament_to_proto(summary, with_openings=False), sentence


def _run(connection: Connection, run_id: int) -> _Told:
    found = connection.scalar(select(RatingRun.ladder_id).where(RatingRun.id == run_id))
    table = standings(connection, LadderId(found or 0), RatingRunId(run_id))
    assert table.run is not None, "asked for by its id"
    shown = [line for line in table.standings if not line.is_hidden][:SHOWN_STANDINGS]
    run = run_to_proto(table.run)
    run.ClearField("parameters")
    message = ladder_pb.GetStandingsResponse(
        ladder=to_message(table.ladder, ladder_pb.Ladder),
        run=run,
        standings=[to_message(line, ladder_pb.Standing) for line in shown],
    )
    sentence = f"ladder {table.ladder.name}: a new run over {table.run.games} games"
    if shown:
        sentence += f"; {shown[0].bot} leads with {shown[0].elo:.0f}"
    return message, sentence


def _fault(connection: Connection, fault_id: int) -> _Told:
    fault = next(iter(list_faults(connection, limit=1, before=fault_id + 1)), None)
    if fault is None or fault.id != fault_id:
        raise RowNotFoundError
    about = f"{fault.kind.value}: " + (f"{fault.bot}: " if fault.bot else "")
    where = "" if fault.game_id is None else f" (game {fault.game_id})"
    return fault_to_proto(fault), f"{about}{fault.detail}{where}"


def _webhook(connection: Connection, webhook_id: int) -> _Told:
    message = webhook_to_proto(get_webhook(connection, WebhookId(webhook_id)))
    return message, f"a test of webhook {webhook_id}: it arrives"


_TOLD: Mapping[WebhookEvent, Callable[[Connection, int], _Told]] = {
    WebhookEvent.GAME_ENDED: _game,
    WebhookEvent.TOURNAMENT_ENDED: _tournament,
    WebhookEvent.LADDER_PUBLISHED: _run,
    WebhookEvent.BOT_PAUSED: _fault,
    WebhookEvent.FAULT_RECORDED: _fault,
    WebhookEvent.WEBHOOK_TEST: _webhook,
}
