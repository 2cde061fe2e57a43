"""A core whose effects a test determines, and a host for it at a free port of loopback."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TypeVar

from patience import PATIENCE_S

from reference_qm.directory import MemoryDirectory
from reference_qm.shell.host import Host, HostLimits
from reference_qm.surface.clock import Now
from reference_qm.surface.driver import CoreFactory
from reference_qm.surface.effects import Effect
from reference_qm.surface.inputs import Endpoint, Input
from reference_qm.surface.queue_manager_environment import QueueManagerEnvironment
from reference_qm.surface.store import MemoryStore, Record, Store, StoreError

MIB = 1024 * 1024
RESPONSE_TIMEOUT_S = PATIENCE_S
Event = TypeVar("Event")


class ScriptedCore:
    """A core that answers each input with the result of ``script``; ``await core.wait_for(Kind)`` returns the next
    input of a kind.
    """

    def __init__(self, script: Callable[[Input], list[Effect]] = lambda event: []) -> None:
        self.script = script
        self.inputs: list[Input] = []
        self.due: int | None = None
        self.expired: list[Now] = []
        self.begun: list[Mapping[str, object]] = []
        self._news: asyncio.Queue[Input] = asyncio.Queue()
        self.timer_ran = asyncio.Event()

    def handle(self, event: Input, now: Now) -> list[Effect]:
        self.inputs.append(event)
        self._news.put_nowait(event)
        return self.script(event)

    def next_due(self) -> int | None:
        return self.due

    def handle_timer(self, now: Now) -> list[Effect]:
        self.expired.append(now)
        self.due = None
        self.timer_ran.set()
        return []

    def begin(self, entries: Mapping[str, object]) -> ScriptedCore:
        """Record the content of the store, and return this core as the core after each restart."""
        self.begun.append(entries)
        return self

    async def wait_for(self, kind: type[Event]) -> Event:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            while not isinstance(event := await self._news.get(), kind):
                pass
        return event


def lives(*cores: ScriptedCore) -> CoreFactory:
    """Return a function that returns the first core at the start, and the next core after each restart."""
    following = iter(cores)
    return lambda entries: next(following).begin(entries)


@contextlib.asynccontextmanager
async def running(
    new_core: ScriptedCore | CoreFactory,
    limits: HostLimits | None = None,
    store: Store | None = None,
    address: str = "127.0.0.1",
    directory: MemoryDirectory | None = None,
) -> AsyncIterator[tuple[Host, Endpoint]]:
    """Yield a started host that listens on TCP, and stop it at the end."""
    begin = new_core.begin if isinstance(new_core, ScriptedCore) else new_core
    host = Host(begin, address, store or MemoryStore(), limits or HostLimits(), QueueManagerEnvironment(directory))
    endpoint = await host.bind_tcp(0)
    await host.start()
    try:
        yield host, endpoint
    finally:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            await host.stop()


@contextlib.asynccontextmanager
async def client(endpoint: Endpoint) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield a new TCP connection to the host."""
    reader, writer = await asyncio.open_connection(*endpoint)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def on(kind: type[Input], *effects: Effect):
    """Return a script that answers each input of the given kind with the given effects."""
    return lambda event: list(effects) if isinstance(event, kind) else []


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    """Read all bytes until the end of a stream, or until a reset."""
    with contextlib.suppress(ConnectionResetError):
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            return await reader.read()
    return b""


class Disk:
    """A store whose writes end only when the test lets them end."""

    def __init__(self, error: str | None = None) -> None:
        self.error = error
        self.writes: list[list[Record]] = []
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.closed = False
        self.short = ""

    def describe_shortage(self) -> str:
        return self.short

    async def write(self, records: Sequence[Record]) -> None:
        self.writes.append(list(records))
        self.begun.set()
        await self.may_end.wait()
        if self.error is not None:
            raise StoreError(self.error)

    def read(self) -> dict[str, object]:
        return {}

    def close(self) -> None:
        self.closed = True
