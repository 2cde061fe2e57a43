"""Servers that are no queue managers: a check that one of them passes proves nothing.

``python negative_controls.py KIND``: listens on free ports of 127.0.0.1, prints where, runs until it is terminated.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
from collections.abc import AsyncIterator, Callable
from typing import cast

HOST = "127.0.0.1"
CHUNK = 65_536
LATE_S = 1.0

Reply = Callable[[bytes], bytes]
"""What is sent for the bytes that came; nothing for empty bytes."""


class Datagrams(asyncio.DatagramProtocol):
    """Answers each datagram with what ``reply`` makes of it."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)  # no subclass of it, though it behaves as one

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = self.reply(data)
        if answer:
            self.transport.sendto(answer, addr)


class Late(asyncio.DatagramProtocol):
    """Passes datagrams on to a real queue manager and its answers back, late."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        self.upstream = upstream
        self.ways: dict[tuple[str, int], asyncio.DatagramTransport] = {}
        self.opening: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)  # no subclass of it, though it behaves as one

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        task = asyncio.get_running_loop().create_task(self.pass_on(data, addr))
        self.opening.add(task)
        task.add_done_callback(self.opening.discard)

    async def pass_on(self, data: bytes, asker: tuple[str, int]) -> None:
        loop = asyncio.get_running_loop()

        def back(answer: bytes) -> bytes:
            loop.call_later(LATE_S, self.transport.sendto, answer, asker)
            return b""

        if asker not in self.ways:
            made, _ = await loop.create_datagram_endpoint(lambda: Datagrams(back), remote_addr=self.upstream)
            self.ways[asker] = made
        self.ways[asker].sendto(data)


async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply) -> None:
    """Answer a stream chunk by chunk until the other side ends it."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(CHUNK):
            writer.write(reply(data))
            await writer.drain()
    writer.close()


async def close_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept, and that is all."""
    writer.close()


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: tuple[str, int]) -> None:
    """Stand between a peer and a real queue manager; everything of the latter is late, the end of the stream too."""
    from_sut, to_sut = await asyncio.open_connection(*upstream)
    late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    async def there() -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                to_sut.write(data)
        to_sut.close()

    async def hear() -> None:
        data = b"?"
        while data:
            try:
                data = await from_sut.read(CHUNK)
            except ConnectionError:
                data = b""
            late.put_nowait((loop.time() + LATE_S, data))

    async def back() -> None:
        data = b"?"
        while data:
            due, data = await late.get()
            await asyncio.sleep(due - loop.time())
            writer.write(data)
        writer.close()

    await asyncio.gather(there(), hear(), back())


@contextlib.asynccontextmanager
async def served(
    accept: Callable[[asyncio.StreamReader, asyncio.StreamWriter], object], pings: asyncio.DatagramProtocol
) -> AsyncIterator[str]:
    """Listen; give the line that says where."""
    server = await asyncio.start_server(accept, HOST, 0)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: pings, local_addr=(HOST, 0))
    tcp_port, ping_port = server.sockets[0].getsockname()[1], transport.get_extra_info("sockname")[1]
    async with server:
        yield f"ready tcp={HOST}:{tcp_port} ping={HOST}:{ping_port} control=none"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("silent", "closing", "echo", "random", "late"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--upstream-tcp", type=int, help="late: the real queue manager's port")
    parser.add_argument("--upstream-ping", type=int, help="late: the real queue manager's ping port")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    replies: dict[str, Reply] = {
        "silent": lambda data: b"",
        "closing": lambda data: b"",
        "echo": lambda data: data,
        "random": lambda data: chance.randbytes(chance.randint(1, 2 * len(data))),
        "late": lambda data: b"",
    }
    reply = replies[options.kind]
    accept = {
        "closing": close_at_once,
        "late": lambda reader, writer: relay(reader, writer, (HOST, options.upstream_tcp)),
    }.get(options.kind, lambda reader, writer: converse(reader, writer, reply))
    pings = Late((HOST, options.upstream_ping)) if options.kind == "late" else Datagrams(reply)
    async with served(accept, pings) as ready:
        sys.stdout.write(ready + "\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
