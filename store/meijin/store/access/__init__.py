"""Who may do what, as it is stored.

- `tokens`, `invitations`: secrets, of which hashes are kept
- `owners`, `people`: whom bots belong to, and people, who are kept as bots are
- `classes`: classes, their students, and which version of each counts
- `arrivals`: all that is known of the bot behind a hello
- `versions`: which of its versions that is
- `audit`: the audit log, what owners and operators have changed
"""
