"""Views: what is shown, as values that services, pages and exports read alike.

- `bots`, `games`, `ladders`, `tournaments`: each reads rows, merges them with what is being played,
  and knows no messages
- `bot_details`: one bot with its versions and its results
- `diagnoses`: what speaks against a ladder's run
- `tallies`, `reports`: what a tournament's games have come to, counted on and kept
- `llr_paths`: how the ratios of tests moved
- `openings`: what was played in a position, over all games
- `arena`: all running games, as of now
- `match_reports`: what those of two bots say of the first
- `openings`: what was played in a position, and how it ended
- `status`: how a server is doing
"""
