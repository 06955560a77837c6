"""What is played: boards' sizes, what wins, what is forbidden, and who places the first stones.

- `rule`: what a rule says of five and more in a row; freestyle, standard and caro look at one line
- `renju`: renju, which forbids black its fouls
- `opening_rule`: who places the first stones, and who gets which colour
- `variant`: all of it: rule, by its name, board, line, opening rule
"""
