"""`meijin ladder`: standings, comparisons, history, anchors and proof.

- `commands`: the commands
- `standings`: a ladder's table, asked for and shown, with what one has to know to read it
- `history`: ratings over the days, in the terminal and as a picture
- `diagnosis`: what ratings do not explain, and how true they were
- `compare`: two versions against each other
- `run`: ladders that go on, or are settled
- `exports`: published runs for other tools and for papers
- `verification`: what is published against the games, and against heads
"""
