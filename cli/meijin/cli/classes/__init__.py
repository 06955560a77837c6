"""`meijin class`: a class of students with a bot each.

- `commands`: classes made from rosters, shown and listed; deadlines, links for people
- `roster`: names of students, and files with their tokens
- `handles`: names of bots, in ASCII, from names of people in any script
- `anchors`: the bots that a class is graded against, as processes
- `grading`: what tests against them are worth
- `forecast`: how long they take
- `grades`: those tests, for each bot
- `report`: a page of HTML for each student
- `copies`, `choices`: bots that play alike far more than their strength explains
- `ladder`: where the bots stand, under aliases for a projector
"""
