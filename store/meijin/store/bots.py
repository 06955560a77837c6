"""Bots and their versions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Select,
    String,
    case,
    cast,
    false,
    func,
    or_,
    select,
    update,
)

from meijin.store.access.people import is_person
from meijin.store.errors import RowNotFoundError, did_you_mean
from meijin.store.rows import add_row, columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Owner,
    OwnerId,
    aliased,
    computed,
)

MAX_DISPLAY_NAMES = 20_000
"""That are told at once."""


class BotRow(Bot):
    """A bot as it is listed."""

    owner: str = computed(func.coalesce(Owner.name, ""))
    """Empty when it has none."""
    hardware: str = computed(func.coalesce(BotVersion.hardware, ""))
    """What the version of its last stream, or else the newest, says that it runs on; may be empty."""
    nodes_per_second: int = computed(func.coalesce(BotVersion.nodes_per_second, 0))
    """Of the reference search there, as that version says; 0 where it says nothing."""
    threads: int | None = computed(BotVersion.threads)
    """That its search was told to use, as that version says; ``None`` where it says nothing."""
    memory_bytes: int | None = computed(BotVersion.memory_bytes)
    """That it was told to keep to; likewise."""
    version: str = computed(func.coalesce(BotVersion.label, ""))
    """What that version is called; empty before it has one."""
    digest: str = computed(func.coalesce(BotVersion.digest, ""))
    configuration: Sequence[str] | None = computed(BotVersion.configuration)
    """The options of that version, each ``name=value``; ``None`` before it has one."""


_OTHER = aliased(BotVersion)
_ORDINAL = (
    select(func.count())
    .where(
        _OTHER.bot_id == BotVersion.bot_id,
        _OTHER.label == BotVersion.label,
        _OTHER.id <= BotVersion.id,
    )
    .scalar_subquery()
)
"""Counts a bot's versions of one label, from 1 on."""

DISTINCT_LABEL = case(
    (_ORDINAL == 1, BotVersion.label),
    else_=func.ltrim(BotVersion.label + " #" + cast(_ORDINAL, String)),
)
"""A version's label, by which a bot's versions are told apart: ``1.0``, and then ``1.0 #2``."""


class VersionRow(BotVersion):
    """A version as it is listed."""

    name: str = computed(DISTINCT_LABEL)
    """May be empty, where its label is."""


def find_bot(connection: Connection, name: str) -> BotId | None:
    """The bot of that name, if any."""
    return connection.scalar(select(Bot.id).where(Bot.name == name))


def get_bot(connection: Connection, name: str) -> BotId:
    """The bot of that name.

    Raises:
        RowNotFoundError: there is none.
    """
    bot_id = find_bot(connection, name)
    if bot_id is None:
        hint = did_you_mean(connection, Bot.name, name) or "list the bots to see their names"
        raise RowNotFoundError(f'no bot "{name}"; {hint}')
    return bot_id


def bot_record(connection: Connection, bot_id: BotId) -> Bot:
    """Who a bot is and whether it may play.

    Raises:
        RowNotFoundError: it is a person who was forgotten; bots never are.
    """
    query = select(Bot).where(Bot.id == bot_id)
    found = read_row(Bot, connection.execute(query))
    if found is None:
        raise RowNotFoundError("you were away for too long, and are forgotten; come in anew")
    return found


def set_last_seen(connection: Connection, bots: Sequence[BotId], time: datetime) -> None:
    connection.execute(update(Bot).where(Bot.id.in_(bots)).values(last_seen_time=time))


def add_bot(
    connection: Connection,
    name: str,
    now: datetime,
    *,
    owner_id: OwnerId | None = None,
    is_open: bool = False,
    display_name: str = "",
) -> BotId:
    """Register a bot.

    Raises:
        sqlalchemy.exc.IntegrityError: the name is taken.
    """
    row = Bot(
        name=name, create_time=now, owner_id=owner_id, is_open=is_open, display_name=display_name
    )
    return add_row(connection, row).id


def list_bots(
    connection: Connection,
    *,
    limit: int,
    after: str = "",
    search: str = "",
    hidden_of: OwnerId | None = None,
    with_hidden: bool = False,
    with_people: bool = False,
    owner: str = "",
    among: Collection[BotId] | None = None,
) -> Sequence[BotRow]:
    """Bots in the order of their names, from the one after `after`.

    Args:
        search: Only those with this in one of their names, ASCII letters in any case.
        hidden_of: Hidden ones of this owner are listed too.
        with_hidden: All hidden ones are.
        with_people: People are.
        owner: Those of the owner of this name alone; of all where it is empty.
        among: Only these.
    """
    query = _bots().where(Bot.name > after).order_by(Bot.name).limit(limit)
    if not with_hidden:
        is_shown = Bot.is_hidden.is_(False)
        mine = false() if hidden_of is None else Bot.owner_id == hidden_of
        query = query.where(or_(is_shown, mine))
    if owner:
        query = query.where(Owner.name == owner)
    if not with_people:
        query = query.where(~is_person())
    if among is not None:
        query = query.where(Bot.id.in_(among))
    if search:
        names = (Bot.name, Bot.display_name)
        query = query.where(or_(*(name.icontains(search, autoescape=True) for name in names)))
    return read_rows(BotRow, connection.execute(query))


