"""Which of its bot's versions a program is that says hello, by what it is and what it runs on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, func, select, update

from meijin.store.errors import TooManyVersionsError
from meijin.store.rows import add_row, change_row, read_rows
from meijin.store.schema import BotId, BotVersion, BotVersionId

MAX_VERSIONS = 1000
"""Of one bot."""

MAX_VERSIONS_A_DAY = 100
"""New ones of one bot, in 24 hours."""

MAX_VARIANTS_A_DAY = 20
"""New versions of a bot in 24 hours, past which a known program on another machine makes none."""

MAX_VARIANTS = 100
"""The newest versions of one program that are looked at."""

SPEED_FACTOR = 1.5
"""By which a measured speed may differ on one machine: load and clocks make less of it."""

MACHINE = ("hardware", "threads", "memory_bytes", "nodes_per_second", "is_hosted")
"""What is known of where a version runs."""


@dataclass(frozen=True, slots=True)
class EngineRow:
    """The program behind a bot as it introduces itself."""

    label: str
    digest: str
    configuration: tuple[str, ...] = ()
    hardware: str = ""
    """What it says that it runs on; empty where it says nothing."""
    nodes_per_second: int = 0
    """Of the reference search there, as it says; 0 where it says nothing."""
    threads: int | None = None
    """That its search was told to use; ``None`` where it says nothing."""
    memory_bytes: int | None = None
    """That it was told to keep to; likewise."""
    is_hosted: bool = False
    """A host of the arena's runs it."""

    def differing(self, version: BotVersion) -> Sequence[str]:
        """The fields in which it says otherwise than a version of the same digest does.

        What either of them leaves out is no difference.
        """
        options = [] if self.is_program_of(version) else ["configuration"]
        return options + [name for name in MACHINE if self._is_elsewhere(name, version)]

    def is_program_of(self, version: BotVersion) -> bool:
        """Whether a version is the same program with the same options, on whatever machine."""
        has_options = sorted(self.configuration) == sorted(version.configuration)
        return has_options and self.digest == version.digest

    def nearest(self, versions: Sequence[BotVersion]) -> BotVersion:
        """The first that it is most like: in all, or else in its options, or else in nothing."""

        def unlikeness(version: BotVersion) -> int:
            return bool(self.differing(version)) + (not self.is_program_of(version))

        return min(versions, key=unlikeness)

    def _is_elsewhere(self, name: str, version: BotVersion) -> bool:
        said, known = getattr(self, name), getattr(version, name)
        if name == "is_hosted":
            return bool(said != known)
        if not (said and known):
            return False
        if name == "nodes_per_second":
            return bool(max(said, known) > SPEED_FACTOR * min(said, known))
        return bool(said != known)


@dataclass(frozen=True, slots=True)
class Arrived:
    """As which version a program has come."""

    version: BotVersion
    siblings: Sequence[BotVersion] = ()
    """Those of its digest that were there before, newest first."""
    unlike: BotVersion | None = None
    """The sibling that it is most like and yet not; the version itself where it got none of its
    own, and ``None`` where it says nothing new."""


def versions_of(connection: Connection, bot_id: BotId, digest: str) -> Sequence[BotVersion]:
    """A bot's versions of one digest, newest first."""
    rows = connection.execute(_OF_DIGEST, {"of_bot": bot_id, "of_digest": digest})
    return read_rows(BotVersion, rows)


def arrive(
    connection: Connection,
    bot_id: BotId,
    engine: EngineRow,
    now: datetime,
    *,
    only: BotVersion | None = None,
) -> Arrived:
    """The version of a bot that a program is; made, with its lineage, when it is new.

    The newest that differs in nothing is it: who returns to a machine is what it was there.

    Args:
        only: The one that it has to be, whatever it says; any or a new one where it is ``None``.

    Raises:
        TooManyVersionsError: its digest is new, and the bot has as many versions as it may have.
    """
    siblings = versions_of(connection, bot_id, engine.digest)
    if not siblings:
        _check_versions(connection, bot_id, now)
        return Arrived(_add_version(connection, bot_id, engine, now))
    nearest = engine.nearest(siblings) if only is None else only
    if not engine.differing(nearest):
        _learn(connection, nearest, engine)
        return Arrived(nearest, siblings)
    if only is not None or not _has_room(connection, bot_id, now):
        return Arrived(nearest, siblings, nearest)
    version = _add_version(connection, bot_id, engine, now, nearest)
    return Arrived(version, siblings, nearest)


