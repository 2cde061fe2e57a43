"""A server with a toy dispatcher in a separate thread, for blocking clients such as impacket."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from impacket.dcerpc.v5.transport import TCPTransport
from patience import PATIENCE_S

from reference_qm.rpc import (
    EPT,
    QM2QM,
    QMCOMM,
    Call,
    CallCancelled,
    CallOrphaned,
    CallReceived,
    HandleRundown,
    RpcEvent,
    RpcOutput,
    RpcServer,
)
from reference_qm.rpc.header import PfcFlags
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import Endpoint

sys.path.append(str(Path(__file__).parents[1] / "shell"))
from rpc_desk import Dispatcher, RpcDesk

CANCELLED = 0x400E03E9
INVALID_HANDLE = 0xC00E0007
SHARING_VIOLATION = 0xC0000043
RESPONSE_TIMEOUT_S = PATIENCE_S


class ToyQueue:
    """A dispatcher with one queue. The body of message n has n octets; a receive with a timeout waits until it is
    cancelled.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Call] = {}
        self.run_down: list[object] = []
        self.orphaned = 0
        self.quiet = threading.Event()
        self.arrived = threading.Event()

    def __call__(self, event: RpcEvent) -> Iterable[RpcOutput]:
        if isinstance(event, CallReceived):
            answer = getattr(self, event.call.method.name)(event.call)
            return answer if isinstance(answer, list) else []
        if isinstance(event, CallOrphaned):
            self.orphaned += 1
        elif isinstance(event, HandleRundown):
            self.run_down.append(event.handle.state)
            self.quiet.set()
        else:
            assert isinstance(event, CallCancelled)
        return []

    def RemoteQMOpenQueue(self, call: Call) -> list[RpcOutput]:
        return call.respond(Return=0, phContext=call.make_context_handle(("queue", call.arguments["pLicGuid"])))

    def RemoteQMCloseQueue(self, call: Call) -> list[RpcOutput]:
        return call.respond(Return=0 if call.handle else INVALID_HANDLE, pphContext=None)

    def RemoteQMStartReceive(self, call: Call) -> list[RpcOutput] | None:
        desc = call.arguments["lpRemoteReadDesc"]
        if desc["ulTimeout"]:
            self.waiting[desc["dwRequestID"]] = call
            self.arrived.set()
            return None
        size = desc["dwRequestID"]
        found = {**desc, "dwSize": size, "Reserved": 1, "lpBuffer": message(size) if size else None}
        return call.respond(Return=0, lpRemoteReadDesc=found, pphContext=call.make_context_handle(("read", size)))

    def RemoteQMStartReceive2(self, call: Call) -> list[RpcOutput]:
        desc = call.arguments["lpRemoteReadDesc2"]
        if desc["pRemoteReadDesc"] is None:
            return call.respond(Return=INVALID_HANDLE)
        return call.respond(Return=0, lpRemoteReadDesc2={**desc, "SequentialId": 0x00FFEEDDCCBBAA99})

    def RemoteQMEndReceive(self, call: Call) -> list[RpcOutput]:
        return call.respond(Return=0 if call.handle else INVALID_HANDLE, pphContext=None)

    def RemoteQMCancelReceive(self, call: Call) -> list[RpcOutput]:
        waiting = self.waiting.pop(call.arguments["dwRequestID"])
        return [*waiting.respond(Return=CANCELLED), *call.respond(Return=0)]

    def RemoteQMPurgeQueue(self, call: Call) -> list[RpcOutput]:
        return call.fault(INVALID_HANDLE)

    def RemoteQMGetQMQMServerPort(self, call: Call) -> list[RpcOutput]:
        return call.respond(Return=2105)

    def RemoteQmGetVersion(self, call: Call) -> list[RpcOutput]:
        return call.respond(pMajor=6, pMinor=1, pBuildNumber=6531)

    def R_QMOpenRemoteQueue(self, call: Call) -> list[RpcOutput]:
        opened = call.make_context_handle(("remote", call.arguments["pQueueFormat"]))
        return call.respond(Return=0, pphContext=opened, pdwContext=7, dwpQueue=7, phQueue=7)


def message(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


@contextlib.contextmanager
def serving(dispatcher: Dispatcher) -> Iterator[tuple[Endpoint, RpcDesk]]:
    """Serve qm2qm, qmcomm and ept on a free port of loopback."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    listener = RpcDesk(RpcServer([QM2QM, QMCOMM, EPT], SeededEntropy("served")), dispatcher)
    try:
        endpoint = asyncio.run_coroutine_threadsafe(listener.start(), loop).result(RESPONSE_TIMEOUT_S)
        try:
            yield endpoint, listener
        finally:
            asyncio.run_coroutine_threadsafe(listener.stop(), loop).result(RESPONSE_TIMEOUT_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class RecordingTransport(TCPTransport):
    """impacket's TCP transport, which records its bytes in ``traffic``: sent (True) and received (False).

    ``multiplexed``: set PFC_CONC_MPX in the bind, the first PDU, which impacket never does.
    """

    def __init__(self, endpoint: tuple[str, int], multiplexed: bool = False) -> None:
        super().__init__(*endpoint)
        self.traffic: list[tuple[bool, bytes]] = []
        self.multiplexed = multiplexed

    def send(self, data: bytes, forceWriteAndx: int = 0, forceRecv: int = 0) -> None:
        if self.multiplexed and not self.traffic:
            data = data[:3] + bytes([data[3] | PfcFlags.CONC_MPX]) + data[4:]
        self.traffic.append((True, data))
        self.get_socket().sendall(data)

    def recv(self, forceRecv: int = 0, count: int = 0) -> bytes:
        data: bytes = super().recv(forceRecv, count)
        self.traffic.append((False, data))
        return data
