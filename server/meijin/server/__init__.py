"""The match server: sessions, arbiter, tournaments and servicers.

- `match`, `tournaments`, `access`, `views`, `api`, `process`: its subjects, a package each
- `hosting`: programs on their way in, and examined by others
- `webhooks`: what is told to addresses by HTTP
- `metrics`: what Prometheus is told
- `app`: start-up, main loop and shutdown
- `services`: the services by their names, and what answers their methods
- `parts`: everything in a server but its services, put together
- `storage`: the store for coroutines
- `certificates`, `credentials`: certificates for TLS, made and read, and what gRPC needs of them
- `settings`: what a server is told when it starts
- `errors`: what it refuses, with status codes and reasons
- `job_sender`: what is sent to workers in other processes
- `token_bucket`: how much of something may be done as time goes by
- `logs`: where its log goes
- `tracing`: spans for OpenTelemetry
"""
