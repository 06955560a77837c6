"""Programs are called for games, as far as hosts have places, and stopped when they are idle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from meijin.game import TimeControl
from meijin.game.arbiter.moment import NS_PER_SECOND as SECOND
from meijin.game.arbiter.moment import nanoseconds
from meijin.programs.kinds import ProgramKind
from meijin.server.tournaments.run import TournamentRun
from meijin.server.tournaments.seats import IDLE_TIMEOUT, Host, HostedProgram, Seat, Seats
from meijin.store.schema import BotId, BotVersionId, OwnerId, PairingId, ProgramId
from meijin.store.tournaments import PendingPairing
from meijin.wire.capabilities import Capabilities


def program(number: int) -> HostedProgram:
    return HostedProgram(
        program_id=ProgramId(number),
        bot_id=BotId(number),
        bot=f"bot{number}",
        owner_id=OwnerId(1),
        digest=f"{number:064x}",
        kind=ProgramKind.SCRIPT,
        size=1,
        file_name="bot.py",
        label="",
        version_id=BotVersionId(number),
        capabilities=Capabilities(is_hosted=True),
    )


WALL, CPU = TimeControl.parse("60+1"), TimeControl.parse("60+1 cpu")


class Run:
    """A tournament, as far as seats know one."""

    def __init__(self) -> None:
        self.leased = 0
        self.is_playing = True
        self.pending: set[PendingPairing] = set()
        self.row = self
        self.control = WALL

    def control_of(self, _: BotId) -> TimeControl:
        return self.control


class Hall:
    """Seats, and which bots are here and play."""

    def __init__(self, programs: int, *rooms: int) -> None:
        self.here: set[int] = set()
        self.playing: set[int] = set()
        self.changed: set[BotId] = set()
        self.now_ns = 0
        self.run = Run()
        self.seats = Seats(
            is_here=lambda bot_id: bot_id in self.here,
            playing_by=lambda bot_id: self.run.control if bot_id in self.playing else None,
            changed=self.note,
            clock=lambda: self.now_ns,
        )
        self.hosts = [
            Host(f"host{number}", "", room, {ProgramKind.SCRIPT})
            for number, room in enumerate(rooms)
        ]
        for host in self.hosts:
            self.seats.join(host)
        self.seats.set_programs(map(program, range(1, programs + 1)))
        self.calls = 0

    def note(self, bots: Iterable[BotId]) -> None:
        self.changed.update(bots)

    def call(self, black: int, white: int) -> PendingPairing:
        self.calls += 1
        pairing = PendingPairing(PairingId(self.calls), self.calls, BotId(black), BotId(white), b"")
        self.seats.call(cast("TournamentRun", self.run), pairing)
        return pairing

    def told(self, host: int = 0) -> list[Seat]:
        return self.hosts[host].take_unsent()

    def come(self, *bots: int) -> None:
        for bot in bots:
            self.here.add(bot)
            self.seats.opened(BotId(bot))

    def rooms(self, *bots: int) -> list[int]:
        return [self.seats.room(BotId(bot), self.run.control) for bot in bots]


def bots_of(seats: Iterable[Seat]) -> list[tuple[int, bool]]:
    return [(seat.program.bot_id, seat.is_leaving) for seat in seats]


def test_a_game_calls_its_programs() -> None:
    """It begins when both are there, and holds its place meanwhile."""
    hall = Hall(2, 4)
    hall.call(1, 2)
    assert bots_of(hall.told()) == [(1, False), (2, False)]
    assert hall.run.leased == 1
    hall.come(1)
    assert hall.seats.take_ready() == []
    hall.come(2)
    (ready,) = hall.seats.take_ready()
    assert ready.bots == (1, 2)
    assert (hall.run.leased, hall.rooms(1, 2)) == (0, [1, 1])


def test_no_program_is_free_without_a_host() -> None:
    hall = Hall(2)
    assert hall.rooms(1) == [0]
    assert hall.seats.program(BotId(1)) is None
    assert hall.seats.absence(BotId(1)) == "has a program, and no host is there to run it"
    assert hall.seats.absence(BotId(3)) == "is not connected"


def test_a_game_that_waits_has_taken_its_players() -> None:
    hall = Hall(3, 4)
    hall.call(1, 2)
    assert hall.rooms(1, 2, 3) == [0, 0, 1]


def test_both_players_of_a_game_need_a_place() -> None:
    """With one that is free two games could each hold a place, and wait for the other's."""
    hall = Hall(4, 3)
    hall.call(1, 2)
    assert hall.rooms(3, 4) == [0, 0]


def test_a_host_for_one_program_plays_it_with_others() -> None:
    hall = Hall(1, 1)
    assert hall.rooms(1) == [1]
    hall.here.add(9)
    hall.call(1, 9)
    assert bots_of(hall.told()) == [(1, False)]
    hall.come(1)
    assert [call.bots for call in hall.seats.take_ready()] == [(1, 9)]


