"""People's games: a person plays by the stream that bots play by.

- `seated_game`: one game as the stream has told of it, and what the person may do in it
- `seat`: a person's stream, kept open while a browser is there
- `seats`: all of them, found by the persons' tokens
- `terms`: what a person asks to play, read from a form
- `state`: a game as the page's script is told of it
- `game_events`: what a game's page is told of as it happens
"""
