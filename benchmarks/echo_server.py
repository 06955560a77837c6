"""A bare grpc.aio server. Prints its address.

Echo     every message comes back as it went
Answer   the first message is the answer to each of the others
"""

import asyncio
from typing import Any

import grpc


async def _echo(_requests: object, context: Any) -> None:  # noqa: ANN401 - raw bytes
    while (message := await context.read()) is not grpc.aio.EOF:
        await context.write(message)


async def _answer(_requests: object, context: Any) -> None:  # noqa: ANN401 - raw bytes
    answer = await context.read()
    while await context.read() is not grpc.aio.EOF:
        await context.write(answer)


async def main() -> None:
    """Serve until killed."""
    handlers: Any = {
        "Echo": grpc.stream_stream_rpc_method_handler(_echo),
        "Answer": grpc.stream_stream_rpc_method_handler(_answer),
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Echo", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"listening on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main())
