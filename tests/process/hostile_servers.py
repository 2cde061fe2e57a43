"""Systems that attack the tester: whatever they send, the run must end with verdicts about them, in bounded time and
memory.

``python hostile_servers.py KIND PORT`` listens on free ports of 127.0.0.1, prints these ports, and runs until it is
terminated. The peer listens at PORT of the address from which it connects.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from uuid import UUID

from harness.wire import connection_parameters, dissect, establish_connection, kind, user_message
from reference_qm.codec import StreamFramer

HOST = "127.0.0.1"
CALLER: ContextVar[str] = ContextVar("CALLER")
"""The address of the peer that made the current connection."""
OWN = UUID("6d71636f-6e66-4f72-8d00-0000000000cc")
LONGEST = 4 * 1024 * 1024 - 1024
SHORT_TRAILER = bytes.fromhex("05000b0310000000140020000100000000000000")
"""A bind PDU of 20 bytes whose auth_length claims a trailer of 32 bytes."""

Answers = Callable[[bytes], AsyncIterator[bytes]]
"""A function that yields the bytes to send in answer to received bytes."""


def session(after: Callable[[], AsyncIterator[bytes]]) -> Answers:
    """Return a function that opens a session correctly and then sends the bytes that ``after`` yields."""

    async def answers(data: bytes) -> AsyncIterator[bytes]:
        for packet in StreamFramer().feed(data):
            if kind(packet) == "EstablishConnection":
                asked = dissect(packet)["EstablishConnectionHeader"]
                answer = establish_connection(ClientGuid=asked.ClientGuid, ServerGuid=OWN, TimeStamp=asked.TimeStamp)
                yield bytes(answer)
            elif kind(packet) == "ConnectionParameters":
                yield bytes(connection_parameters())
                async for more in after():
                    yield more

    return answers


def messages(size: int) -> Answers:
    """Return a function that endlessly sends messages with a body of the given size."""
    message = bytes(user_message(body=bytes(size)))
    at_once = message * max(1, 65_536 // len(message))

    async def flood() -> AsyncIterator[bytes]:
        while True:
            yield at_once

    return session(flood)


async def junk(data: bytes) -> AsyncIterator[bytes]:
    """Send bytes that are not a packet, endlessly."""
    while True:
        yield b"\xff" * 4096


async def trickle(data: bytes) -> AsyncIterator[bytes]:
    """Announce a message of the maximum length, then send single bytes of it with long pauses."""
    for byte in bytes(user_message(body=bytes(LONGEST))):
        yield bytes([byte])
        await asyncio.sleep(0.2)


async def short_trailer(data: bytes) -> AsyncIterator[bytes]:
    """Answer with a PDU that lacks the authentication trailer which its header announces."""
    yield SHORT_TRAILER


async def nested(data: bytes) -> AsyncIterator[bytes]:
    """Answer the verb ``identity`` of the control channel correctly, and every other verb with deeply nested lists."""
    for line in data.splitlines():
        asked = json.loads(line)
        if asked["verb"] == "identity":
            answer = {"id": asked["id"], "ok": True, "guid": str(OWN), "facilities": ["receive", "queue_control"]}
            yield json.dumps(answer).encode() + b"\n"
        else:
            yield b"[" * 500_000 + b"\n"


async def connections() -> AsyncIterator[bytes]:
    """Connect to the peer again and again while the peer listens, and keep all connections open."""
    kept = []
    while True:
        try:
            kept.append(await asyncio.open_connection(CALLER.get(), int(sys.argv[2])))
        except OSError:
            await asyncio.sleep(0.02)
        yield b""


async def nothing(data: bytes) -> AsyncIterator[bytes]:
    """Accept connections and bytes, and never answer."""
    return
    yield b""


KINDS: dict[str, tuple[Answers, Answers, Answers]] = {
    "messages": (messages(LONGEST), nothing, nothing),
    "short-messages": (messages(0), nothing, nothing),
    "connections": (session(connections), nothing, nothing),
    "junk": (junk, junk, nothing),
    "trickle": (trickle, trickle, nothing),
    "short-trailer": (nothing, short_trailer, nothing),
    "silent-rpc": (nothing, nothing, nothing),
    "nested": (nothing, nothing, nested),
}
"""The answers of each kind of server at its ports for sessions, for RPC and for the control channel."""


async def listen(answers: Answers) -> int:
    """Listen on a free port, and return the port number."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        CALLER.set(writer.get_extra_info("peername")[0])
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                async for answer in answers(data):
                    writer.write(answer)
                    await writer.drain()
        writer.close()

    server = await asyncio.start_server(converse, HOST, 0)
    await server.start_serving()
    return int(server.sockets[0].getsockname()[1])


async def main() -> None:
    """Serve until terminated."""
    ports = [await listen(answers) for answers in KINDS[sys.argv[1]]]
    sys.stdout.write("ready {}\n".format(" ".join(str(port) for port in ports)))
    sys.stdout.flush()
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
