"""The plan of a campaign: which faults a seed gives, in which order, to whom."""

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias


class Target(enum.IntEnum):
    """What a fault strikes; where two come together, the first is the last to be mended."""

    SERVER = enum.auto()
    DATABASE = enum.auto()
    QUEUE = enum.auto()
    NETWORK = enum.auto()
    BOT = enum.auto()


class Kind(enum.Enum):
    """A kind of fault: its name, its target, and how many seconds it lasts, from and to."""

    SERVER_KILLED = ("server killed", Target.SERVER, 0.1, 2.5)
    """Alone; its worker and its Valkey end by their parent's death."""
    SERVER_KILLED_WITH_CHILDREN = ("server, worker and Valkey killed", Target.SERVER, 0.1, 2.5)
    SERVER_STOPPED = ("server stopped", Target.SERVER, 0.5, 8.0)
    """SIGSTOP, for longer than a move may take."""
    SERVER_RESTARTED = ("server restarted", Target.SERVER, 0.0, 1.0)
    """SIGTERM, as at an upgrade."""
    SERVER_KILLED_WAITING = ("server killed while the database is locked", Target.SERVER, 0.5, 4.0)
    """What it could not store it may have told nobody."""
    CLOCK_STEPPED = ("wall clock stepped", Target.SERVER, 0.0, 2.0)
    """By an hour, that of the server and its children."""
    DATABASE_LOCKED = ("database locked", Target.DATABASE, 1.0, 8.0)
    """By another process."""
    DISK_FULL = ("disk full", Target.DATABASE, 1.0, 7.0)
    DATABASE_CRASHED = ("PostgreSQL crashed", Target.DATABASE, 0.5, 7.0)
    DATABASE_RESTARTED = ("PostgreSQL restarted", Target.DATABASE, 0.0, 2.0)
    WORKER_KILLED = ("worker killed", Target.QUEUE, 0.0, 0.0)
    WORKER_STOPPED = ("worker stopped", Target.QUEUE, 1.0, 4.0)
    VALKEY_KILLED = ("Valkey killed", Target.QUEUE, 0.0, 0.0)
    VALKEY_STOPPED = ("Valkey stopped", Target.QUEUE, 1.0, 4.0)
    CONNECTION_CUT = ("connection cut", Target.NETWORK, 0.0, 0.0)
    """One bot's."""
    CONNECTIONS_CUT = ("all connections cut", Target.NETWORK, 0.0, 0.0)
    CONNECTION_DELAYED = ("connection delayed", Target.NETWORK, 1.0, 5.0)
    """One bot's, by less than the lag that is credited."""
    CONNECTIONS_HELD = ("all connections held", Target.NETWORK, 0.5, 1.5)
    """No byte goes through, for less than a move may take."""
    CONNECTION_HELD = ("connection held", Target.BOT, 1.0, 9.0)
    """One bot's alone, which may cost it games."""
    BOT_KILLED = ("bot killed", Target.BOT, 0.1, 3.0)
    BOT_STOPPED = ("bot stopped", Target.BOT, 0.5, 2.0)
    BOT_HUNG = ("bot hung", Target.BOT, 16.0, 20.0)
    """SIGSTOP, for so long that it loses games."""

    def __init__(self, words: str, target: Target, shortest: float, longest: float) -> None:
        self.words = words
        self.target = target
        self.shortest = shortest
        self.longest = longest

    @property
    def has_victim(self) -> bool:
        return self.target is Target.BOT or self in _OF_ONE_CONNECTION


_OF_ONE_CONNECTION = {Kind.CONNECTION_CUT, Kind.CONNECTION_DELAYED}
EMBEDDED_ONLY = {Kind.DATABASE_LOCKED, Kind.DISK_FULL, Kind.SERVER_KILLED_WAITING}
"""Those of a database that is a file."""
POSTGRESQL_ONLY = {Kind.DATABASE_CRASHED, Kind.DATABASE_RESTARTED}
TOGETHER = 0.25
"""The share of faults that strike while another one lasts."""


@dataclass(frozen=True, slots=True)
class Injection:
    """One fault as it is planned."""

    kind: Kind
    seconds: float
    """How long it lasts."""
    victim: str = ""
    """The bot that it strikes; empty where that is no bot."""

    def __str__(self) -> str:
        victim = f" ({self.victim})" if self.victim else ""
        return f"{self.kind.words}{victim} for {self.seconds:.1f} s"


Step: TypeAlias = Sequence[Injection]
"""Faults that strike together."""


def plan(
    seed: int, kinds: Collection[Kind], bots: Sequence[str], faults: int
) -> list[list[Injection]]:
    """The faults of a seed: each kind once, as far as there is room, and others by chance."""
    rng = Random(seed)
    ordered = [kind for kind in Kind if kind in kinds]
    drawn = rng.sample(ordered, min(faults, len(ordered)))
    drawn += rng.choices(ordered, k=faults - len(drawn))
    rng.shuffle(drawn)
    steps: list[list[Injection]] = []
    for kind in drawn:
        seconds = round(rng.uniform(kind.shortest, kind.longest), 1)
        injection = Injection(kind, seconds, rng.choice(bots) if kind.has_victim else "")
        if rng.random() < TOGETHER and steps and _may_join(steps[-1], kind):
            steps[-1] = sorted([*steps[-1], injection], key=lambda found: found.kind.target)
        else:
            steps.append([injection])
    return steps


def _may_join(step: Step, kind: Kind) -> bool:
    """Whether a fault may strike with another: a queue dies with its server anyway."""
    kinds = {kind, *(injection.kind for injection in step)}
    targets = {kind.target for kind in kinds}
    if Kind.SERVER_KILLED_WAITING in kinds or len(step) > 1:
        return False
    return len(targets) == 2 and targets != {Target.SERVER, Target.QUEUE}
