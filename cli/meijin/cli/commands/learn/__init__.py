"""`meijin learn`: adversarial search, looked at while it works."""

import typer

from meijin.cli.commands.learn import gomoku, tictactoe, tree, twenty48

app = typer.Typer(help="See how game trees are searched.", no_args_is_help=True)
app.command("tree")(tree.tree)
app.command("tictactoe")(tictactoe.tictactoe)
app.command("2048")(twenty48.twenty48)
app.command("gomoku")(gomoku.gomoku)
