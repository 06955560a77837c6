"""Who may do what, as it is stored.

- `tokens`, `invitations`: secrets, of which hashes are kept
- `owners`: whom bots belong to
- `audit`: the audit log, what owners and operators have changed
"""
