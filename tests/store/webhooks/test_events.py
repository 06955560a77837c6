"""What happened after a position of a source, and how far webhooks have been told of it."""

from tests.store.conftest import Scene
from tests.store.endings import play
from tests.store.made_up import bare_run

from meijin.game import Result
from meijin.store import Database
from meijin.store.access.owners import add_owner
from meijin.store.faults import add_faults
from meijin.store.ladders.runs import publish as publish_run
from meijin.store.rows import add_row, change_row
from meijin.store.schema import (
    Bot,
    EventSource,
    Fault,
    FaultKind,
    FaultParty,
    TournamentState,
    Webhook,
    WebhookCursor,
    WebhookEvent,
    WebhookFormat,
    WebhookId,
)
from meijin.store.tournaments import TournamentEnd, finish_tournament, set_state
from meijin.store.webhooks import hooks
from meijin.store.webhooks.cursors import advance, begin_now, cursors_of_enabled
from meijin.store.webhooks.events import StoredEvent, events_after, last_position, published_runs

GAMES, TOURNAMENTS = EventSource.GAMES, EventSource.TOURNAMENTS
FAULTS, LADDERS = EventSource.FAULTS, EventSource.LADDERS


def after(
    database: Database, source: EventSource, position: int = 0, limit: int = 10
) -> list[StoredEvent]:
    return list(database.read(events_after, source, position, limit))


def add_webhook(database: Database, scene: Scene) -> WebhookId:
    """A webhook that is told of everything from now on."""
    new = Webhook(
        url="https://example.org/",
        format=WebhookFormat.STANDARD,
        events=["game.ended"],
        secret="whsec_",
        create_time=scene.now,
    )
    made = database.write(lambda at: add_row(at, new).id)
    database.write(begin_now, made, EventSource)
    return made


def positions(database: Database) -> dict[tuple[WebhookId, EventSource, int], int]:
    """How far webhooks have been told of each source."""
    return {key: each.position for key, each in database.read(cursors_of_enabled).items()}


def test_games_by_their_ends(database: Database, scene: Scene) -> None:
    """With whom they concern; those that run are left out."""
    owner_id = database.write(add_owner, "eve", scene.now)
    database.write(change_row, Bot, scene.bots[0], owner_id=owner_id)
    play(database, scene, {3: Result.BLACK_WINS, 1: Result.NONE, 2: Result.DRAW})
    found = after(database, GAMES)
    assert [(each.position, each.subject_id) for each in found] == [(1, 3), (2, 1), (3, 2)]
    assert {each.event for each in found} == {WebhookEvent.GAME_ENDED}
    first = found[0]
    assert (first.bots, first.owners) == (frozenset(scene.bots), frozenset((owner_id,)))
    assert (first.tournament_id, first.ladder_id) == (scene.tournament_id, scene.ladder_id)
    assert [each.subject_id for each in after(database, GAMES, 1, 1)] == [1]
    assert after(database, GAMES, 3) == []
    assert database.read(last_position, GAMES) == 3


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
    assert database.read(last_position, TOURNAMENTS) == 3


def test_faults_and_pauses(database: Database, scene: Scene) -> None:
    """Of one ledger, in its order; a fault of the server's concerns no bot."""
    rows = [
        Fault(kind=FaultKind.STALL, party=FaultParty.SERVER, detail="", create_time=scene.now),
        Fault(
            kind=FaultKind.PAUSE,
            party=FaultParty.BOT,
            detail="",
            create_time=scene.now,
            version_id=scene.versions[1],
        ),
    ]
    database.write(add_faults, rows)
    stall, pause = after(database, FAULTS)
    assert (stall.event, stall.bots) == (WebhookEvent.FAULT_RECORDED, frozenset())
    assert (pause.event, pause.bots) == (WebhookEvent.BOT_PAUSED, frozenset(scene.bots[1:]))
    assert database.read(last_position, FAULTS) == pause.position


def test_the_published_run_of_a_ladder(database: Database, scene: Scene) -> None:
    """The newest alone, and none before the first."""
    assert database.read(published_runs) == []
    for revision in (1, 2):
        run = bare_run(scene.ladder_id, revision, scene.now)
        assert database.write(publish_run, run)
        (found,) = database.read(published_runs)
        assert (found.position, found.subject_id) == (revision, revision)
        assert (found.ladder_id, found.time) == (scene.ladder_id, scene.now)
    webhook_id = add_webhook(database, scene)
    assert positions(database)[webhook_id, LADDERS, scene.ladder_id] == 2


def test_a_webhook_begins_where_it_is_made(database: Database, scene: Scene) -> None:
    """Nothing from before is told; what it is told of later is told from there on."""
    play(database, scene, {1: Result.BLACK_WINS})
    webhook_id = add_webhook(database, scene)
    assert positions(database) == {
        (webhook_id, GAMES, 0): 1,
        (webhook_id, TOURNAMENTS, 0): 0,
        (webhook_id, FAULTS, 0): 0,
    }
    database.write(hooks.change_webhook, webhook_id, disable_reason="x" * 999)
    assert positions(database) == {}
    assert len(database.read(hooks.get_webhook, webhook_id).disable_reason) == 200


def test_a_step_is_taken_once(database: Database, scene: Scene) -> None:
    """A commit whose answer was lost is repeated without effect, on a ladder's first step too."""
    webhook_id = add_webhook(database, scene)
    games = WebhookCursor(webhook_id=webhook_id, source=GAMES)
    ladder = WebhookCursor(webhook_id=webhook_id, source=LADDERS, subject_id=scene.ladder_id)
    for cursor in (games, ladder):
        assert [database.write(advance, cursor, 5) for _ in "12"] == [True, False]
        assert positions(database)[cursor.key] == 5
    database.write(hooks.delete_webhook, webhook_id)
    assert not database.write(advance, ladder, 5)
