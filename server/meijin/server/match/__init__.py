"""The games of one process: who is connected, what is played, what is committed, who is told."""
