"""Anchors of ladders: set by operators, unless all other ratings would be unsure relative to them."""

from collections.abc import Collection

from sqlalchemy import Connection

from meijin.ladder.pool import ESTABLISHED
from meijin.server.access.caller import Caller
from meijin.server.errors import UnsureAnchorError, invalid_request
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import rated_versions
from meijin.store.ladders.versions import version_ratings
from meijin.store.schema import BotVersionId, LadderId, RatingLine
from meijin.v1 import ladder_service_pb2 as pb


def set_anchors(connection: Connection, caller: Caller, request: pb.SetAnchorsRequest) -> LadderId:
    """Make a ladder's ratings relative to some bots.

    Raises:
        RowNotFoundError: there is no such ladder or bot.
        InvalidRequestError: they are too many, or one has never been connected.
        UnsureAnchorError: one is no measure of the others, and nobody forces it.
    """
    ladder_id = ladders.get_ladder(connection, request.ladder)
    name = ladders.ladder_row(connection, ladder_id).name
    with invalid_request("bots"):
        versions = ladders.anchor_versions(connection, request.bots)
    if not request.force:
        _check(connection, name, versions)
    before = {"versions": list(ladders.anchors(connection, ladder_id))}
    ladders.set_anchors(connection, ladder_id, versions)
    after = {"versions": list(ladders.anchors(connection, ladder_id)), "bots": list(request.bots)}
    caller.note(connection, "set anchors", f"ladder {name}", before=before, after=after)
    return ladder_id


def _check(connection: Connection, ladder: str, versions: Collection[BotVersionId]) -> None:
    """Refuse a doubtful one; not who is an anchor already, or has no rated games yet."""
    names = rated_versions(connection, versions)
    for line in version_ratings(connection, ladder, versions).values():
        if not line.is_anchor and (doubt := _doubt(line, names[line.version_id].bot)):
            raise UnsureAnchorError(f"{doubt}; choose another, or force it (--force)")


def _doubt(line: RatingLine, bot: str) -> str:
    """Why a version is no measure of others; empty where it is, or its games are few as yet."""
    score = line.as_black + line.as_white
    if score.games < ESTABLISHED:
        return ""
    if score.games in {score.wins, score.losses}:
        done = "won" if score.wins else "lost"
        return (
            f'"{bot}" has {done} every rated game ({score.games}): relative to it all others would '
            f"be as unsure as it is, ± {line.margin:.0f} or more"
        )
    if not line.is_linked:
        return f'no games lead from "{bot}" to most others: nobody knows how they compare with it'
    return ""
