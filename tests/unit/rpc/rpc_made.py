"""The client's side of DCE/RPC for tests: PDUs as bytes, and an association that receives them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from reference_qm.rpc import (
    QM2QM,
    QMCOMM,
    AssociationLimits,
    Call,
    CallReceived,
    CloseAssociation,
    RpcServer,
    SendBytes,
)
from reference_qm.rpc.bind_bodies import AlterContext, Bind, PresentationContextElement
from reference_qm.rpc.bodies import Body, Request
from reference_qm.rpc.header import HEADER_SIZE, WHOLE_PDU_FLAGS, Header, PfcFlags
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR, NDR64, SyntaxId
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import SeededEntropy

NOW = Now(1_000, 1_700_000_000)
CLIENT = "192.0.2.7"
LICENCE = UUID("00112233-4455-6677-8899-aabbccddeeff")
UNKNOWN = SyntaxId(UUID("deadbeef-0000-4000-8000-000000000001"), 1)
SYNTAX = {False: NDR, True: NDR64}

DESC = {
    "hRemoteQueue": 7,
    "hCursor": 0,
    "ulAction": 0,
    "ulTimeout": 0,
    "dwSize": 0,
    "dwQueue": 7,
    "dwRequestID": 1,
    "Reserved": 0,
    "dwArriveTime": 0,
    "eAckNack": 0,
    "lpBuffer": None,
}


def features(bits: int) -> SyntaxId:
    """Return the transfer syntax that negotiates features at bind time (MS-RPCE 3.3.1.5.3)."""
    return SyntaxId(UUID(bytes=UUID("6cb71c2c-9812-4540-0000-000000000000").bytes[:8] + bytes([bits]) + bytes(7)), 1)


def element(p_cont_id: int, abstract: SyntaxId, *transfers: SyntaxId) -> PresentationContextElement:
    return PresentationContextElement(p_cont_id, abstract, transfers)


def pdus(data: bytes) -> list[Pdu]:
    """Split bytes into whole PDUs."""
    found = []
    while data:
        size = Header.parse(data[:HEADER_SIZE]).frag_length
        found.append(Pdu.parse(data[:size]))
        data = data[size:]
    return found


class Client:
    """A client of an association with a server that serves qm2qm and qmcomm."""

    def __init__(
        self, server: RpcServer | None = None, limits: AssociationLimits | None = None, host: str = CLIENT
    ) -> None:
        self.server = server or RpcServer([QM2QM, QMCOMM], SeededEntropy("rpc"), limits)
        self.association = self.server.accept(host, "2105", NOW)
        self.call_id = 0
        self.happened: list[Any] = []

    def feed(self, data: bytes, now: Now = NOW) -> list[Any]:
        """Pass bytes to the server's association; return its outputs."""
        self.happened = self.association.receive_bytes(data, now)
        return self.happened

    def send(self, body: Body, call_id: int = 1, flags: int = WHOLE_PDU_FLAGS, **more: Any) -> list[Any]:
        return self.feed(Pdu(body, call_id, flags, **more).build())

    def bind(
        self,
        *elements: PresentationContextElement,
        flags: int = WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX,
        group: int = 0,
        size: int = 5840,
    ):
        """Send a bind, by default for qm2qm in NDR as context 0; return the server's answer."""
        proposed = elements or (element(0, QM2QM.syntax, NDR),)
        return sent(self.send(Bind(size, size, group, proposed), flags=flags))[0]

    def alter(self, *elements: PresentationContextElement) -> Pdu:
        return sent(self.send(AlterContext(5840, 5840, 0, elements)))[0]

    def request(
        self, opnum: int, stub: bytes, context: int = 0, flags: int = WHOLE_PDU_FLAGS, **more: Any
    ) -> list[Any]:
        """Send a whole request with the next call_id; return the outputs of the server's association."""
        self.call_id += 1
        return self.send(Request(context, opnum, stub), self.call_id, flags, **more)

    def call(self, opnum: int, context: int = 0, encoding: StubEncoding | None = None, **arguments: Any) -> Call:
        """Send a request of qm2qm; return the call that the server's dispatcher receives."""
        stub = QM2QM.methods[opnum].build_in_parameters(arguments, encoding or StubEncoding())
        return received(self.request(opnum, stub, context))

    def open_queue(self, **change: Any) -> Call:
        """Call RemoteQMOpenQueue."""
        given = {"pLicGuid": LICENCE, "dwMQS": 0, "hQueue": 7, "pQueue": 7, "dwpContext": 7, **change}
        return self.call(2, **given)

    def opened(self) -> UUID:
        """Open a queue, and return the context handle of the answer."""
        call = self.open_queue()
        answer = sent(call.respond(Return=0, phContext=call.make_context_handle("queue")))[0]
        return QM2QM.methods[2].read_out_parameters(answer.body.stub, StubEncoding(), {})["phContext"]


def sent(happened: list[Any]) -> list[Pdu]:
    """Return the PDUs in the outputs of an association."""
    return [pdu for one in happened if isinstance(one, SendBytes) for pdu in pdus(one.data)]


def received(happened: list[Any]) -> Call:
    """Return the only call in the outputs of an association."""
    (event,) = happened
    assert isinstance(event, CallReceived)
    return event.call


def closed(happened: list[Any]) -> bool:
    return any(isinstance(one, CloseAssociation) for one in happened)
