"""The processes around the server.

- `host_token`: that of the host which the server starts beside it
- `supervisor`: keeps the embedded Valkey and the ladders' worker alive
- `valkey`: the embedded Valkey server
- `die_with_parent`: starts a command that ends when its parent does
- `backups`: copies of the database, every so often
- `systemd`: tells the service manager how it stands
- `open_files`: how many the process may have, and connections among them
- `data_folder`: readable by its owner alone, with a database that is whole
- `bind_failure`: why a port can't be listened on
- `garbage`: keeps full collections short, however much there is
- `last_resort`: ends a process whose stop hangs
- `operator_token`: the token that commands on the same machine read
"""