def test_idle_programs_make_place() -> None:
    """Those that are idle for longest; one that plays stays."""
    hall = Hall(4, 2)
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.playing = {1}
    assert hall.rooms(3) == [0]
    hall.playing = set()
    hall.told()
    hall.call(3, 4)
    assert bots_of(hall.told()) == [(1, True), (3, False), (2, True), (4, False)]


def test_a_program_that_is_to_leave_gets_no_game() -> None:
    hall = Hall(1, 1)
    hall.here.add(9)
    hall.call(1, 9)
    hall.come(1)
    hall.seats.take_ready()
    (seat,) = hall.told()
    hall.seats.unseat(seat)
    assert hall.seats.reserved(BotId(1)) == 1


def test_a_program_that_is_idle_for_long_is_stopped() -> None:
    hall = Hall(2, 2)
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.told()
    hall.playing = {2}
    hall.seats.look()
    hall.now_ns += nanoseconds(IDLE_TIMEOUT)
    hall.seats.look()
    assert bots_of(hall.told()) == [(1, True)]


def test_a_program_that_does_not_start_gives_its_game_back() -> None:
    hall = Hall(2, 2)
    pairing = hall.call(1, 2)
    seat, _ = hall.told()
    hall.seats.ended(seat)
    assert (hall.run.pending, hall.run.leased) == ({pairing}, 0)
    assert {1, 2} <= hall.changed


def test_a_program_that_does_not_start_rests() -> None:
    """Twice as long each time, until it has started."""
    hall = Hall(2, 4)
    for seconds in (1, 2, 4):
        hall.call(1, 2)
        for seat in hall.told():
            if seat.program.bot_id == 1:
                hall.seats.ended(seat)
        hall.now_ns += (seconds * SECOND) - 1
        hall.seats.look()
        assert hall.rooms(1) == [0]
        hall.now_ns += 1
        hall.seats.look()
        assert hall.rooms(1) == [1]
    hall.call(1, 2)
    hall.come(1)
    assert hall.seats._rests == {}


def test_a_host_that_goes_gives_back_what_had_not_begun() -> None:
    """What plays there is there still: its stream says when it is not."""
    hall = Hall(4, 4)
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.playing = {1, 2}
    waiting = hall.call(3, 4)
    hall.seats.leave(hall.hosts[0])
    assert hall.run.pending == {waiting}
    assert hall.rooms(3, 4) == [0, 0]


def test_a_host_that_comes_back_keeps_its_seats() -> None:
    hall = Hall(2, 2)
    hall.call(1, 2)
    seats = hall.told()
    hall.come(1, 2)
    hall.seats.leave(hall.hosts[0])
    host = Host("again", "", 2, {ProgramKind.SCRIPT})
    unwanted = hall.seats.join(host, [seats[0].id, "unknown"])
    assert unwanted == {"unknown"}
    assert list(host.seats) == [seats[0].id]


def test_a_program_whose_host_is_lost_plays_on_elsewhere() -> None:
    hall = Hall(2, 2, 2)
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.playing = {1, 2}
    first = {seat.program.bot_id: seat for host in (0, 1) for seat in hall.told(host)}
    hall.here.discard(1)
    hall.seats.ended(first[BotId(1)])
    hall.seats.look()
    assert (1, False) in bots_of([*hall.told(0), *hall.told(1)])


def test_what_was_lost_with_its_host_plays_on_at_the_next() -> None:
    """A host that was killed says nothing of its seats; the next one knows none of them."""
    hall = Hall(2, 2)
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.playing = {1, 2}
    hall.told()
    hall.seats.leave(hall.hosts[0])
    hall.here.clear()
    hall.seats.look()
    host = Host("next", "", 2, {ProgramKind.SCRIPT})
    hall.seats.join(host)
    hall.seats.look()
    assert bots_of(host.take_unsent()) == [(1, False), (2, False)]
    assert hall.rooms(1, 2) == [0, 0]


def test_another_program_of_a_bot_takes_its_place_after_the_game() -> None:
    hall = Hall(2, 2)
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.told()
    hall.playing = {1, 2}
    newer = replace(program(1), program_id=ProgramId(9), digest="e" * 64)
    hall.seats.set_programs([newer, program(2)])
    assert hall.told() == []
    hall.playing = set()
    hall.seats.look()
    assert bots_of(hall.told()) == [(1, True)]


def test_a_program_that_is_dismissed_stops_in_its_game() -> None:
    """Unless it is another program of the bot than is meant."""
    hall = Hall(2, 2)
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.told()
    hall.playing = {1, 2}
    assert not hall.seats.dismiss(BotId(1), ProgramId(9))
    assert hall.told() == []
    assert hall.seats.dismiss(BotId(1), ProgramId(1))
    assert hall.seats.dismiss(BotId(2))
    assert bots_of(hall.told()) == [(1, True), (2, True)]
    assert not hall.seats.dismiss(BotId(3))


