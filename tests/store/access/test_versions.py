"""Which of its bot's versions a program is, by what it is and what it runs on."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from tests.store.conftest import NOON, AddBots

from meijin.store import Database, bots
from meijin.store.access import versions
from meijin.store.access.versions import (
    MACHINE,
    Arrived,
    EngineRow,
    arrive,
    set_deviation,
    set_doctor_time,
    versions_of,
)
from meijin.store.errors import TooManyVersionsError
from meijin.store.schema import BotId, BotVersion, BotVersionId

ENGINE = EngineRow("1", "d", ("depth=4", "nodes=9"), "Ryzen", 1_000_000, 4, 2**30)


def come(
    database: Database, bot_id: BotId, digest: str, *, label: str = "1", day: int = 0, **more: Any
) -> BotVersionId:
    now = NOON + timedelta(days=day)
    return database.write(arrive, bot_id, EngineRow(label, digest, **more), now).version.id


def come_as(database: Database, bot_id: BotId, **more: Any) -> Arrived:
    return database.write(arrive, bot_id, replace(ENGINE, **more), NOON)


def known(number: int = 1, **more: Any) -> BotVersion:
    said = {name: getattr(ENGINE, name) for name in MACHINE}
    fields: dict[str, Any] = {"digest": "d", "configuration": ["nodes=9", "depth=4"], **said}
    row = BotVersion(
        id=BotVersionId(number), bot_id=BotId(1), label="1", create_time=NOON, **fields
    )
    return replace(row, **more)


@pytest.mark.parametrize(
    ("said", "differing"),
    [
        ({}, []),
        ({"label": "2"}, []),
        ({"configuration": ("depth=5", "nodes=9")}, ["configuration"]),
        ({"configuration": ()}, ["configuration"]),
        ({"hardware": "EPYC"}, ["hardware"]),
        ({"threads": 16}, ["threads"]),
        ({"memory_bytes": 2**31}, ["memory_bytes"]),
        ({"nodes_per_second": 1_500_000}, []),
        ({"nodes_per_second": 1_500_001}, ["nodes_per_second"]),
        ({"nodes_per_second": 666_667}, []),
        ({"nodes_per_second": 666_666}, ["nodes_per_second"]),
        ({"hardware": "", "threads": None, "memory_bytes": None, "nodes_per_second": 0}, []),
        ({"hardware": "EPYC", "threads": 16}, ["hardware", "threads"]),
    ],
    ids=str,
)
def test_what_makes_another_version(said: dict[str, Any], differing: list[str]) -> None:
    """Other options and another machine do, but no order, no silence and no noise of a clock."""
    assert replace(ENGINE, **said).differing(known()) == differing
    silent = known(hardware="", threads=None, memory_bytes=None, nodes_per_second=0)
    options = [name for name in differing if name == "configuration"]
    assert replace(ENGINE, **said).differing(silent) == options


def test_the_version_that_a_program_is_most_like() -> None:
    """One with nothing that differs, else one with the same options, else the newest."""
    other_options, other_machine = known(3, configuration=[]), known(2, hardware="EPYC")
    same = known(1)
    assert ENGINE.nearest([other_options, other_machine, same, known(0)]) is same
    assert ENGINE.nearest([other_options, other_machine]) is other_machine
    assert ENGINE.nearest([other_options, known(2, configuration=["a"])]) is other_options


def test_versions_keep_their_lineage(database: Database, add_bots: AddBots) -> None:
    """A digest is one of a bot's versions, which knows the one before it and what it was first."""
    ada, bob = add_bots("ada", "bob")
    ids = [
        come(database, bot_id, digest, label=label, configuration=("depth=4", f"name={digest}"))
        for bot_id, digest, label in (
            (ada, "a", "1"),
            (bob, "a", "1"),
            (ada, "b", "1"),
            (ada, "a", "other"),
            (ada, "c", "3"),
        )
    ]
    assert (ids[3], len(set(ids))) == (ids[0], 4)
    first, second, third = database.read(bots.list_versions, ada, limit=10)
    assert [each.digest for each in (first, second, third)] == ["a", "b", "c"]
    assert [each.parent_id for each in (first, second, third)] == [None, first.id, second.id]
    assert (first.label, third.label, third.create_time) == ("1", "3", NOON)
    assert third.configuration == ["depth=4", "name=c"]
    page = database.read(bots.list_versions, ada, limit=1, after=first.id)
    assert [version.id for version in page] == [second.id]


def test_another_machine_is_a_version_with_the_old_one_as_parent(
    database: Database, add_bots: AddBots
) -> None:
    """Who returns to a machine is what it was there; a machine is known by all that it says."""
    (ada,) = add_bots("ada")
    laptop = come_as(database, ada)
    assert (laptop.siblings, laptop.unlike) == ((), None)
    come(database, ada, "another program")
    server = come_as(database, ada, hardware="EPYC", threads=16)
    assert server.unlike is not None
    assert server.unlike.id == server.version.parent_id == laptop.version.id
    assert (server.version.hardware, server.version.threads) == ("EPYC", 16)
    assert come_as(database, ada, threads=16).version.id != server.version.id
    for machine, arrived in (({}, laptop), ({"hardware": "EPYC", "threads": 16}, server)):
        again = come_as(database, ada, nodes_per_second=900_000, **machine)
        assert (again.version.id, again.unlike) == (arrived.version.id, None)
        assert len(again.siblings) == 3
    (row,) = (each for each in database.read(versions_of, ada, "d") if each.threads == 4)
    assert row.nodes_per_second == ENGINE.nodes_per_second  # speeds are compared with the first


