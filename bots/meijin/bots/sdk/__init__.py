"""The SDK: a bot's stream, its games, its clock and its searches."""
