import pytest
from tests.cli.shown import cells, titles

from meijin.cli.tournament.tables import crosstable, games_text, standings_table
from meijin.v1 import tournament_service_pb2 as pb


@pytest.mark.parametrize(
    ("may_end_early", "planned", "words"),
    [
        (False, 60, "12 of 60 games"),
        (True, 400, "12 of at most 400 games"),
        (True, 0, "12 games"),
    ],
)
def test_how_far_a_tournament_is(*, may_end_early: bool, planned: int, words: str) -> None:
    tournament = pb.Tournament(
        may_end_early=may_end_early, planned_games=planned, finished_games=12
    )
    assert games_text(tournament) == words


def test_crosstable() -> None:
    """In the order of the standings, with their tie-breaks, and a dot where two have not met."""
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(
            tournament_id="7", settings=pb.TournamentSettings(bots=["ada", "bob", "cyd"])
        ),
        crosstable=[
            pb.CrosstableCell(bot="bob", opponent="ada", wins=3, draws=1),
            pb.CrosstableCell(bot="ada", opponent="bob", losses=3, draws=1),
            pb.CrosstableCell(bot="cyd", opponent="bob"),
            pb.CrosstableCell(bot="bob", opponent="cyd"),
        ],
        standings=[
            pb.TournamentStanding(
                rank=rank, bot=bot, tie_breaks=[pb.TieBreak(name="Sonneborn-Berger", value=value)]
            )
            for rank, bot, value in ((1, "bob", 1.75), (2, "ada", 1.5), (3, "cyd", 0))
        ],
        faults=[pb.FaultCount(bot="ada", faults=2)],
    )
    made = crosstable(response)
    assert titles(made) == "#|bot|1|2|3|points|SB|W-D-L|faults"
    assert cells(made) == [
        "1|bob|·|3.5|0|3.5|1.75|3-1-0|0",
        "2|ada|0.5|·|·|0.5|1.5|0-1-3|2",
        "3|cyd|0|·|·|0|0|0-0-0|0",
    ]


def test_standings_have_a_column_for_each_tie_break() -> None:
    ties = [
        pb.TieBreak(name="Buchholz", value=4.5),
        pb.TieBreak(name="Sonneborn-Berger", value=2),
    ]
    ada = pb.TournamentStanding(rank=1, bot="ada", points=4, games=4, wins=4, tie_breaks=ties)
    bob = pb.TournamentStanding(rank=2, bot="bob", points=2, games=4, wins=2, losses=2, note="bye")
    bob.tie_breaks.extend(ties)
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(tournament_id="7"),
        faults=[pb.FaultCount(bot="bob", faults=1)],
        standings=[ada, bob],
    )
    made = standings_table(response)
    assert made.title == "Tournament 7"
    assert titles(made).startswith("#|bot|points|Buchholz|Sonneborn-Berger|")
    assert cells(made) == ["1|ada|4|4.5|2|4|4|0|0|0|", "2|bob|2|4.5|2|4|2|0|2|1|bye"]
