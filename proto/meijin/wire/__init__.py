"""Converters between the contract's values and the game's words, for every side of the wire.

- `contract`: facts that server, bots and command line must agree on
- `channel`: how bots and command line connect to a server, by TLS or in plain text
- `values`: colours, rules, variants, time controls, outcomes, analyses
- `capabilities`: what a bot can play
- `formats`: formats of tournaments and their settings
- `records`: games as records
- `match_report`: what a match of two came to, in lines
- `strength`: bands of strength, as people write them
- `text`: control characters and formulas in the texts of others, and what people call a bot
- `standings`: what follows from a ladder's lines, and the table as CSV
- `run_notes`: what a rating run found beside the ratings, in words
- `mapping`: records as messages, and back, by their fields' names
- `json`: messages as JSON
- `enums`: enums of our own and their mirrors
- `methods`: the methods of the contract, by their descriptors
"""
