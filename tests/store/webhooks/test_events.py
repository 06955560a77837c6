"""What happened after a position of a source, and how far webhooks have been told of it."""

from __future__ import annotations

from tests.store.conftest import Scene
from tests.store.endings import play

from meijin.game import Result
from meijin.store import Database
from meijin.store.access.owners import add_owner
from meijin.store.bots import change_bot
from meijin.store.faults import NewFault, add_faults
from meijin.store.ladders.runs import NewRun
from meijin.store.ladders.runs import publish as publish_run
from meijin.store.schema import (
    EventSource,
    FaultKind,
    FaultParty,
    TournamentState,
    WebhookEvent,
    WebhookFormat,
    WebhookId,
)
from meijin.store.tournaments import TournamentEnd, finish_tournament, set_state
from meijin.store.webhooks import hooks
from meijin.store.webhooks.cursors import Advance, Cursor, advance, begin_now, positions_of_enabled
from meijin.store.webhooks.events import StoredEvent, events_after, last_position, published_runs
from meijin.store.webhooks.hooks import NewWebhook

GAMES, TOURNAMENTS = EventSource.GAMES, EventSource.TOURNAMENTS
FAULTS, LADDERS = EventSource.FAULTS, EventSource.LADDERS


def after(
    database: Database, source: EventSource, position: int = 0, limit: int = 10
) -> list[StoredEvent]:
    """The next events of a source."""
    return list(database.read(lambda at: events_after(at, source, position, limit)))


def add_webhook(database: Database, scene: Scene) -> WebhookId:
    """A webhook that is told of everything from now on."""
    new = NewWebhook("https://example.org/", WebhookFormat.STANDARD, ["game.ended"], "whsec_")
    made = database.write(lambda at: hooks.add_webhook(at, new, scene.now))
    database.write(lambda at: begin_now(at, made, EventSource))
    return made


def test_games_by_their_ends(database: Database, scene: Scene) -> None:
    """With whom they concern; those that run are left out."""
    owner_id = database.write(lambda at: add_owner(at, "eve", scene.now))
    database.write(lambda at: change_bot(at, scene.bots[0], owner_id=owner_id))
    play(database, scene, {3: Result.BLACK_WINS, 1: Result.NONE, 2: Result.DRAW})
    found = after(database, GAMES)
    assert [(each.position, each.subject_id) for each in found] == [(1, 3), (2, 1), (3, 2)]
    assert {each.event for each in found} == {WebhookEvent.GAME_ENDED}
    first = found[0]
    assert (first.bots, first.owners) == (frozenset(scene.bots), frozenset((owner_id,)))
    assert (first.tournament_id, first.ladder_id) == (scene.tournament_id, scene.ladder_id)
    assert [each.subject_id for each in after(database, GAMES, 1, 1)] == [1]
    assert after(database, GAMES, 3) == []
    assert database.read(lambda at: last_position(at, GAMES)) == 3


def test_a_tournament_is_told_of_at_each_of_its_ends(database: Database, scene: Scene) -> None:
    """Not while it is played on, and with a position that was never given before."""
    one = scene.tournament_id
    end = TournamentEnd(one, scene.now)
    steps = (
        lambda at: finish_tournament(at, end),
        lambda at: set_state(at, one, TournamentState.RUNNING),
        lambda at: set_state(at, one, TournamentState.CANCELLED),
        lambda at: set_state(at, one, TournamentState.RUNNING),
        lambda at: finish_tournament(at, end),
    )
    seen = []
    for step in steps:
        database.write(step)
        seen.append([(each.position, each.time) for each in after(database, TOURNAMENTS)])
    assert [[position for position, _ in each] for each in seen] == [[1], [], [2], [], [3]]
    assert seen[-1] == [(3, scene.now)]
    (event,) = after(database, TOURNAMENTS, 2)
    assert event.bots == frozenset(scene.bots)
    assert database.read(lambda at: last_position(at, TOURNAMENTS)) == 3


def test_faults_and_pauses(database: Database, scene: Scene) -> None:
    """Of one ledger, in its order; a fault of the server's concerns no bot."""
    rows = [
        NewFault(kind=FaultKind.STALL, party=FaultParty.SERVER, detail="", time=scene.now),
        NewFault(
            kind=FaultKind.PAUSE,
            party=FaultParty.BOT,
            detail="",
            time=scene.now,
            version_id=scene.versions[1],
        ),
    ]
    database.write(lambda at: add_faults(at, rows))
    stall, pause = after(database, FAULTS)
    assert (stall.event, stall.bots) == (WebhookEvent.FAULT_RECORDED, frozenset())
    assert (pause.event, pause.bots) == (WebhookEvent.BOT_PAUSED, frozenset(scene.bots[1:]))
    assert database.read(lambda at: last_position(at, FAULTS)) == pause.position


def publish(database: Database, scene: Scene, revision: int) -> None:
    """Publish a run without ratings."""
    run = NewRun(
        ladder_id=scene.ladder_id,
        revision=revision,
        voided=0,
        sequenced=0,
        cutoff=0,
        games=0,
        repeats=0,
        checksum="",
        algorithm="by hand",
        parameters={},
        create_time=scene.now,
        ratings=(),
        covariances=None,
    )
    assert database.write(lambda at: publish_run(at, run))


def test_the_published_run_of_a_ladder(database: Database, scene: Scene) -> None:
    """The newest alone, and none before the first."""
    assert database.read(published_runs) == []
    for revision in (1, 2):
        publish(database, scene, revision)
        (run,) = database.read(published_runs)
        assert (run.position, run.subject_id) == (revision, revision)
        assert (run.ladder_id, run.time) == (scene.ladder_id, scene.now)
    webhook_id = add_webhook(database, scene)
    positions = database.read(positions_of_enabled)
    assert positions[Cursor(webhook_id, LADDERS, scene.ladder_id)] == 2


def test_a_webhook_begins_where_it_is_made(database: Database, scene: Scene) -> None:
    """Nothing from before is told; what it is told of later is told from there on."""
    play(database, scene, {1: Result.BLACK_WINS})
    webhook_id = add_webhook(database, scene)
    positions = database.read(positions_of_enabled)
    assert positions == {
        Cursor(webhook_id, GAMES): 1,
        Cursor(webhook_id, TOURNAMENTS): 0,
        Cursor(webhook_id, FAULTS): 0,
    }
    database.write(lambda at: hooks.change_webhook(at, webhook_id, disable_reason="x" * 999))
    assert database.read(positions_of_enabled) == {}
    assert len(database.read(lambda at: hooks.get_webhook(at, webhook_id)).disable_reason) == 200


def test_a_step_is_taken_once(database: Database, scene: Scene) -> None:
    """A commit whose answer was lost is repeated without effect, on a ladder's first step too."""
    webhook_id = add_webhook(database, scene)
    ladder = Cursor(webhook_id, LADDERS, scene.ladder_id)
    for cursor in (Cursor(webhook_id, GAMES), ladder):
        step = Advance(cursor, 0, 5)
        assert [database.write(lambda at: advance(at, step)) for _ in "12"] == [True, False]  # noqa: B023
        assert database.read(positions_of_enabled)[cursor] == 5
    database.write(lambda at: hooks.delete_webhook(at, webhook_id))
    assert not database.write(lambda at: advance(at, Advance(ladder, 0, 5)))
