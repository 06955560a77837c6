"""The processes around the server: the supervisor of the embedded Valkey and its worker."""
