"""Seats: programs that play when a game calls them, and the hosts that run them."""

import asyncio
import itertools
import secrets
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from meijin.game import TimeControl
from meijin.game.arbiter.moment import nanoseconds
from meijin.programs.kinds import ProgramKind
from meijin.server.tournaments.run import TournamentRun
from meijin.store.schema import BotId, BotVersionId, OwnerId, PairingId, ProgramId
from meijin.store.tournaments import PendingPairing
from meijin.wire.capabilities import Capabilities

log = structlog.get_logger()

IDLE_TIMEOUT = timedelta(minutes=1)
"""A program that plays no game for so long is stopped."""

PLAYERS_OF_A_GAME = 2

FIRST_REST_NS, LONGEST_REST_NS = (
    nanoseconds(timedelta(seconds=1)),
    nanoseconds(timedelta(minutes=1)),
)
"""A program that did not start is not called for so long, twice as long each time."""


@dataclass(frozen=True, slots=True)
class HostedProgram:
    """A program that was admitted, and that its bot plays with."""

    program_id: ProgramId
    bot_id: BotId
    bot: str
    """The bot's name."""
    owner_id: OwnerId | None
    digest: str
    kind: ProgramKind
    size: int
    """Its bytes."""
    file_name: str
    label: str
    version_id: BotVersionId
    """That which it was admitted as."""
    capabilities: Capabilities
    """What it said when it was examined."""
    is_hidden: bool = False
    """Its bot is left out of lists."""
    may_be_rated: bool = True
    """Its examination is the doctor's."""

    @property
    def id(self) -> str:
        """As that of a session: another one may play other games."""
        return self.digest


@dataclass(slots=True, eq=False)
class Seat:
    """A program on a host, from the call until it has ended."""

    id: str
    program: HostedProgram
    host: "Host"
    is_open: bool = False
    """Its bot's stream is open."""
    is_leaving: bool = False
    """It was told to stop."""
    idle_ns: int | None = None
    """Since when it plays no game; ``None`` while it does, or is to."""


