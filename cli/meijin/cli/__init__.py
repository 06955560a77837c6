"""The `meijin` command.

- `main`: its parts put together, and its errors in one line
- `lazy_group`, `importing`: a command is imported when it is called, without garbage collection
- `bot`, `classes`, `demo`, `game`, `ladder`, `match`, `server`, `tournament`, `access`: a package
  for each noun
- `learn`, `webhooks`, `hosts`: a group of commands
- `command`: options from a command's parameters, and its result printed
- `profile`: which server the commands talk to, as it is asked for and as it is kept
- `options`: options that several nouns have
- `completion`: names that a shell completes
- `output`, `tables`: what is printed, and columns by the fields of a message
- `files`: files written whole or not at all, and secrets for their owner alone
- `errors`: what ends a command with one line
"""

import os

# Read when grpc is first imported; else its C core tells of every stream that a server ends.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
