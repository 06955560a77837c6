"""Answers: what is stored and played, as messages of the contract.

- `games`: games, stored and as they are played
- `stored_games`: games looked up and listed
- `messages`: other records that several services answer with
- `pages`: pages of lists, and ids as text
- `openings`: what was played in a position, over all games
- `calibrations`: how true expected scores of ladders have been
- `diagnoses`: what speaks against a ladder's run
- `arena_watch`: the watch of all running games
- `ended_games`: a tournament's games that ended before somebody watched it
- `webhook_payloads`: what webhooks are told of an event
"""
