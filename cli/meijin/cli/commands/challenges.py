"""`meijin challenge`: unrated games between a bot of one's own and one that accepts."""

import secrets
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from meijin.arena.errors import LeftTournamentError
from meijin.cli.completion import registered
from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.errors import CommandError
from meijin.cli.follow import follow
from meijin.cli.listing import OLDER, USUAL_LIMIT, LimitOption, read_list
from meijin.cli.opening_files import openings_in
from meijin.cli.options import (
    DEFAULT_OPENING_RULE,
    DEFAULT_TIME,
    DEFAULT_VARIANT,
    OpeningRuleOption,
    TimeOption,
    VariantOption,
)
from meijin.cli.output import console, crosstable, games_text, print_json, table
from meijin.game import TimeControl, Variant, encode_moves, opening_rule_named
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire import time_control_to_proto, variant_from_proto, variant_to_proto

MAX_GAMES = 20


class ChallengeGroup(TyperGroup):
    """Makes a challenge when its first word is none of its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
        """Put `make` in front where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["make", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=ChallengeGroup,
    help="Challenge a bot to unrated games, list challenges and take them back. "
    "`meijin challenge NAME` is short for `meijin challenge make NAME`.",
    no_args_is_help=True,
)


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


@app.command()
@with_server
def make(
    connection: Connection,
    opponent: Annotated[
        str, typer.Argument(metavar="NAME", help="Whom to challenge.", autocompletion=registered)
    ],
    bot: Annotated[
        str,
        typer.Option(
            "--bot",
            metavar="MINE",
            help="The bot that plays it, one of your own; the one that is connected, when left out.",
            autocompletion=registered,
        ),
    ] = "",
    games: Annotated[
        int, typer.Option(min=1, max=MAX_GAMES, help="How many, one after another.")
    ] = 2,
    time: TimeOption = DEFAULT_TIME,
    opponent_time: Annotated[
        str | None, typer.Option(help="The opponent's clock, where it is not that of --time.")
    ] = None,
    variant: VariantOption = DEFAULT_VARIANT,
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE,
    colors: Annotated[Colors, typer.Option(help="What your bot has.")] = Colors.ALTERNATE,
    openings: Annotated[
        Path | None,
        typer.Option(
            help="A file with at most 20 openings to start from, in any form that `meijin openings "
            "list` reads; the server's own when left out."
        ),
    ] = None,
    empty_board: Annotated[
        bool, typer.Option("--empty-board", help="Start on the empty board instead.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Challenge a bot to unrated games, follow them to their end and print the score.

    With an owner's or operator's token. Both bots have to be connected, and the other one has to
    accept challenges, which `meijin bot set` says.
    """
    if openings is not None and empty_board:
        raise CommandError("--openings and --empty-board exclude each other; give one")
    settings = _settings(games, time, opponent_time, variant, opening_rule)
    settings.colors = pb.ChallengeColors.Value(f"CHALLENGE_COLORS_{colors.name}")
    settings.openings.extend(_openings(openings, settings))
    settings.server_openings = openings is None and not empty_board
    request = pb.CreateChallengeRequest(
        opponent=opponent, challenger=bot, settings=settings, request_id=secrets.token_hex(8)
    )
    create = connection.challenges.CreateChallenge
    made = connection.ask_with_token(create, request).challenge
    found = _follow(connection, made.challenge_id)
    _print_score(connection, made.challenge_id, found, as_json=as_json)


def _settings(
    games: int, time: str, opponent_time: str | None, variant: str, opening_rule: str
) -> pb.ChallengeSettings:
    """What is to be played.

    Raises:
        CommandError: an option can't be what it should be.
    """
    try:
        board = Variant.parse(variant)
        if opening_rule != DEFAULT_OPENING_RULE:
            board = replace(board, opening_rule=opening_rule_named(opening_rule))
        settings = pb.ChallengeSettings(
            games=games,
            variant=variant_to_proto(board),
            time_control=time_control_to_proto(TimeControl.parse(time)),
        )
        if opponent_time is not None:
            other = time_control_to_proto(TimeControl.parse(opponent_time))
            settings.opponent_time_control.CopyFrom(other)
    except ValueError as error:
        raise CommandError(str(error)) from None
    return settings


def _openings(path: Path | None, settings: pb.ChallengeSettings) -> list[bytes]:
    if path is None:
        return []
    found = openings_in(path, variant_from_proto(settings.variant))
    if len(found) > MAX_GAMES:
        raise CommandError(f"{path} has {len(found)} openings; a challenge takes {MAX_GAMES}")
    return [encode_moves(opening) for opening in found]


def _follow(connection: Connection, key: str) -> tournament_pb.GetTournamentResponse:
    """Show the games of a challenge until it ends.

    Raises:
        LeftTournamentError: Ctrl-C; the challenge goes on at the server.
    """
    try:
        return follow(connection, tournament_pb.Tournament(tournament_id=key))
    except LeftTournamentError:
        message = (
            f"challenge {key} goes on at the server; `meijin tournament watch {key}` follows it "
            f"again, `meijin challenge cancel {key}` takes it back"
        )
        raise LeftTournamentError(message) from None


def _print_score(
    connection: Connection, key: str, found: tournament_pb.GetTournamentResponse, *, as_json: bool
) -> None:
    if as_json:
        request = pb.GetChallengeRequest(challenge_id=key)
        print_json(connection.ask(connection.challenges.GetChallenge, request))
        return
    console.print(crosstable(found))
    console.print(f"{STATES[found.tournament.state]}: {games_text(found.tournament)}")


@app.command("list")
@with_server
def list_(
    connection: Connection,
    limit: LimitOption = USUAL_LIMIT,
    mine: Annotated[bool, typer.Option("--mine", help="Only those made with this token.")] = False,
    running: Annotated[
        bool, typer.Option("--running", help="Only those that are not over.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List challenges, newest first."""
    response = read_list(
        connection.ask_with_token if mine else connection.ask,
        connection.challenges.ListChallenges,
        pb.ListChallengesRequest(mine=mine, running=running),
        rows=lambda response: response.challenges,
        limit=limit,
    )
    if as_json:
        print_json(response)
        return
    columns = ("#", "challenger", "opponent", "by", "state", "games", "won", "drawn", "lost")
    made = table("Challenges", columns, text_columns=5)
    for each in response.challenges:
        made.add_row(
            each.challenge_id,
            each.challenger,
            each.opponent,
            each.owner or ("person" if each.by_person else "operator"),
            STATES[each.state],
            f"{each.finished_games}/{each.settings.games}",
            *map(str, (each.wins, each.draws, each.losses)),
        )
    console.print(made)
    if response.next_page_token:
        console.print(OLDER)


@app.command()
@with_server
def cancel(
    connection: Connection,
    key: Annotated[str, typer.Argument(help="The challenge's number.", metavar="ID")],
) -> None:
    """Take a challenge back: its running game becomes void and is not played again."""
    request = pb.CancelChallengeRequest(challenge_id=key)
    made = connection.ask_with_token(connection.challenges.CancelChallenge, request)
    done, all_ = made.challenge.finished_games, made.challenge.settings.games
    console.print(f"challenge {key} is taken back after {done} of {all_} games")
