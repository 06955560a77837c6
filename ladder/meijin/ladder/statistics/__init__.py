"""The mathematics of the ladder: it knows arrays of numbers, and nothing of how games are kept."""
