"""`meijin bot`: run, write, register, list, examine and manage bots.

- `commands`: the commands
- `tables`: bots, and one bot, on the screen
- `options`: what bots and engines are run with
- `seeking`: challenges that a bot makes by itself
- `engines`: engines as bots, and bots as engines
- `analyse`: positions of files, searched by a bot
- `bench`: how fast the reference search is here
- `program`: programs that the arena runs, a package
- `doctor`: a pre-flight, a package
"""
