"""What the commands for classes are made of.

- `roster`: the file with the students' names
- `handles`: names of bots, in ASCII, from names of people in any script
- `handout`: the file with each student's token, and the table for a mail merge
- `anchors`: the bots that a class is graded against, as processes
- `grading`: what the tests against them are worth
- `student_report`, `report_page`: how a student's bot did, and a page of HTML that tells it
- `choices`: what each bot has played in which position
- `aliases`: what bots are called where nobody is to know whose they are
"""