@dataclass(slots=True, eq=False)
class Host:
    """A host's stream, with what waits to be told to it."""

    id: str
    name: str
    room: int
    """How many programs it has seated at once."""
    kinds: Collection[ProgramKind]
    owners: Collection[OwnerId | None] = ()
    """Whose programs it runs alone, ``None`` for bots without an owner; empty for everybody's."""
    measures: bool = True
    """It can tell the processor time of its programs."""
    seats: dict[str, Seat] = field(default_factory=dict)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while something waits to be told."""
    _unsent: deque[Seat] = field(default_factory=deque)

    def takes(self, program: HostedProgram, control: TimeControl | None) -> bool:
        """Whether it could run a program, for games by this clock, whatever it runs now."""
        is_owned = not self.owners or program.owner_id in self.owners
        is_measured = control is None or not control.cpu or self.measures
        return program.kind in self.kinds and is_owned and is_measured

    @property
    def free(self) -> int:
        return self.room - len(self.seats)

    def tell(self, seat: Seat) -> None:
        """Have it told that a seat is taken, or is to be left."""
        self._unsent.append(seat)
        self.wake.set()

    def take_unsent(self) -> list[Seat]:
        unsent, self._unsent = list(self._unsent), deque()
        return unsent


@dataclass(frozen=True, slots=True)
class Rest:
    """A program that did not start is not called for a while."""

    end_ns: int
    length_ns: int


@dataclass(frozen=True, slots=True)
class Call:
    """A game that begins once its hosted programs are there."""

    run: TournamentRun
    pairing: PendingPairing

    @property
    def bots(self) -> tuple[BotId, BotId]:
        return self.pairing.black_id, self.pairing.white_id

    def control_of(self, bot_id: BotId) -> TimeControl:
        return self.pairing.time_control or self.run.row.control_of(bot_id)


class Seats:
    """Calls programs for games, and stops those that are idle.

    A game that needs a program is called for when there is a place for both of its players: so no
    two games hold a place each and wait for the other's.

    Args:
        is_here: Whether a stream of a bot is open.
        playing_by: What a bot has on its clock in the game that it plays; ``None`` while it plays
            none.
        changed: Told of bots that may be free now.
    """

    def __init__(
        self,
        *,
        is_here: Callable[[BotId], bool],
        playing_by: Callable[[BotId], TimeControl | None],
        changed: Callable[[Iterable[BotId]], None],
        clock: Callable[[], int],
    ) -> None:
        self.programs: Mapping[BotId, HostedProgram] = {}
        """The programs that may be called, by their bots."""
        self.hosts: dict[str, Host] = {}
        self.calls: dict[PairingId, Call] = {}
        """The games that wait for their programs, in the order in which they were called for."""
        self._seats: dict[BotId, Seat] = {}
        self._reserved: Counter[BotId] = Counter()
        self._rests: dict[BotId, Rest] = {}
        """The last of each program that has not started since."""
        self._rests_now: set[BotId] = set()
        self._is_here = is_here
        self._playing_by = playing_by
        self._changed = changed
        self._clock = clock
        self._numbers = itertools.count(1)

    # -- what the scheduler asks ----------------------------------------------------------

    def program(self, bot_id: BotId) -> HostedProgram | None:
        """The program that can be called for a bot; ``None`` where no host could run it."""
        program = self.programs.get(bot_id)
        return program if program is not None and self._hosts(program) else None

    def _hosts(self, program: HostedProgram, control: TimeControl | None = None) -> list[Host]:
        """The hosts that could run a program, for games by this clock."""
        return [host for host in self.hosts.values() if host.takes(program, control)]

    def _is_playing(self, bot_id: BotId) -> bool:
        return self._playing_by(bot_id) is not None

    def absence(self, bot_id: BotId) -> str:
        """Why a bot is not there that has no stream."""
        if bot_id in self.programs:
            return "has a program, and no host is there to run it"
        return "is not connected"

    def objection(self, bot_id: BotId, control: TimeControl) -> str | None:
        """Why the host that a bot has, or could have, can't keep a clock; ``None`` where one can."""
        if not control.cpu:
            return None
        seat, program = self._seats.get(bot_id), self.program(bot_id)
        if seat is not None:
            is_kept = seat.host.measures
            return None if is_kept else "is on a host that can't measure its processor time"
        if program is None or self._is_here(bot_id) or self._hosts(program, control):
            return None
        return "has no host that can measure its processor time"

    def callable(self) -> list[HostedProgram]:
        """The programs that some host could run."""
        return [each for each in self.programs.values() if self.program(each.bot_id) is each]

    def reserved(self, bot_id: BotId) -> int:
        """Games that wait for their programs, of a bot; all its places while it is to leave."""
        seat = self._seats.get(bot_id)
        leaves = seat is not None and seat.is_leaving
        return self._reserved[bot_id] + leaves

    def room(self, bot_id: BotId, control: TimeControl) -> int:
        """Whether a bot without a stream may be called for one more game by this clock: 0 or 1."""
        program = self.program(bot_id)
        if program is None or self.reserved(bot_id) or bot_id in self._rests_now:
            return 0
        if self._is_playing(bot_id):  # its game goes on when it is back
            return 0
        if bot_id in self._seats:
            return 1
        hosts = self._hosts(program, control)
        wanted = min(PLAYERS_OF_A_GAME, sum(host.room for host in hosts))
        places = sum(host.free + len(self._idle(host)) for host in hosts)
        return int(places >= max(1, wanted))

    def call(self, run: TournamentRun, pairing: PendingPairing) -> None:
        """Have the programs of a game come that are not here."""
        call = Call(run, pairing)
        self.calls[pairing.id] = call
        run.leased += 1
        self._reserved.update(call.bots)
        hosts: dict[BotId, list[Host]] = {}
        for bot_id in call.bots:
            seat = self._seats.get(bot_id)
            if seat is not None:
                seat.idle_ns = None
            elif not self._is_here(bot_id):
                hosts[bot_id] = self._hosts(self.programs[bot_id], call.control_of(bot_id))
        for bot_id in sorted(hosts, key=lambda each: len(hosts[each])):  # the least choice first
            if not self._seat(self.programs[bot_id], hosts[bot_id]):
                self._rest(bot_id)

    def take_ready(self) -> list[Call]:
        """Take out the calls of which both players are here."""
        ready = [call for call in self.calls.values() if all(map(self._is_here, call.bots))]
        for call in ready:
            self._end_call(call)
        return ready

    def withdraw(self, run: TournamentRun) -> None:
        """None of the run's games is needed any more."""
        for call in [call for call in self.calls.values() if call.run is run]:
            self._end_call(call)

    def _end_call(self, call: Call) -> None:
        del self.calls[call.pairing.id]
        call.run.leased -= 1
        self._reserved -= Counter(call.bots)  # drops those that have none

    # -- hosts ----------------------------------------------------------------------------

    def join(self, host: Host, kept: Collection[str] = ()) -> Collection[str]:
        """A host has come; `kept` are the ids of the seats that it has from before.

        Returns:
            Those of them that nobody wants any more.
        """
        self.hosts[host.id] = host
        wanted = [seat for seat in self._seats.values() if seat.id in kept]
        for seat in wanted:
            seat.host = host
            host.seats[seat.id] = seat
        log.info("host joined", host=host.name, room=host.room)
        self._changed(self.programs)
        return set(kept) - {seat.id for seat in wanted}

    def leave(self, host: Host) -> None:
        """A host's stream has ended; what is seated there plays on, as far as it is there."""
        if self.hosts.pop(host.id, None) is not None:
            log.info("host left", host=host.name, seats=len(host.seats))
        for seat in list(host.seats.values()):
            if not seat.is_open:
                self.ended(seat)

    def opened(self, bot_id: BotId) -> None:
        """The stream of a bot has opened."""
        seat = self._seats.get(bot_id)
        if seat is not None:
            seat.is_open = True
            self._rests.pop(bot_id, None)
            self._rests_now.discard(bot_id)

    def ended(self, seat: Seat) -> None:
        """A program has ended; games that wait for it are planned anew."""
        seat.host.seats.pop(seat.id, None)
        bot_id = seat.program.bot_id
        if not (seat.is_open or seat.is_leaving):
            self._rest(bot_id)
        if self._seats.get(bot_id) is seat:
            del self._seats[bot_id]
        if not self._is_here(bot_id):
            self._put_back(bot_id)
        self._changed(self.programs)

    def _rest(self, bot_id: BotId) -> None:
        """Call a program for no game for a while, twice as long as the last time."""
        before = self._rests.get(bot_id)
        length_ns = FIRST_REST_NS if before is None else min(2 * before.length_ns, LONGEST_REST_NS)
        self._rests[bot_id] = Rest(self._clock() + length_ns, length_ns)
        self._rests_now.add(bot_id)

    def _put_back(self, bot_id: BotId) -> None:
        for call in [call for call in self.calls.values() if bot_id in call.bots]:
            self._end_call(call)
            if call.run.is_playing:
                call.run.pending.add(call.pairing)
            self._changed(call.bots)

    def look(self) -> None:
        """Stop programs that are idle for long, and those that their bots do not play with."""
        now_ns = self._clock()
        self._end_rests(now_ns)
        self._end_lost()
        for seat in self._seats.values():
            self._look_at(seat, now_ns)
        for call in list(self.calls.values()):
            for bot_id in call.bots:
                if bot_id not in self._seats and not self._is_here(bot_id):
                    self._put_back(bot_id)
        for bot_id, program in self.programs.items():
            control = self._playing_by(bot_id)
            is_lost = control is not None and not self._is_here(bot_id)
            if is_lost and bot_id not in self._seats:  # with its host: it plays on elsewhere
                self._seat(program, self._hosts(program, control))

    def _end_rests(self, now_ns: int) -> None:
        rested = [bot_id for bot_id in self._rests_now if self._rests[bot_id].end_ns <= now_ns]
        if rested:
            self._rests_now.difference_update(rested)
            self._changed(rested)

    def _end_lost(self) -> None:
        """End the seats whose host has gone, and their bots with it, where another host is there."""
        for bot_id, seat in list(self._seats.items()):
            is_lost = seat.host.id not in self.hosts and not self._is_here(bot_id)
            program, control = self.programs.get(bot_id), self._playing_by(bot_id)
            if is_lost and program is not None and self._hosts(program, control):
                self.ended(seat)

    def _look_at(self, seat: Seat, now_ns: int) -> None:
        bot_id = seat.program.bot_id
        if seat.is_leaving or self._is_playing(bot_id):
            seat.idle_ns = None
            return
        current = self.programs.get(bot_id)
        if current is None or current.program_id != seat.program.program_id:
            self._dismiss(seat)
        elif self._reserved[bot_id]:
            seat.idle_ns = None
        elif seat.idle_ns is None:
            seat.idle_ns = now_ns
        elif now_ns - seat.idle_ns >= nanoseconds(IDLE_TIMEOUT):
            self.unseat(seat)

    def dismiss(self, bot_id: BotId, program_id: ProgramId | None = None) -> bool:
        """A bot may play no more, or not with this program: it stops now, whatever it plays.

        Returns:
            Whether it was seated.
        """
        seat = self._seats.get(bot_id)
        if seat is None or program_id not in {None, seat.program.program_id}:
            return False
        self._dismiss(seat)
        return True

    def _dismiss(self, seat: Seat) -> None:
        """Have a program stop; games that wait for it are planned anew."""
        self.unseat(seat)
        self._put_back(seat.program.bot_id)

    def unseat(self, seat: Seat) -> None:
        """Have a program stop."""
        if not seat.is_leaving:
            seat.is_leaving = True
            seat.host.tell(seat)

    def set_programs(self, programs: Iterable[HostedProgram]) -> None:
        """Others may be called from now on."""
        old, self.programs = self.programs, {each.bot_id: each for each in programs}
        self._changed(bot_id for bot_id, each in self.programs.items() if old.get(bot_id) != each)
        self.look()

    def _seat(self, program: HostedProgram, hosts: Collection[Host]) -> bool:
        """Give a program a place: a free one, or that of the program that is idle for longest.

        Returns:
            Whether one of the hosts had one.
        """
        free = [host for host in hosts if host.free > 0]
        if free:
            host = max(free, key=lambda each: each.free)
        else:
            idle = [seat for host in hosts for seat in self._idle(host)]
            if not idle:
                return False
            oldest = min(idle, key=lambda seat: seat.idle_ns or 0)
            self.unseat(oldest)
            host = oldest.host
        seat = Seat(f"{next(self._numbers)}-{secrets.token_hex(4)}", program, host)
        host.seats[seat.id] = seat
        self._seats[program.bot_id] = seat
        host.tell(seat)
        return True

    def _idle(self, host: Host) -> list[Seat]:
        """The seats of a host that may be left at once."""
        return [
            seat
            for seat in host.seats.values()
            if not seat.is_leaving
            and not self._reserved[seat.program.bot_id]
            and not self._is_playing(seat.program.bot_id)
            and seat.is_open
        ]
