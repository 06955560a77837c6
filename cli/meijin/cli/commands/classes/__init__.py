"""`meijin class`: a class of students with a bot each.

- `rosters`: classes made from rosters, shown and listed; deadlines
- `grades`: tests of each bot against bots of known strength
- `reports`: a page of HTML for each student
- `copies`: bots that play alike far more than their strength explains
- `ladder`: where the bots stand, under aliases for a projector
"""

import typer

from meijin.cli.commands.classes.copies import copies
from meijin.cli.commands.classes.grades import grade
from meijin.cli.commands.classes.ladder import ladder
from meijin.cli.commands.classes.reports import report
from meijin.cli.commands.classes.rosters import create, deadline, list_, show

app = typer.Typer(
    help="Give each student of a class a bot, a deadline, grades and a report.",
    no_args_is_help=True,
)

app.command()(create)
app.command("list")(list_)
app.command()(show)
app.command()(deadline)
app.command()(grade)
app.command()(report)
app.command()(copies)
app.command()(ladder)
