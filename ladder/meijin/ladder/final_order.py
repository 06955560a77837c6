"""How sure an order is, in words: of the ladder that a tournament has settled, by its final run."""

import math
from collections import Counter

from sqlalchemy import Connection

from meijin.ladder.pairing import PairingTable
from meijin.ladder.statistics.fit.covariance import Z_95
from meijin.ladder.statistics.pairing.matchmaking import WHOLE_ORDER
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule
from meijin.store.ladders.planning import LadderState, ladder_state
from meijin.store.schema import LadderId
from meijin.store.tournaments import add_to_verdict, entrants, get_tournament, settled_last

UNKNOWN = "how sure the order is can't be told: no games lead from each bot to each"


def least_sure(table: PairingTable, state: LadderState) -> tuple[str, str] | None:
    """The two bots that are told apart least surely, the one ahead first."""
    if table.weakest is None:
        return None
    names = {row.bot_id: row.bot for row in state.table.standings}
    ahead, behind = table.weakest
    return names[ahead], names[behind]


def order_words(table: PairingTable, state: LadderState, rule: StoppingRule) -> str:
    """How sure the newest run is of what a rule asks for, and of which two the least."""
    found, weakest = table.order, least_sure(table, state)
    if found is None or weakest is None:
        return UNKNOWN
    ahead, behind = weakest
    what = f"the first {rule.top} are" if rule.top else "the order is"
    zone = f" but for differences below {rule.zone:g} Elo" if rule.zone else ""
    return (
        f"{what} sure to {math.floor(1000 * found.confidence) / 10:g} %{zone}; least sure: {ahead} "
        f"before {behind} ({found.lead:.0f} Elo ± {Z_95 * found.deviation:.0f})"
    )


def state_final_order(connection: Connection, ladder_id: LadderId) -> None:
    """Add to a tournament's verdict how sure the order is, where the newest run is its final one."""
    tournament_id = settled_last(connection, ladder_id)
    if tournament_id is None:
        return
    options = get_tournament(connection, tournament_id).options or {}
    rule = WHOLE_ORDER
    if options["confidence"]:
        rule = StoppingRule(options["confidence"], options["within"], options["top"])
    state = ladder_state(connection, ladder_id, tournament_id)
    table = PairingTable(
        state,
        entrants(connection, tournament_id),
        picks=0,
        unplayed=Counter(),
        played_out=(),
        rule=rule,
    )
    add_to_verdict(connection, tournament_id, order_words(table, state, rule))
