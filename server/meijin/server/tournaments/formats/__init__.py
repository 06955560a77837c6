"""The formats of tournaments: who meets whom, and when it is decided.

`base` says what a format is and `report` what it tells; a `crosstable` is what each two have scored.
`schedule` has those whose games are all planned beforehand: the round robin and the gauntlet.
Formats share `pairs` (all games come in pairs), `dutch` and its `matching`, and `bracket`; a
test has `sprt_settings` and a `match_tally`. Every other module is one format.
"""

from meijin.server.tournaments.formats.base import Format
from meijin.server.tournaments.formats.challenge import CHALLENGE, ChallengeFormat
from meijin.server.tournaments.formats.knockout import KnockoutFormat
from meijin.server.tournaments.formats.ladder import LadderFormat
from meijin.server.tournaments.formats.schedule import Gauntlet, RoundRobin
from meijin.server.tournaments.formats.sprt import SprtFormat
from meijin.server.tournaments.formats.swiss import SwissFormat
from meijin.store.schema import FormatName

FORMATS: dict[FormatName, type[Format]] = {
    FormatName("round-robin"): RoundRobin,
    FormatName("gauntlet"): Gauntlet,
    FormatName("ladder"): LadderFormat,
    FormatName("sprt"): SprtFormat,
    FormatName("swiss"): SwissFormat,
    FormatName("knockout"): KnockoutFormat,
    CHALLENGE: ChallengeFormat,
}
"""By the names that the contract's enum gives them."""
