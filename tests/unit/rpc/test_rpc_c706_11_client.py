"""C706 9.3, 11, 12.6.4; MS-RPCE 3.3.1.5.6, 3.3.1.5.8; MS-MQQP 2.2: the client's side of an association."""

from uuid import UUID

import pytest
from rpc_made import CLIENT, DESC, LICENCE, NOW, pdus

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc import EPT, QM2QM, QMCOMM, CallCancelled, CallOrphaned, CallReceived, RpcServer, SendBytes
from reference_qm.rpc.bind_bodies import BindAck, BindNak, PresentationContextResult
from reference_qm.rpc.bodies import Fault, Response, Shutdown
from reference_qm.rpc.client import ClientAssociation, build_outgoing_call
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags
from reference_qm.rpc.interfaces.method import declare_in_parameter, declare_interface, declare_method
from reference_qm.rpc.limits import AssociationLimits
from reference_qm.rpc.ndr import U8, U32, ConformantArray
from reference_qm.rpc.outgoing import AssociationBound, AssociationEnded, CallFailed, CallReturned, SendPdusToServer
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.entropy import SeededEntropy

OPEN = {"pLicGuid": LICENCE, "dwMQS": 0, "hQueue": 7, "pQueue": 7, "dwpContext": 7}
BIG = declare_interface(
    "big",
    "6d71636f-6e66-4f72-8d00-000000000b16",
    1,
    [
        (
            0,
            declare_method(
                "Put",
                "C706 14.3.3.2",
                declare_in_parameter("size", U32),
                declare_in_parameter("octets", ConformantArray(U8, "size")),
                returns=U32,
            ),
        )
    ],
)


class Pair:
    """A client connected to the project's server, without a network."""

    def __init__(self, *interfaces, preferred=NDR64, limits=None):
        self.served = interfaces or (QM2QM, QMCOMM)
        server = RpcServer(self.served, SeededEntropy("pair"), limits, preferred)
        self.server = server.accept(CLIENT, "2105", NOW)
        self.client = ClientAssociation(self.served)
        self.events = []
        self.happened = []
        self.take(self.client.bind())

    def take(self, outgoing):
        """Deliver the PDUs of the client to the server, and the answers to the client."""
        for one in outgoing:
            if isinstance(one, SendPdusToServer):
                self.serve(self.server.receive_bytes(one.data, NOW))
            else:
                self.happened.append(one)

    def serve(self, outputs):
        for one in outputs:
            if isinstance(one, SendBytes):
                self.take(self.client.receive_bytes(one.data))
            else:
                self.events.append(one)

    def call(self, name, interface=QM2QM, **arguments):
        call = build_outgoing_call(interface, name, arguments)
        self.take(self.client.begin_call(call))
        return call

    def received(self):
        return [one.call for one in self.events if isinstance(one, CallReceived)]


@pytest.mark.parametrize("preferred", [NDR, NDR64])
def test_rpc_client_encodes_call_and_answer_in_both_transfer_syntaxes(preferred):
    pair = Pair(preferred=preferred)
    assert pair.happened == [AssociationBound()]
    call = pair.call("RemoteQMOpenQueue", **OPEN)
    (received,) = pair.received()
    assert received.arguments == OPEN
    assert received.context.wide is (preferred is NDR64)
    pair.serve(received.respond(Return=0, phContext=received.make_context_handle("queue")))
    returned = pair.happened[-1]
    assert (returned.call, returned.results["Return"]) == (call, 0)
    assert isinstance(returned.results["phContext"], UUID)


def test_rpc_client_proposes_both_transfer_syntaxes_of_each_interface():
    (sent,) = ClientAssociation([QM2QM, QMCOMM]).bind()
    (bind,) = pdus(sent.data)
    assert bind.pfc_flags == WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX
    proposed = [(one.abstract_syntax, one.transfer_syntaxes) for one in bind.body.p_context_elem]
    assert proposed == [(one.syntax, (syntax,)) for one in (QM2QM, QMCOMM) for syntax in (NDR, NDR64)]
    assert [one.p_cont_id for one in bind.body.p_context_elem] == [0, 1, 2, 3]


