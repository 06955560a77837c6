"""Power cuts and kills of a real server under hundreds of games, with the bots' journals as the oracle.

- `server`: the process whose disk forgets what was not synced
- `trial`: one life of the server after another, and what each has left
- `__main__`: as many as the command line says, and a table
"""
