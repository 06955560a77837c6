"""The gRPC services: an interceptor, a servicer for each service, and their converters."""
