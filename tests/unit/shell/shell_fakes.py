"""A core that does what a test says, and a host around it on a free port of loopback."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from reference_qm.shell.host import Host, Limits
from reference_qm.shell.store import MemoryStore, Store
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect
from reference_qm.surface.inputs import Endpoint, Input

RESPONSE_TIMEOUT_S = 20
Event = TypeVar("Event")


class ScriptedCore:
    """Answers each input with what ``script`` returns; ``await core.hears(Kind)`` returns the inputs that it took."""

    def __init__(self, script: Callable[[Input], list[Effect]] = lambda event: []) -> None:
        self.script = script
        self.heard: list[Input] = []
        self.due: int | None = None
        self.expired: list[Now] = []
        self.restarts = 0
        self._news: asyncio.Queue[Input] = asyncio.Queue()
        self.timer_ran = asyncio.Event()

    def handle(self, event: Input, now: Now) -> list[Effect]:
        self.heard.append(event)
        self._news.put_nowait(event)
        return self.script(event)

    def next_due(self) -> int | None:
        return self.due

    def handle_timer(self, now: Now) -> list[Effect]:
        self.expired.append(now)
        self.due = None
        self.timer_ran.set()
        return []

    def restart(self) -> None:
        self.restarts += 1

    async def hears(self, kind: type[Event]) -> Event:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            while not isinstance(event := await self._news.get(), kind):
                pass
        return event


@contextlib.asynccontextmanager
async def running(
    core: ScriptedCore, limits: Limits | None = None, store: Store | None = None, address: str = "127.0.0.1"
) -> AsyncIterator[tuple[Host, Endpoint]]:
    """A started host that listens on TCP; it is stopped at the end."""
    host = Host(core, address, store or MemoryStore(), limits or Limits())
    endpoint = await host.bind_tcp(0)
    await host.start()
    try:
        yield host, endpoint
    finally:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            await host.stop()


@contextlib.asynccontextmanager
async def client(endpoint: Endpoint) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A TCP client of its own."""
    reader, writer = await asyncio.open_connection(*endpoint)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
