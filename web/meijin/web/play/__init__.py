"""People's games: a person plays by the stream that bots play by.

- `person_game`: one game as the stream has told of it, and what the person may do in it
- `stream`: a person's stream, kept open while a browser is there
- `people`: all of them, found by the persons' tokens
- `state`: a game as the page's script is told of it
- `game_events`: what a game's page is told of as it happens
"""
