"""The `meijin` command."""
