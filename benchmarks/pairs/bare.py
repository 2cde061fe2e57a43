"""Measures the limit of the machine: the pair sends the bytes of the other pairs through asyncio streams and
acknowledges them in the same windows. The receiver reads message by message, and ignores the content. ``kind``:
"window" writes a whole window at once, "message" writes each message separately.
"""

from __future__ import annotations

import asyncio

from benchmarks.pairs import Options, Report, get_instant, wait_until_input_closes
from benchmarks.pairs.queue_managers import compute_wire_size

ACKNOWLEDGMENT = bytes(36)
"""Bytes with the length of a SessionAck Packet. Spec: MS-MQQB 2.2.6."""


async def receive(options: Options, report: Report) -> None:
    """Receive every message, and acknowledge each window."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    size = compute_wire_size()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in range(1, options.messages + 1):
            await reader.readexactly(size)
            if number % options.window == 0 or number == options.messages:
                writer.write(ACKNOWLEDGMENT)
        done.set_result(None)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    report({"port": server.sockets[0].getsockname()[1]})
    await done
    report({"instant": get_instant(), "memory": []})
    await wait_until_input_closes()


async def send(options: Options, port: int, report: Report) -> None:
    """Send every message, one window at a time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    message = bytes(compute_wire_size())
    report({"instant": get_instant()})
    for sent in range(0, options.messages, options.window):
        messages = [message] * min(options.window, options.messages - sent)
        for data in [b"".join(messages)] if options.kind == "window" else messages:
            writer.write(data)
        await reader.readexactly(len(ACKNOWLEDGMENT))
    report({"instant": get_instant(), "memory": []})
    await wait_until_input_closes()
