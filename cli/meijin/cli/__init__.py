"""The `meijin` command."""

import os

# Read when grpc is first imported; else its C core tells of every stream that a server ends.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
