"""What is played: boards' sizes, what wins, what is forbidden, and who places the first stones.

- `rule`: what a rule says of five and more in a row
- `line_rule`: freestyle, standard and caro, which look at one line
- `renju`: renju, which forbids black its fouls
- `named`: the rules by their names
- `opening_rule`: who places the first stones, and who gets which colour
- `variant`: all of it: rule, board, line, opening rule
"""
