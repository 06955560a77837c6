"""`meijin bot doctor`: a pre-flight of a bot, by real games on a server of its own.

- `command`: the command
- `wrapped`: an engine among the words of `meijin bot wrap`
- `report`: how the checks came out, as lines, JSON and JUnit
"""
