"""The wire contract: generated from the protos beside this file."""
