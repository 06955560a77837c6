"""Why a port can't be bound."""

import socket

import pytest

from meijin.server.process.bind_failure import bind_failure, check_port


def test_a_port_in_use() -> None:
    """Most often it is another server's."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        assert bind_failure(f"127.0.0.1:{port}") == "is another server running there?"
        with pytest.raises(OSError, match=r"can't listen on .*: is another server running there"):
            check_port(f"127.0.0.1:{port}")
    check_port(f"127.0.0.1:{port}")
    check_port("unix:/run/arena")


@pytest.mark.parametrize("host", ["192.0.2.1", "[2001:db8::1]"])
def test_an_address_of_another_machine(host: str) -> None:
    """The system's words are told."""
    reason = bind_failure(f"{host}:0")
    assert "assign" in reason or "not supported" in reason
