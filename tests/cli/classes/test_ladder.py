from meijin.cli.classes.ladder import ALIASES, aliases, of_class
from meijin.v1 import ladder_service_pb2 as pb

HANDLES = [f"student-{number:02}" for number in range(300)]


def test_each_bot_has_an_alias_of_its_own() -> None:
    assert len(ALIASES) == len(set(ALIASES)) > 1000
    assert len(set(aliases("x", HANDLES).values())) == len(HANDLES)


def test_aliases_stay_when_others_come() -> None:
    early = aliases("x", HANDLES[:20])
    assert {name: aliases("x", HANDLES)[name] for name in early} == early
    assert sum(aliases("y", HANDLES)[name] == alias for name, alias in early.items()) < 5


def test_an_anonymous_line_tells_nothing_else() -> None:
    table = pb.GetStandingsResponse()
    for rank, bot in enumerate(("reference", "ada", "eve"), start=1):
        table.standings.add(
            rank=rank, bot=bot, version="adas", hardware="Ada's", digest="d", version_id="7"
        )
    names = {"ada": "red fox", "eve": "blue owl"}
    shown = of_class(table, names, is_anonymous=True)
    assert [(row.rank, row.bot) for row in shown.standings] == [(1, "red fox"), (2, "blue owl")]
    told = str(shown.standings)
    assert not any(word in told for word in ("ada", "Ada", "eve", "version_id", "digest"))
    assert of_class(table, names, is_anonymous=False).standings[0].version == "adas"
