"""Who hears of what happens, in which order, and what becomes of one that fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from structlog.testing import capture_logs

from meijin.server.match.feed import Feed
from meijin.server.match.incidents import Incidents
from meijin.server.match.live.listeners import Absence, Listener, Listeners, MassDisconnect
from meijin.server.match.lost_moves import LostMoves
from meijin.server.match.observers.game_log import GameLog
from meijin.server.match.observers.game_rate import GameRate
from meijin.server.metrics.game_counts import GameCounts
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.schema import BotVersionId
from meijin.testing.server import ServerInTest, open_server
from meijin.testing.settings import settings_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from meijin.server.match.live.live_game import LiveGame, Participant

HOOKS = (
    "player_joined",
    "player_returned",
    "mass_disconnected",
    "game_disputed",
    "game_over",
    "game_started",
    "games_moved",
    "game_ended",
)
ABSENCE = Absence(BotVersionId(7), 3, is_excused=False, games=())
LOSS = MassDisconnect(("ada", "bob"), 4)


def game(name: str) -> LiveGame:
    """A game as far as a listener is told of it here."""
    return cast("LiveGame", SimpleNamespace(id=name))


class Noting(Listener):
    """Notes what it hears."""

    def __init__(self, name: str, heard: list[str]) -> None:
        self._name = name
        self._heard = heard

    def player_joined(self, player: Participant) -> None:
        """Note it."""
        self._heard.append(f"{self._name} joined {player.name}")

    def player_returned(self, absence: Absence) -> None:
        """Note it."""
        self._heard.append(f"{self._name} returned {absence.version_id}")

    def mass_disconnected(self, loss: MassDisconnect) -> None:
        """Note it."""
        self._heard.append(f"{self._name} lost {' '.join(loss.names)}")

    def game_disputed(self, game: LiveGame) -> None:
        """Note it."""
        self._heard.append(f"{self._name} disputed {game.id}")

    def game_over(self, game: LiveGame) -> None:
        """Note it."""
        self._heard.append(f"{self._name} over {game.id}")

    def game_started(self, game: LiveGame) -> None:
        """Note it."""
        self._heard.append(f"{self._name} started {game.id}")

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        """Note it."""
        self._heard.append(f"{self._name} moved {' '.join(str(game.id) for game in games)}")

    def game_ended(self, game: LiveGame) -> None:
        """Note it."""
        self._heard.append(f"{self._name} ended {game.id}")


def tell_all(listeners: Listeners) -> None:
    """Tell one fact of each kind."""
    listeners.player_joined(cast("Participant", SimpleNamespace(name="ada")))
    listeners.player_returned(ABSENCE)
    listeners.mass_disconnected(LOSS)
    listeners.game_disputed(game("f"))
    listeners.game_over(game("d"))
    listeners.committed([game("a"), game("b")], [game("c"), game("e")], [game("d")])


class Failing(Listener):
    """Fails at whatever it hears."""

    def player_joined(self, player: Participant) -> None:
        """Fail."""
        raise RuntimeError(player.name)

    def player_returned(self, absence: Absence) -> None:
        """Fail."""
        raise RuntimeError(str(absence.version_id))

    def mass_disconnected(self, loss: MassDisconnect) -> None:
        """Fail."""
        raise RuntimeError(str(loss.connected))

    def game_disputed(self, game: LiveGame) -> None:
        """Fail."""
        raise RuntimeError(str(game.id))

    def game_over(self, game: LiveGame) -> None:
        """Fail."""
        raise RuntimeError(str(game.id))

    def game_started(self, game: LiveGame) -> None:
        """Fail."""
        raise RuntimeError(str(game.id))

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        """Fail."""
        raise RuntimeError(str(len(games)))

    def game_ended(self, game: LiveGame) -> None:
        """Fail."""
        raise RuntimeError(str(game.id))


def test_listeners_hear_in_the_order_they_were_added() -> None:
    """Of a commit each hears the starts, the moves and the ends before the next hears of it."""
    heard: list[str] = []
    listeners = Listeners()
    listeners.add(Noting("1", heard), Noting("2", heard))
    tell_all(listeners)
    committed = ["started a", "started b", "moved c e", "ended d"]
    assert heard == [
        "1 joined ada",
        "2 joined ada",
        "1 returned 7",
        "2 returned 7",
        "1 lost ada bob",
        "2 lost ada bob",
        "1 disputed f",
        "2 disputed f",
        "1 over d",
        "2 over d",
        *(f"1 {fact}" for fact in committed),
        *(f"2 {fact}" for fact in committed),
    ]


def test_a_listener_hears_only_what_it_asks_for() -> None:
    """Whatever it does not override does nothing."""
    listeners = Listeners()
    listeners.add(Listener())
    with capture_logs() as logs:
        tell_all(listeners)
    assert logs == []


def test_no_moves_are_not_told() -> None:
    """A commit in which games only start or end has none."""
    heard: list[str] = []
    listeners = Listeners()
    listeners.add(Noting("1", heard))
    listeners.committed([], [], [game("a")])
    assert heard == ["1 ended a"]


@pytest.mark.parametrize("hook", HOOKS)
def test_one_that_fails_is_logged_and_the_others_hear(hook: str) -> None:
    """Before it and after it; each time it is told again."""
    heard: list[str] = []
    listeners = Listeners()
    failing = Noting("2", heard)
    setattr(failing, hook, getattr(Failing(), hook))
    listeners.add(Noting("1", heard), failing, Noting("3", heard))
    with capture_logs() as logs:
        tell_all(listeners)
    facts = 2 if hook == "game_started" else 1
    assert [(entry["event"], entry["listener"]) for entry in logs] == [
        ("a listener failed", f"Failing.{hook}")
    ] * facts
    by_name = {name: [line[2:] for line in heard if line[0] == name] for name in "123"}
    assert by_name["1"] == by_name["3"]
    assert len(by_name["2"]) == len(by_name["1"]) - facts


async def test_a_tournament_counts_a_game_before_anybody_looks_at_it(server: ServerInTest) -> None:
    """The order in a server: the scheduler, who watches, the jobs, the log, the ledger, the rates."""
    assert [type(listener) for listener in server.parts.listeners.order] == [
        Scheduler,
        Feed,
        RefreshSender,
        GameLog,
        Incidents,
        GameRate,
        LostMoves,
        GameCounts,
    ]


async def test_a_listener_that_fails_stops_nothing(tmp_path: Path) -> None:
    """It is logged; the others hear of everything, and every game goes on to its end."""
    heard: list[LiveGame] = []
    with capture_logs() as logs:
        async with open_server(settings_in(tmp_path)) as server:
            server.listen(ended=heard.append)
            server.parts.listeners.order.insert(0, Failing())
            ada, bob = await server.bot("ada"), await server.bot("bob")
            tournament_id = await server.tournament("ada", "bob", rounds=2)
            async with server.innocents(), asyncio.TaskGroup() as tasks:
                tasks.create_task(ada.play_out(2))
                tasks.create_task(bob.play_out(2))
            await server.until_finished(tournament_id)
            await server.until(lambda: len(heard) == 3)
            # Before the server's end, by which all bots are lost together.
            failures = [entry for entry in logs if entry["event"] == "a listener failed"]
    happened = set(HOOKS) - {"player_returned", "mass_disconnected", "game_disputed"}
    assert {entry["listener"] for entry in failures} == {f"Failing.{hook}" for hook in happened}
    assert all(entry["exc_info"] for entry in failures)
