"""Servers that are not queue managers. A check that such a server passes proves nothing.

``python negative_controls.py KIND`` listens on free ports of 127.0.0.1, prints these ports, and runs until it is
terminated.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
from collections.abc import Callable
from typing import cast

HOST = "127.0.0.1"
CHUNK = 65_536
KINDS = ("silent", "closing", "echo", "random")

Reply = Callable[[bytes], bytes]
"""A function that returns the bytes to send in answer to received bytes; it returns nothing for empty bytes."""


class Datagrams(asyncio.DatagramProtocol):
    """A socket that answers each datagram with the result of ``reply``."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)  # no subclass of it, though it behaves as one

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = self.reply(data)
        if answer:
            self.transport.sendto(answer, addr)


async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply) -> None:
    """Answer each chunk of a stream until the other side ends the stream."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(CHUNK):
            writer.write(reply(data))
            await writer.drain()
    writer.close()


async def close_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept a connection, and close it at once."""
    writer.close()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    replies: dict[str, Reply] = {
        "echo": lambda data: data,
        "random": lambda data: chance.randbytes(chance.randint(1, 2 * len(data))),
    }
    reply = replies.get(options.kind, lambda data: b"")
    accept = close_at_once if options.kind == "closing" else lambda reader, writer: converse(reader, writer, reply)
    server = await asyncio.start_server(accept, HOST, 0)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Datagrams(reply), local_addr=(HOST, 0)
    )
    tcp_port, ping_port = server.sockets[0].getsockname()[1], transport.get_extra_info("sockname")[1]
    async with server:
        sys.stdout.write(f"ready tcp={HOST}:{tcp_port} ping={HOST}:{ping_port} control=none\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