def _learn(connection: Connection, version: BotVersion, engine: EngineRow) -> None:
    """Keep what a program says of its machine that its version had left out."""
    said = {
        name: getattr(engine, name)
        for name in MACHINE
        if getattr(engine, name) and not getattr(version, name)
    }
    if said:
        change_row(connection, BotVersion, version.id, **said)


def _add_version(
    connection: Connection,
    bot_id: BotId,
    engine: EngineRow,
    now: datetime,
    nearest: BotVersion | None = None,
) -> BotVersion:
    """A new version, from the one that it is most like or else from the newest.

    A program that has passed the doctor has done so on any machine.
    """
    newest = None if nearest else connection.scalar(_NEWEST, {"of_bot": bot_id})
    row = BotVersion(
        bot_id=bot_id,
        digest=engine.digest,
        label=engine.label,
        configuration=list(engine.configuration),
        create_time=now,
        parent_id=nearest.id if nearest else newest,
        **{name: getattr(engine, name) for name in MACHINE},
        doctor_time=nearest.doctor_time if nearest and engine.is_program_of(nearest) else None,
    )
    return add_row(connection, row)


def set_doctor_time(
    connection: Connection, version: BotVersion, time: datetime | None
) -> Sequence[BotVersionId]:
    """Keep when a program has passed the doctor, for its versions on all machines; their ids."""
    engine = EngineRow(version.label, version.digest, tuple(version.configuration))
    siblings = versions_of(connection, version.bot_id, version.digest)
    ids = [each.id for each in siblings if engine.is_program_of(each)]
    change = update(BotVersion).where(BotVersion.id.in_(ids))
    connection.execute(change.values(doctor_time=time))
    return ids


def set_deviation(connection: Connection, version: BotVersion, deviation: str) -> None:
    """Keep how a program was unlike its version without becoming another."""
    if deviation != version.deviation:
        change_row(connection, BotVersion, version.id, deviation=deviation)


def _check_versions(connection: Connection, bot_id: BotId, now: datetime) -> None:
    """Refuse a new version to a bot that has too many: each is kept forever."""
    if _nth_newest(connection, bot_id, MAX_VERSIONS) is not None:
        message = f"the bot has {MAX_VERSIONS} versions, the most; register another bot"
        raise TooManyVersionsError(message)
    of_today = _nth_newest(connection, bot_id, MAX_VERSIONS_A_DAY)
    if of_today is not None and of_today > now - timedelta(days=1):
        message = f"the bot has {MAX_VERSIONS_A_DAY} new versions in a day, the most; come with one"
        raise TooManyVersionsError(f"{message} that was here before, or tomorrow")


def _has_room(connection: Connection, bot_id: BotId, now: datetime) -> bool:
    """Whether a known program may become a new version on another machine."""
    of_today = _nth_newest(connection, bot_id, MAX_VARIANTS_A_DAY)
    has_today = of_today is None or of_today <= now - timedelta(days=1)
    return has_today and _nth_newest(connection, bot_id, MAX_VERSIONS) is None


def _nth_newest(connection: Connection, bot_id: BotId, number: int) -> datetime | None:
    """When the version came that so many are no older than: looked up in order, none counted."""
    times = select(BotVersion.create_time).where(BotVersion.bot_id == bot_id)
    return connection.scalar(times.order_by(BotVersion.id.desc()).offset(number - 1).limit(1))


_OF_DIGEST = (
    select(BotVersion)
    .where(BotVersion.bot_id == bindparam("of_bot"), BotVersion.digest == bindparam("of_digest"))
    .order_by(BotVersion.id.desc())
    .limit(MAX_VARIANTS)
)
_NEWEST = select(func.max(BotVersion.id)).where(BotVersion.bot_id == bindparam("of_bot"))