def test_rpc_client_accepts_answers_in_any_order():
    pair = Pair()
    first = pair.call("RemoteQMStartReceive", lpRemoteReadDesc={**DESC, "ulTimeout": 1000})
    second = pair.call("RemoteQMPurgeQueue", hQueue=7)
    one, two = pair.received()
    pair.serve(two.respond(Return=0))
    pair.serve(one.respond(Return=0xC00E001B))
    assert [each.call for each in pair.happened[1:]] == [second, first]
    assert pair.client.pending_call_count == 0


def test_rpc_client_without_multiplexing_sends_calls_one_after_the_other():
    client = bound(flags=WHOLE_PDU_FLAGS)
    first, second = (build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": number}) for number in (1, 2))
    assert len(client.begin_call(first)) == 1
    assert client.begin_call(second) == []
    returned, sent = client.receive_bytes(Pdu(Response(0, bytes(4)), 2).build())
    assert returned == CallReturned(first, {"Return": 0})
    assert pdus(sent.data)[0].call_id == 3


def test_rpc_client_sends_long_requests_in_fragments():
    pair = Pair(BIG, limits=AssociationLimits(fragment_bytes=1500))
    octets = bytes(range(256)) * 40
    pair.call("Put", BIG, size=len(octets), octets=octets)
    (received,) = pair.received()
    assert bytes(received.arguments["octets"]) == octets


def test_rpc_client_reassembles_long_answers():
    pair = Pair()
    pair.call("RemoteQMStartReceive", lpRemoteReadDesc=DESC)
    (received,) = pair.received()
    buffer = bytes(100_000)
    description = {**DESC, "dwSize": len(buffer), "lpBuffer": buffer}
    pair.serve(received.respond(Return=0, lpRemoteReadDesc=description))
    assert bytes(pair.happened[-1].results["lpRemoteReadDesc"]["lpBuffer"]) == buffer


def test_rpc_client_reports_a_fault_with_its_status():
    pair = Pair()
    call = pair.call("RemoteQMPurgeQueue", hQueue=7)
    (received,) = pair.received()
    pair.serve(received.fault(0x1C010014))
    failed = pair.happened[-1]
    assert (failed.call, failed.status) == (call, 0x1C010014)
    assert "0x1c010014" in failed.error


def test_rpc_client_ends_a_cancelled_call_and_sends_the_cancel():
    pair = Pair()
    call = pair.call("RemoteQMStartReceive", lpRemoteReadDesc={**DESC, "ulTimeout": 1000})
    pair.take(pair.client.cancel_call(call))
    (received,) = pair.received()
    assert pair.events[1:] == [CallCancelled(received), CallOrphaned(received)]
    assert (call.cancelled, pair.client.pending_call_count) == (True, 0)
    late = Pdu(Response(1, bytes(4)), call.call_id).build()
    assert pair.client.receive_bytes(late) == []


def test_unsent_call_is_cancelled_without_pdu():
    client = bound(flags=WHOLE_PDU_FLAGS)
    client.begin_call(build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 1}))
    waiting = build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 2})
    client.begin_call(waiting)
    assert client.cancel_call(waiting) == []
    assert client.pending_call_count == 1
    assert client.cancel_call(waiting) == []


def bound(flags=WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX, results=None):
    client = ClientAssociation([QM2QM])
    client.bind()
    answers = results or (PresentationContextResult(0, transfer_syntax=NDR), PresentationContextResult(2, 2))
    client.receive_bytes(Pdu(BindAck(5840, 5840, 1, b"2105\0", answers), 1, flags).build())
    return client


def ended(happened):
    assert isinstance(happened[-1], AssociationEnded), happened
    return happened[-1].reason


def test_rpc_client_ends_a_refused_association():
    client = ClientAssociation([QM2QM])
    client.bind()
    assert "reason 2" in ended(client.receive_bytes(Pdu(BindNak(2), 1).build()))
    assert client.receive_bytes(b"more") == []


