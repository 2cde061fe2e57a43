"""Faults that break rules of MS-MQQP 2.1 Transport and of 1.8 and 1.9."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import change_pdus, filter_inputs
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.part import QM
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bind_bodies import Bind, PresentationContextElement
from reference_qm.rpc.bodies import Fault, Response
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Input, RpcAccepted, RpcBytesReceived, RpcConnectionLost, RpcListening

_QM2QM_UUID_BYTES = QM2QM.syntax.uuid.bytes_le


_UUID_AND_VERSION_PATTERN = re.compile(re.escape(_QM2QM_UUID_BYTES) + b"....", re.DOTALL)


def _accept_any_interface_version(event: Input) -> Iterable[Input]:
    if isinstance(event, RpcBytesReceived):
        event = replace(event, data=_UUID_AND_VERSION_PATTERN.sub(_QM2QM_UUID_BYTES + b"\1\0\0\0", event.data))
    return [event]


add(
    "server-bind-of-any-version-accepted",
    "MQQP-1.9-D01",
    "The server accepts a bind to qm2qm in any version.",
    filter_inputs(_accept_any_interface_version),
)


_WRONG_UUID_BYTES = UUID(int=QM2QM.syntax.uuid.int ^ 1).bytes_le


def _accept_interface_with_other_uuid(event: Input) -> Iterable[Input]:
    if isinstance(event, RpcBytesReceived):
        event = replace(event, data=event.data.replace(_WRONG_UUID_BYTES, _QM2QM_UUID_BYTES))
    return [event]


add(
    "server-accepts-bind-to-wrong-interface",
    "MQQP-1.9-D01",
    "The server accepts a bind to an interface whose identifier differs from qm2qm in one bit.",
    filter_inputs(_accept_interface_with_other_uuid),
)


ContextElementChange = Callable[[PresentationContextElement], PresentationContextElement]


def _change_bind_proposals(change: ContextElementChange) -> Install:
    """Build a fault that changes the context elements of each bind before the server reads the bind."""

    def change_bind_of_event(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytesReceived):
            return [event]
        try:
            pdu = Pdu.parse(event.data)
        except PduError:
            return [event]
        if not isinstance(pdu.body, Bind):
            return [event]
        body = replace(pdu.body, p_context_elem=tuple(map(change, pdu.body.p_context_elem)))
        return [event] if body == pdu.body else [replace(event, data=replace(pdu, body=body).build())]

    return filter_inputs(change_bind_of_event)


def _accept_any_minor_version(element: PresentationContextElement) -> PresentationContextElement:
    syntax = element.abstract_syntax
    same = syntax.uuid == QM2QM.syntax.uuid and syntax.version & 0xFFFF == 1
    return replace(element, abstract_syntax=QM2QM.syntax) if same else element


add(
    "server-bind-to-version-1-1-accepted",
    "MQQP-1.9-D01",
    "The server accepts a bind to qm2qm with any minor version.",
    _change_bind_proposals(_accept_any_minor_version),
)


def _ignore_events_of_kind(kind: type[Input]) -> Install:
    """Build a fault in which the server ignores all inputs of one type."""

    def filter_event_of_kind(event: Input) -> Iterable[Input]:
        return [] if isinstance(event, kind) else [event]

    return filter_inputs(filter_event_of_kind)


add(
    "server-ignores-all-rpc-bytes",
    ("MQQP-2.1-01", "MQQP-2.1-D01"),
    "The server ignores all bytes that arrive on its RPC connections.",
    _ignore_events_of_kind(RpcBytesReceived),
)


add(
    "endpoint-mapper-without-endpoints",
    "MQQP-2.1-02",
    "The endpoint mapper returns no endpoint.",
    _ignore_events_of_kind(RpcListening),
)


_QM2QM_INTERFACE_FLOOR = b"\x13\x00\x0d" + QM2QM.syntax.uuid.bytes_le
"""The first bytes of the qm2qm tower's first floor: the length of the left side, the protocol identifier for a UUID,
and the identifier of qm2qm.
"""


def _append_bytes_to_tower_floors(body: Response) -> Response:
    return replace(body, stub=body.stub.replace(_QM2QM_INTERFACE_FLOOR, b"\xff\x7f" + _QM2QM_INTERFACE_FLOOR[2:]))


add(
    "endpoint-mapper-tower-floor-longer-than-tower",
    "MQQP-2.1-02",
    "The endpoint mapper returns a tower for qm2qm whose first floor has a length greater than that of the tower.",
    change_pdus(Response, _append_bytes_to_tower_floors),
)


def _serve_only_first_client(faulty: FaultyCore) -> None:
    """Let the server answer only the first connected client."""
    connected: list[str] = []

    def pass_events_of_first_client(event: Input) -> Iterable[Input]:
        if isinstance(event, RpcAccepted):
            connected.append(event.connection)
        elif isinstance(event, RpcConnectionLost) and event.connection in connected:
            connected.remove(event.connection)
        elif isinstance(event, RpcBytesReceived) and event.connection != connected[0]:
            return []
        return [event]

    faulty.input_filters.append(pass_events_of_first_client)


add(
    "server-only-first-client-served",
    "MQQP-2.1-D01",
    "The server answers only the first of the connected clients.",
    _serve_only_first_client,
)


RPC_ACCESS_DENIED_STATUS = 5


add(
    "server-unauthenticated-calls-denied",
    "MQQP-2.1-D01",
    "The server answers each call of an unauthenticated client with access denied.",
    change_pdus(Response, lambda body: Fault(p_cont_id=body.p_cont_id, status=RPC_ACCESS_DENIED_STATUS)),
)


@fault("server-connection-refused-while-read-waits", breaks="MQQP-2.1-D01", blind=True)
class ServerConnectionRefusedWhileReadWaits(RpcEventDispatching):
    """While one read waits for a message, the server closes every new connection."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: set[str] = set()

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        if event.connection not in self.known and len(self.qm.remote.RemoteReadEntryCollection):
            self.qm.remote.associations.close_connection(event.connection, "a fault: another client waits")
            return
        self.known.add(event.connection)
        super().on_bytes(event, now)


@fault("server-connection-refused-after-client-lost-with-open-queue", breaks="MQQP-2.1-D01", blind=True)
class ServerConnectionRefusedAfterClientLostWithOpenQueue(RpcEventDispatching):
    """After the connection of a client was lost while a queue was open for remote reading, the server closes every new
    connection.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: set[str] = set()
        self.refusing = False

    def on_connection_lost(self, event: RpcConnectionLost, now: Now) -> None:
        if event.connection in self.known and len(self.qm.remote.OpenQueueEntryCollection):
            self.refusing = True
        super().on_connection_lost(event, now)

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        if self.refusing and event.connection not in self.known:
            self.qm.remote.associations.close_connection(event.connection, "a fault")
            return
        self.known.add(event.connection)
        super().on_bytes(event, now)
