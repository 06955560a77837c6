"""One module a step. A step imports none of our code, so that no later change alters it."""
