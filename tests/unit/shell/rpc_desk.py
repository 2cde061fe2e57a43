"""A core that consists only of a dispatcher of DCE/RPC, with the listener that accepts its connections."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from reference_qm.core.events import RpcEventOccurred
from reference_qm.core.remote.associations import ServerAssociations
from reference_qm.model.timers import Timers
from reference_qm.model.unfinished import UnfinishedPacketByteCounts
from reference_qm.rpc import RpcEvent, RpcOutput, RpcServer
from reference_qm.shell import system
from reference_qm.shell.rpc_server import RpcListener
from reference_qm.surface.effects import CloseRpcConnection, SendRpcBytes
from reference_qm.surface.inputs import Endpoint, Input, RpcAccepted, RpcBytesReceived, RpcConnectionLost

Dispatcher = Callable[[RpcEvent], Iterable[RpcOutput]]
"""A handler of RPC events: it takes an event and returns outputs. Later outputs are passed to ``RpcDesk.perform``."""


class RpcDesk:
    """Associations with their listener; a test may exchange the ``dispatcher``."""

    def __init__(self, server: RpcServer, dispatcher: Dispatcher, **limits: int) -> None:
        self.server = server
        self.dispatcher = dispatcher
        self.timers = Timers()
        self._happened: deque[RpcEventOccurred] = deque()
        self.associations = ServerAssociations(
            server, self.timers, UnfinishedPacketByteCounts(), self._emit, self._happened.append
        )
        self.listener = RpcListener(self.deliver, **limits)
        self._timer: asyncio.TimerHandle | None = None

    async def start(self) -> Endpoint:
        endpoint = await self.listener.bind("127.0.0.1", 0)
        await self.listener.start()
        return endpoint

    async def stop(self) -> None:
        self.associations.stop()
        self.carry_out()
        await self.listener.stop()
        if self._timer is not None:
            self._timer.cancel()

    def deliver(self, event: Input) -> None:
        now = system.read_clocks()
        if isinstance(event, RpcAccepted):
            self.associations.accept(event, now)
        elif isinstance(event, RpcBytesReceived):
            self.associations.receive(event, now)
        else:
            assert isinstance(event, RpcConnectionLost)
            self.associations.remove_connection(event)
        self.carry_out()

    def perform(self, outputs: Iterable[RpcOutput]) -> None:
        self.associations.carry_out_outputs(outputs)
        self.carry_out()

    def carry_out(self) -> None:
        while self._happened:
            self.associations.carry_out_outputs(self.dispatcher(self._happened.popleft().event))
        self._set_timer()

    def _emit(self, effect: SendRpcBytes | CloseRpcConnection) -> None:
        if isinstance(effect, SendRpcBytes):
            self.listener.send(effect.connection, effect.data)
        else:
            self.listener.close(effect.connection)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due = self.timers.next_due()
        if due is not None:
            wait_s = max(due - system.read_clocks().monotonic_ms, 0) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._expire)

    def _expire(self) -> None:
        now = system.read_clocks()
        while (key := self.timers.pop_due_timer(now.monotonic_ms)) is not None:
            self.associations.on_timer(key.owner, now)
        self.carry_out()