def test_what_was_left_out_is_filled_in(database: Database, add_bots: AddBots) -> None:
    """Once, and from then on it tells the version's machine from others; silence changes nothing."""
    (ada,) = add_bots("ada")
    nothing = dict.fromkeys(("threads", "memory_bytes"))
    silent = come_as(database, ada, hardware="", nodes_per_second=0, **nothing)
    assert come_as(database, ada).version.id == silent.version.id
    (row,) = database.read(versions_of, ada, "d")
    assert [getattr(row, name) for name in MACHINE] == ["Ryzen", 4, 2**30, 1_000_000, False]
    assert come_as(database, ada, hardware="").version.id == silent.version.id
    assert come_as(database, ada, hardware="EPYC").version.id != silent.version.id


def test_an_examination_is_of_a_program(database: Database, add_bots: AddBots) -> None:
    """On any machine, also one that comes later; other options are examined anew."""
    (ada,) = add_bots("ada")
    first, _, other = (
        come_as(database, ada, **said).version
        for said in ({}, {"threads": 8}, {"configuration": ("depth=5",)})
    )
    assert len(database.write(set_doctor_time, first, NOON)) == 2
    assert come_as(database, ada, threads=16).version.doctor_time == NOON
    assert come_as(database, ada, configuration=("depth=6",)).version.doctor_time is None
    rows = {each.id: each for each in database.read(versions_of, ada, "d")}
    assert [each.threads for each in rows.values() if each.doctor_time] == [16, 8, 4]
    assert rows[other.id].doctor_time is None


def test_other_machines_make_only_so_many_versions(
    database: Database, add_bots: AddBots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a day, and never past the most of all; a bot that says more stays the one that it was."""
    monkeypatch.setattr(versions, "MAX_VARIANTS_A_DAY", 3)
    monkeypatch.setattr(versions, "MAX_VERSIONS", 5)
    (ada,) = add_bots("ada")
    ids = [come(database, ada, "d", threads=threads) for threads in range(1, 4)]
    for threads in (90, 91):
        arrived = database.write(arrive, ada, EngineRow("1", "d", threads=threads), NOON)
        assert arrived.unlike is arrived.version
        assert arrived.version.id == ids[-1]
    assert come(database, ada, "d", threads=1) == ids[0]
    ids += [come(database, ada, "d", threads=90, day=2), come(database, ada, "new", day=2)]
    assert len(set(ids)) == 5
    assert come(database, ada, "d", threads=91, day=9) == ids[-2]


def test_a_bot_can_be_held_to_a_version(database: Database, add_bots: AddBots) -> None:
    """Whatever it says; how it was unlike that is kept."""
    (ada,) = add_bots("ada")
    only = come_as(database, ada).version
    come_as(database, ada, threads=16)
    engine = replace(ENGINE, threads=16)
    arrived = database.write(arrive, ada, engine, NOON, only=only)
    assert arrived.version == arrived.unlike == only
    database.write(set_deviation, arrived.version, "16 instead of 4 threads")
    assert database.read(versions_of, ada, "d")[1].deviation == "16 instead of 4 threads"


def test_versions_of_one_label_are_told_apart(database: Database, add_bots: AddBots) -> None:
    """By a number from the second on, which stays what it is; so are those without a label."""
    ada, bob = add_bots("ada", "bob")
    for number, (bot, label) in enumerate(
        [(ada, "1.0"), (bob, "1.0"), (ada, "1.0"), (ada, ""), (ada, ""), (ada, "1.0"), (ada, "2")]
    ):
        come(database, bot, str(number), label=label)
    query = select(bots.DISTINCT_LABEL).order_by(BotVersion.id)
    labels = database.read(lambda at: at.scalars(query).all())
    assert labels == ["1.0", "1.0", "1.0 #2", "", "#2", "1.0 #3", "2"]
    names = [each.name for each in database.read(bots.list_versions, ada, limit=9)]
    assert names == ["1.0", "1.0 #2", "", "#2", "1.0 #3", "2"]


def test_a_bot_has_only_so_many_versions(
    database: Database, add_bots: AddBots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is kept forever; one that is there may always come in, and other bots too."""
    monkeypatch.setattr(versions, "MAX_VERSIONS", 3)
    monkeypatch.setattr(versions, "MAX_VERSIONS_A_DAY", 2)
    ada, bob = add_bots("ada", "bob")
    first = come(database, ada, "a")
    come(database, ada, "b")
    with pytest.raises(TooManyVersionsError, match="2 new versions in a day"):
        come(database, ada, "c")
    assert come(database, ada, "a") == first
    come(database, bob, "c")
    come(database, ada, "c", day=2)
    with pytest.raises(TooManyVersionsError, match="3 versions, the most"):
        come(database, ada, "d", day=9)
    assert come(database, ada, "a", day=9) == first