def display_names(connection: Connection) -> Sequence[tuple[str, str]]:
    """Names with what people call those who have them: of bots and then of people, newest first."""
    named = select(Bot.name, Bot.display_name).where(Bot.display_name != "", ~Bot.is_hidden)
    found: list[tuple[str, str]] = []
    for who in (~is_person(), is_person()):  # by their ids: to sort all takes twice as long
        query = named.where(who).order_by(Bot.id.desc()).limit(MAX_DISPLAY_NAMES - len(found))
        found += connection.execute(query)
    return found


def bots_of(connection: Connection, owner_id: OwnerId) -> Sequence[BotId]:
    """The bots of an owner, oldest first."""
    query = select(Bot.id).where(Bot.owner_id == owner_id).order_by(Bot.id)
    return connection.scalars(query).all()


def get_bots(connection: Connection, bots: Mapping[str, BotId]) -> Sequence[BotRow]:
    """Some bots, in the order in which they are named."""
    query = _bots().where(Bot.id.in_(bots.values()))
    rows = {row.name: row for row in read_rows(BotRow, connection.execute(query))}
    return [rows[name] for name in bots]


def _bots() -> Select[*tuple[Any, ...]]:
    each = aliased(BotVersion)
    newest = select(func.max(each.id)).where(each.bot_id == Bot.id).scalar_subquery()
    listed = select(*columns_of(BotRow)).select_from(Bot).outerjoin(Owner)
    return listed.outerjoin(BotVersion, BotVersion.id == func.coalesce(Bot.version_id, newest))


def version_ids(connection: Connection, bot_id: BotId) -> Sequence[BotVersionId]:
    """All versions of a bot, oldest first; none when it has never been there."""
    query = select(BotVersion.id).where(BotVersion.bot_id == bot_id)
    return connection.scalars(query.order_by(BotVersion.id)).all()


def labels_of(
    connection: Connection, bot_id: BotId, versions: Iterable[BotVersionId]
) -> dict[BotVersionId, str]:
    """What those of some versions are called that are this bot's, oldest first."""
    query = select(BotVersion.id, BotVersion.label).where(
        BotVersion.bot_id == bot_id, BotVersion.id.in_(list(versions))
    )
    return {row.id: row.label for row in connection.execute(query.order_by(BotVersion.id))}


def newest_versions(connection: Connection, bot_id: BotId, limit: int) -> Sequence[BotVersionId]:
    """The newest versions of a bot, newest first."""
    query = select(BotVersion.id).where(BotVersion.bot_id == bot_id)
    return connection.scalars(query.order_by(BotVersion.id.desc()).limit(limit)).all()


def version_row(connection: Connection, version_id: BotVersionId) -> VersionRow:
    query = _listed_versions().where(BotVersion.id == version_id)
    found = read_row(VersionRow, connection.execute(query))
    assert found is not None, "versions are never deleted"
    return found


def version_of(connection: Connection, bot_id: BotId, version_id: BotVersionId) -> VersionRow:
    """This version of a bot.

    Raises:
        RowNotFoundError: it has none such.
    """
    query = _listed_versions().where(BotVersion.bot_id == bot_id, BotVersion.id == version_id)
    found = read_row(VersionRow, connection.execute(query))
    if found is None:
        raise RowNotFoundError(f"no version {version_id}; list the versions to see their ids")
    return found


def newest_version_rows(connection: Connection, bot_id: BotId, limit: int) -> Sequence[VersionRow]:
    """The newest versions of a bot as they are listed, newest first."""
    query = _listed_versions().where(BotVersion.bot_id == bot_id)
    return read_rows(
        VersionRow, connection.execute(query.order_by(BotVersion.id.desc()).limit(limit))
    )


def list_versions(
    connection: Connection, bot_id: BotId, *, limit: int, after: int = 0
) -> Sequence[VersionRow]:
    """A bot's versions, oldest first, from the one after the id `after`."""
    query = (
        _listed_versions()
        .where(BotVersion.bot_id == bot_id, BotVersion.id > after)
        .order_by(BotVersion.id)
        .limit(limit)
    )
    return read_rows(VersionRow, connection.execute(query))


def _listed_versions() -> Select[*tuple[Any, ...]]:
    return select(*columns_of(VersionRow)).select_from(BotVersion)