def test_games_that_wait_for_a_program_that_may_not_be_called_are_given_back() -> None:
    """It was called for before its owner or an operator took it out of play."""
    hall = Hall(2, 2)
    pairing = hall.call(1, 2)
    hall.told()
    hall.seats.set_programs([program(2)])
    assert bots_of(hall.told()) == [(1, True)]
    assert (hall.run.pending, hall.run.leased) == ({pairing}, 0)


def test_games_of_a_tournament_that_is_over_are_called_for_no_more() -> None:
    hall = Hall(2, 2)
    hall.call(1, 2)
    hall.seats.withdraw(cast("Any", hall.run))
    assert hall.seats.calls == {}
    assert hall.rooms(1, 2) == [1, 1]


def test_hosts_run_what_they_can_and_for_whom_they_may() -> None:
    hall = Hall(1)
    for number, (kinds, owners) in enumerate(
        [({ProgramKind.ENGINE}, ()), ({ProgramKind.SCRIPT}, (OwnerId(2),))]
    ):
        hall.seats.join(Host(str(number), "", 4, kinds, owners))
        assert hall.seats.program(BotId(1)) is None
    hall.seats.join(Host("own", "", 4, {ProgramKind.SCRIPT}, (OwnerId(1),)))
    assert hall.seats.program(BotId(1)) is not None


def hall_of_two_hosts(room: int) -> Hall:
    """The first of its hosts can't measure processor time; the second can."""
    hall = Hall(2, room, room)
    hall.hosts[0].measures = False
    return hall


def test_a_game_by_processor_time_is_played_where_that_is_measured() -> None:
    hall = hall_of_two_hosts(2)
    hall.run.control = CPU
    hall.call(1, 2)
    assert bots_of(hall.told(0)) == []
    assert bots_of(hall.told(1)) == [(1, False), (2, False)]


def test_a_program_without_a_host_that_measures_it_waits() -> None:
    """For games by processor time alone, and with the reason."""
    hall = hall_of_two_hosts(2)
    hall.seats.leave(hall.hosts[1])
    assert hall.seats.objection(BotId(1), WALL) is None
    reason = "has no host that can measure its processor time"
    assert hall.seats.objection(BotId(1), CPU) == reason
    assert hall.rooms(1) == [1]
    hall.run.control = CPU
    assert hall.rooms(1) == [0]


def test_a_program_on_a_host_that_does_not_measure_it_waits() -> None:
    """Until it was idle for long enough to be stopped, and is started elsewhere."""
    hall = hall_of_two_hosts(1)
    hall.here.add(9)
    hall.call(1, 9)
    (seat,) = hall.told(0)
    hall.come(1)
    hall.seats.take_ready()
    reason = "is on a host that can't measure its processor time"
    assert hall.seats.objection(BotId(1), CPU) == reason
    assert hall.seats.objection(BotId(1), WALL) is None
    hall.here.discard(1)
    hall.seats.ended(seat)
    assert hall.seats.objection(BotId(1), CPU) is None


def test_a_game_by_processor_time_goes_on_where_that_is_measured() -> None:
    """A program whose host was lost waits for one that measures it."""
    hall = hall_of_two_hosts(2)
    hall.run.control = CPU
    hall.call(1, 2)
    hall.come(1, 2)
    hall.seats.take_ready()
    hall.told(1)
    hall.playing = {1, 2}
    hall.seats.leave(hall.hosts[1])
    hall.here.clear()
    hall.seats.look()
    assert hall.told(0) == []
    host = Host("next", "", 2, {ProgramKind.SCRIPT})
    hall.seats.join(host)
    hall.seats.look()
    assert bots_of(host.take_unsent()) == [(1, False), (2, False)]


def test_who_has_less_choice_of_hosts_is_seated_first() -> None:
    """Or the other one takes its place."""
    hall = Hall(0, 1, 1)
    hall.hosts[0].kinds = {ProgramKind.SCRIPT, ProgramKind.ENGINE}
    engine = replace(program(2), kind=ProgramKind.ENGINE)
    hall.seats.set_programs([program(1), engine])
    hall.call(1, 2)
    assert bots_of(hall.told(0)) == [(2, False)]
    assert bots_of(hall.told(1)) == [(1, False)]


def test_two_programs_need_more_than_one_place() -> None:
    """A game that can't be seated is given back, and is not tried again at once."""
    hall = Hall(2, 1)
    pairing = hall.call(1, 2)
    hall.seats.look()
    assert hall.run.pending == {pairing}
    assert hall.rooms(2) == [0]
