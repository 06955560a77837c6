"""`meijin challenge`: unrated games between a bot of one's own and one that accepts."""

import secrets
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.command import (
    USUAL_LIMIT,
    Commands,
    LimitOption,
    Output,
    default_group,
    list_output,
    option,
)
from meijin.cli.completion import registered
from meijin.cli.errors import CommandError
from meijin.cli.options import (
    DEFAULT_OPENING_RULE,
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    OpeningRuleOption,
    TimeOption,
    VariantOption,
    board_of,
    control_proto,
    openings_for_games,
)
from meijin.cli.output import console
from meijin.cli.tables import number, text
from meijin.cli.tournament.follow import follow
from meijin.cli.tournament.tables import crosstable, games_text
from meijin.local.connection import Connection
from meijin.local.errors import LeftTournamentError
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire.values import variant_to_proto

MAX_GAMES = 20


app = Commands(cls=default_group("make"))


class Colors(str, Enum):
    """Which colour the challenger has."""

    ALTERNATE = "alternate"
    BLACK = "black"
    WHITE = "white"


STATES = {
    tournament_pb.TOURNAMENT_STATE_RUNNING: "running",
    tournament_pb.TOURNAMENT_STATE_FINISHED: "finished",
    tournament_pb.TOURNAMENT_STATE_CANCELLED: "taken back",
}


COLUMNS = (
    text("#", "challenge_id"),
    text("challenger"),
    text("opponent"),
    text("by", lambda row: row.owner or ("person" if row.by_person else "operator")),
    text("state", lambda row: STATES[row.state]),
    number("games", lambda row: f"{row.finished_games}/{row.settings.games}"),
    number("won", "wins"),
    number("drawn", "draws"),
    number("lost", "losses"),
)


@app.command()
def make(
    connection: Connection,
    opponent: Annotated[
        str, typer.Argument(metavar="NAME", help="Whom to challenge.", autocompletion=registered)
    ],
    bot: Annotated[
        str,
        option(
            "The bot that plays it, one of your own; the one that is connected, when left out.",
            metavar="MINE",
            autocompletion=registered,
        ),
    ] = "",
    games: Annotated[int, option("How many, one after another.", 1, MAX_GAMES)] = 2,
    time: TimeOption = DEFAULT_TIME,
    opponent_time: Annotated[
        str | None, "The opponent's clock, where it is not that of --time."
    ] = None,
    variant: VariantOption = DEFAULT_VARIANT,
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE,
    colors: Annotated[Colors, "What your bot has."] = Colors.ALTERNATE,
    openings: Annotated[
        Path | None,
        "A file with at most 20 openings to start from, in any form that `meijin openings "
        "list` reads; the server's own when left out.",
    ] = None,
    empty_board: Annotated[bool, "Start on the empty board instead."] = False,
) -> Output:
    """Challenge a bot to unrated games, follow them to their end and print the score.

    With an owner's or operator's token. Both bots have to be connected, and the other one has to
    accept challenges, which `meijin bot set` says.
    """
    if openings is not None and empty_board:
        raise CommandError("--openings and --empty-board exclude each other; give one")
    board = board_of(variant, opening_rule)
    settings = pb.ChallengeSettings(
        games=games,
        variant=variant_to_proto(board),
        time_control=control_proto(time),
        colors=pb.ChallengeColors.Value(f"CHALLENGE_COLORS_{colors.name}"),
        openings=openings_for_games(openings, board, MAX_GAMES, "a challenge"),
        server_openings=openings is None and not empty_board,
    )
    if opponent_time is not None:
        settings.opponent_time_control.CopyFrom(control_proto(opponent_time))
    request = pb.CreateChallengeRequest(
        opponent=opponent, challenger=bot, settings=settings, request_id=secrets.token_hex(8)
    )
    create = connection.challenges.CreateChallenge
    key = connection.ask_with_token(create, request).challenge.challenge_id
    try:
        found = follow(connection, tournament_pb.Tournament(tournament_id=key))
    except LeftTournamentError:
        message = (
            f"challenge {key} goes on at the server; `meijin tournament watch {key}` follows it "
            f"again, `meijin challenge cancel {key}` takes it back"
        )
        raise LeftTournamentError(message) from None
    state = f"{STATES[found.tournament.state]}: {games_text(found.tournament)}"
    made = connection.challenges.GetChallenge
    response = connection.ask(made, pb.GetChallengeRequest(challenge_id=key))
    return Output(response, [crosstable(found), state])


@app.command("list")
def list_(
    connection: Connection,
    limit: LimitOption = USUAL_LIMIT,
    mine: Annotated[bool, "Only those made with this token."] = False,
    running: Annotated[bool, "Only those that are not over."] = False,
) -> Output:
    """List challenges, newest first."""
    ask = connection.ask_with_token if mine else connection.ask
    request = pb.ListChallengesRequest(mine=mine, running=running)
    method = connection.challenges.ListChallenges
    return list_output(ask, method, request, "Challenges", COLUMNS, limit)


@app.command()
def cancel(
    connection: Connection,
    key: Annotated[str, typer.Argument(help="The challenge's number.", metavar="ID")],
) -> None:
    """Take a challenge back: its running game becomes void and is not played again."""
    request = pb.CancelChallengeRequest(challenge_id=key)
    made = connection.ask_with_token(connection.challenges.CancelChallenge, request)
    done, all_ = made.challenge.finished_games, made.challenge.settings.games
    console.print(f"challenge {key} is taken back after {done} of {all_} games")
