"""A tournament in tables: who scored what against whom, and how the bots stand."""

from functools import partial
from typing import Any

from rich.table import Table

from meijin.cli.tables import TableColumn, number, table, text
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.standings import crosstable_scores, points, results

SHORT_NAMES = {"Sonneborn-Berger": "SB"}
"""Of tie-breaks, where a table has a column a bot."""


def planned_text(tournament: pb.Tournament) -> str:
    if not tournament.planned_games:
        return "games without a bound"
    most = "at most " if tournament.may_end_early else ""
    return f"{most}{tournament.planned_games} games"


def games_text(tournament: pb.Tournament) -> str:
    """How many games of a tournament have a result, and of how many, if that is known."""
    if not tournament.planned_games:
        return f"{tournament.finished_games} games"
    return f"{tournament.finished_games} of {planned_text(tournament)}"


def _title(tournament: pb.Tournament) -> str:
    return tournament.settings.name or f"Tournament {tournament.tournament_id}"


def standings_table(response: pb.GetTournamentResponse) -> Table:
    """How the bots stand, with what orders those with the same points."""
    faults = {count.bot: count.faults for count in response.faults}
    columns = (
        text("#", "rank"),
        text("bot"),
        number("points", lambda row: f"{row.points:g}"),
        *(
            number(tie.name, partial(_tie, place))
            for place, tie in enumerate(response.standings[0].tie_breaks)
        ),
        number("games"),
        number("won", "wins"),
        number("drawn", "draws"),
        number("lost", "losses"),
        number("faults", lambda row: faults.get(row.bot, 0)),
        text("", "note"),
    )
    return table(_title(response.tournament), columns, response.standings)


def crosstable(response: pb.GetTournamentResponse) -> Table:
    """Who scored how many points against whom: a row and a column a bot, best first."""
    cells = {(cell.bot, cell.opponent): cell for cell in response.crosstable}
    faults = {count.bot: count.faults for count in response.faults}
    standings = {row.bot: row for row in response.standings}
    scores = crosstable_scores(response)
    order = list(scores)

    def met(opponent: str, bot: str) -> str:
        cell = cells.get((bot, opponent))
        return "·" if cell is None else f"{points(cell):g}"

    def tied(place: int, bot: str) -> str:
        return _tie(place, standings[bot])

    ties = standings[order[0]].tie_breaks if standings else ()
    columns: tuple[TableColumn, ...] = (
        text("#", lambda bot: order.index(bot) + 1),
        text("bot", str),
        *(number(str(place), partial(met, other)) for place, other in enumerate(order, 1)),
        number("points", lambda bot: f"{points(scores[bot]):g}"),
        *(
            number(SHORT_NAMES.get(tie.name, tie.name), partial(tied, place))
            for place, tie in enumerate(ties)
        ),
        number("W-D-L", lambda bot: results(scores[bot])),
        number("faults", lambda bot: faults.get(bot, 0)),
    )
    return table(_title(response.tournament), columns, order)


def _tie(place: int, row: Any) -> str:  # noqa: ANN401 - of a table's row
    return f"{row.tie_breaks[place].value:g}"
