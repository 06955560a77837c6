"""Views: what is shown, as values that services, pages and exports read alike.

- `bots`, `ladders`, `tournaments`: each reads rows, adds what is computed of them,
  and knows no messages
- `differences`: where two versions of a bot play otherwise
- `tallies`, `reports`: what a tournament's games have come to, counted on; `kept`: between looks
- `chances`: what the scores of bots are worth, by how their games ended
- `llr_paths`: how the ratios of tests moved
"""