def test_bind_ack_without_accepted_interface_ends_the_association():
    client = ClientAssociation([QM2QM])
    client.bind()
    ack = BindAck(5840, 5840, 1, b"", (PresentationContextResult(2, 1), PresentationContextResult(2, 1)))
    assert "none of the interfaces" in ended(client.receive_bytes(Pdu(ack, 1).build()))


def test_unaccepted_interface_cannot_be_called():
    pair = Pair()
    call = build_outgoing_call(EPT, "ept_lookup_handle_free", {"entry_handle": None})
    (failed,) = pair.client.begin_call(call)
    assert "no interface ept" in failed.error


def test_bind_ack_with_too_few_results_ends_the_association():
    client = ClientAssociation([QM2QM])
    client.bind()
    ack = BindAck(5840, 5840, 1, b"", (PresentationContextResult(0, transfer_syntax=NDR),))
    assert "1 answers" in ended(client.receive_bytes(Pdu(ack, 1).build()))


def test_every_pending_call_fails_when_the_association_ends():
    pair = Pair()
    calls = [pair.call("RemoteQMPurgeQueue", hQueue=number) for number in (1, 2)]
    happened = pair.client.fail_all_calls("reset")
    assert happened == [CallFailed(calls[0], "reset"), CallFailed(calls[1], "reset"), AssociationEnded("reset")]
    assert pair.client.fail_all_calls("again") == []
    assert isinstance(pair.client.begin_call(calls[0])[0], CallFailed)


def test_client_shutdown_waits_for_pending_calls():
    client = bound()
    call = build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 1})
    client.begin_call(call)
    assert client.receive_bytes(Pdu(Shutdown(), 0).build()) == []
    assert isinstance(client.begin_call(build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 2}))[0], CallFailed)
    returned, over = client.receive_bytes(Pdu(Response(0, bytes(4)), 2).build())
    assert (returned.call, type(over)) == (call, AssociationEnded)


@pytest.mark.parametrize(
    "pdu",
    [
        Pdu(Response(0, bytes(4)), 9),
        Pdu(Fault(0, 5), 9),
        Pdu(Response(0, bytes(4)), 2, PfcFlags.LAST_FRAG),
        Pdu(Response(0, b""), 2, PfcFlags.FIRST_FRAG),
        Pdu(BindNak(0), 2),
    ],
    ids=["no such call", "fault of no call", "no first fragment", "empty fragment", "out of state"],
)
def test_a_server_that_breaks_the_protocol_ends_the_association(pdu):
    client = bound()
    client.begin_call(build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 1}))
    assert ended(client.receive_bytes(pdu.build()))
    assert client.pending_call_count == 0


def test_bytes_that_are_no_pdu_end_the_association():
    assert "are not a PDU" in ended(bound().receive_bytes(b"HTTP/1.1 400 Bad Request\r\n"))


def test_invalid_response_stub_fails_only_its_own_call():
    client = bound()
    call = build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 1})
    client.begin_call(call)
    (failed,) = client.receive_bytes(Pdu(Response(0, bytes(3)), 2).build())
    assert (failed.call, client.has_ended) == (call, False)
    assert "invalid stub" in failed.error


def test_rpc_client_discards_a_response_that_never_ends():
    client = bound()
    client.begin_call(build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 1}))
    flags, happened = PfcFlags.FIRST_FRAG, []
    for _ in range(800):
        happened = client.receive_bytes(Pdu(Response(0, bytes(5800)), 2, flags).build())
        flags = 0
        if happened:
            break
    assert "more than" in ended(happened)


def test_rpc_client_limits_pending_calls_and_refuses_calls_before_the_bind():
    early = build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": 1})
    with pytest.raises(MisuseError, match="before the association was bound"):
        ClientAssociation([QM2QM]).begin_call(early)
    client = bound()
    for number in range(AssociationLimits().pending_calls):
        client.begin_call(build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": number}))
    (failed,) = client.begin_call(early)
    assert "64 calls are already waiting" in failed.error
    with pytest.raises(MisuseError, match="no method"):
        build_outgoing_call(QM2QM, "RemoteQMOpen", {})
