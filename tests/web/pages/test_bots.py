"""What the pages of bots compute, and what they show of two versions."""

import pytest
from tests.web.prepared import browse
from tests.web.telling import Told, assert_told

from meijin.game import GOMOKU, encode_moves
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1.ladder_service_pb2 import Score
from meijin.web.pages.bots.bot import ordinal
from meijin.web.pages.bots.versions import DRAWN, changes, version_names
from meijin.wire.values import variant_to_proto


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (122, "122nd")],
)
def test_places_are_ordinals(number: int, text: str) -> None:
    assert ordinal(number) == text


def version(key: int, label: str, digest: str, *options: str, **said: int | str) -> pb.BotVersion:
    found = pb.BotVersion(version_id=str(key), version=label, digest=digest, configuration=options)
    for name, value in said.items():
        setattr(found, name, value)
    return found


def test_versions_have_names() -> None:
    """Of the server, and by their digests where that has none."""
    versions = [version(1, "1.0", "a" * 64, name="1.0 #2"), version(2, "", "d" * 64)]
    assert version_names(versions) == {"1": "1.0 #2", "2": "ddddddd"}


def test_what_changed_between_versions() -> None:
    """Options that came and went, and what it runs on; nothing of the first."""
    before = version(1, "1", "a", "level=3", "tt=1", threads=4, memory_bytes=2**30)
    after = version(2, "2", "b", "tt=1", "level=4", threads=8, hardware="M2")
    assert list(changes(before, None)) == []
    assert list(changes(before, before)) == []
    told = ["+ level=4", "− level=3", "Threads 4 → 8", "Memory 1,024 MB → –", "Hardware – → M2"]  # noqa: RUF001
    assert list(changes(after, before)) == told
    after = version(2, "2", "a", "level=3", "tt=1", threads=4, memory_bytes=2**30)
    after.nodes_per_second, after.deviation = 2_000_000, "8 instead of 4 threads"
    noted = "also came as 8 instead of 4 threads, without a version of its own"
    assert list(changes(after, before)) == ["Nodes/s – → 2.00M", noted]  # noqa: RUF001


def difference(moves: list[int], game_id: int) -> pb.VersionDifference:
    one = pb.VersionMove(cell=0, score=Score(wins=3, losses=1), games=5, game_id=str(game_id))
    other = pb.VersionMove(cell=1, score=Score(losses=2), games=2, game_id=str(game_id + 100))
    return pb.VersionDifference(
        variant=variant_to_proto(GOMOKU), moves=encode_moves(moves), one=one, other=other
    )


async def test_two_versions_side_by_side() -> None:
    """The first positions on boards, others as lines; each with how often, how well and a game."""
    found = pb.CompareVersionsResponse(
        one=version(1, "1.0", "a" * 64, "level=3", name="1.0"),
        other=version(2, "1.0", "b" * 64, "level=4", name="1.0 #2"),
        one_games=20,
        other_games=30,
        positions=44,
        differing=DRAWN + 1,
        differences=[difference([112, 97, 113][: count % 4], count) for count in range(DRAWN + 1)],
    )
    page = "/bots/ada/versions?a=1&b=2"
    told = (
        "A: ",
        "1.0",
        "1.0 #2",
        "+ level=4, − level=3",  # noqa: RUF001
        "both have met 44 positions",
        'href="/games/3?ply=4">a15</a> in 4 of 5 <span class="chip won">75.0 %</span>',
        'href="/games/103?ply=4">b15</a> in 2 of 2 <span class="chip lost">0.0 %</span>',
        ">h8 h9 <",
    )
    browsing = browse(CompareVersions=found)
    await assert_told(browsing, [Told(page, told)])
    text = (await browsing.get(page)).text
    assert text.count('class="choice"') == 2 * DRAWN


async def test_a_hosted_bot_is_ready_though_it_has_no_stream() -> None:
    """One that is neither connected nor hosted is away."""
    listed = pb.ListBotsResponse(bots=[pb.Bot(name="ada", hosted=True)])
    words = (">hosted</span>", ">ready</span>")
    await assert_told(browse(ListBots=listed), [Told("/bots", words, (">away<",))])
    listed.bots[0].hosted = False
    await assert_told(browse(ListBots=listed), [Told("/bots", (">away<",), words)])
