"""Converters between the contract's values and the game's words, for every side of the wire.

- `contract`: facts that server, bots and command line must agree on
- `channel`: how bots and command line connect to a server, by TLS or in plain text
- `values`: colours, rules, variants, time controls, adjudication, outcomes
- `capabilities`: what a bot can play
- `formats`: formats of tournaments and their settings
- `records`: games as records
- `strength`: bands of strength, as people write them
- `display_name`: what people call a bot, in any script
- `text`: control characters and formulas in the texts of others
- `standings`: what follows from a ladder's lines, and the table as CSV
- `mapping`: records as messages, and back, by their fields' names
- `enums`: enums of our own and their mirrors
"""

from meijin.wire.capabilities import (
    Capabilities,
    capabilities_from_proto,
    capabilities_to_proto,
    move_time,
)
from meijin.wire.formats import (
    USUAL_FORMAT,
    Options,
    detail_field,
    format_field,
    format_from_proto,
    format_names,
    format_to_proto,
    options_from_proto,
    parse_option,
    set_field,
    set_options,
)
from meijin.wire.records import analysis_from_proto, analysis_to_proto, record_from_proto
from meijin.wire.values import (
    adjudication_from_proto,
    adjudication_to_proto,
    color_from_proto,
    color_to_proto,
    ending_from_proto,
    ending_to_proto,
    opening_rule_from_proto,
    opening_rule_to_proto,
    outcome_from_proto,
    outcome_to_proto,
    rule_from_proto,
    rule_to_proto,
    time_control_from_proto,
    time_control_to_proto,
    time_to_proto,
    variant_from_proto,
    variant_to_proto,
)

__all__ = [
    "USUAL_FORMAT",
    "Capabilities",
    "Options",
    "adjudication_from_proto",
    "adjudication_to_proto",
    "analysis_from_proto",
    "analysis_to_proto",
    "capabilities_from_proto",
    "capabilities_to_proto",
    "color_from_proto",
    "color_to_proto",
    "detail_field",
    "ending_from_proto",
    "ending_to_proto",
    "format_field",
    "format_from_proto",
    "format_names",
    "format_to_proto",
    "move_time",
    "opening_rule_from_proto",
    "opening_rule_to_proto",
    "options_from_proto",
    "outcome_from_proto",
    "outcome_to_proto",
    "parse_option",
    "record_from_proto",
    "rule_from_proto",
    "rule_to_proto",
    "set_field",
    "set_options",
    "time_control_from_proto",
    "time_control_to_proto",
    "time_to_proto",
    "variant_from_proto",
    "variant_to_proto",
]
