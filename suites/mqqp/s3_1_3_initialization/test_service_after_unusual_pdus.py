"""MS-MQQP 3.1.3 Initialization: the server after a co_cancel, and after a request that it cannot execute."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.peer.association import Call
from harness.peer.remote import RemoteQueue, RemoteReaderOfSut
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc import QM2QM, REQUEST_HEADER_BYTES, build_co_cancel_pdu
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, Action, Method, PortType
from suites.mqqp.s3_1_4_08_ports_and_version.test_ports_and_version import request_ports_of_server

pytestmark = needs("qm2qm")

PORT_CALL_ANSWERED_OUTCOME = "answered"
UNKNOWN_CALL_ID = 0x7171
UNKNOWN_OPNUM = 0x7171
"""An opnum that no release of MSMQ has in qm2qm."""
FRAGMENT_COUNT, FRAGMENT_STUB_BYTES = 3, 64
"""The number of fragments of a request, and the number of stub bytes in each of them."""


def begin_waiting_peeks(remote: RemoteReaderOfSut) -> tuple[RemoteQueue, Call, Call]:
    """Let two clients open the same empty queue and begin a peek each; return the queue of the first client, and both
    peeks. Raise ConformanceFailure if the peeks do not wait.
    """
    queues = [remote.open(), remote.open()]
    peeks = [one.begin(Action.PEEK_CURRENT, by=Method.START_RECEIVE, ulTimeout=INFINITE_TIMEOUT_MS) for one in queues]
    if [peek.state_after_silence() for peek in peeks] != [Call.WAITING, Call.WAITING]:
        raise ConformanceFailure("a peek at an empty queue of the SUT is not pending")
    return queues[0], peeks[0], peeks[1]


def get_outcome_of_port_call(remote: RemoteReaderOfSut, port: int) -> str:
    """Call RemoteQMGetQMQMServerPort on a new connection; return ``ANSWERED``, or the reason why no response
    arrived.
    """
    calls = request_ports_of_server(remote, port, PortType.IP_READ)
    if not calls:
        return "qm2qm is not served"
    return calls[0].outcome if calls[0].out is None else PORT_CALL_ANSWERED_OUTCOME


def judge_waiting_peeks(remote: RemoteReaderOfSut, judge, peek: Call, peek_of_other_client: Call) -> None:
    """Send a message to the queue of two waiting peeks. The first peek is answered in any way, or its connection has
    ended. The peek of the other client returns the message.
    """
    remote.deliver(["first"])
    peeks = [peek.wait(), peek_of_other_client.wait()]
    judge(
        "MQQP-3.1.4.1-D02",
        expected=facts(
            peek=holds("answered, or its connection ended", "no answer on an open connection"),
            peek_of_the_other_client="first",
        ),
        observed={
            "peek": peek.answered or peek.association.over,
            "peek_of_the_other_client": peek_of_other_client.label_or_outcome,
        },
        case="waiting peeks after a message has arrived",
        evidence=peeks,
    )


@covers("MQQP-3.1.3-01", "MQQP-3.1.4.1-D02")
@sut_survives("MQQP-3.1.3-01")
def test_server_serves_clients_after_co_cancel(remote, sut, judge):
    """Clients send co_cancel PDUs for a call that was answered, for a call that was never made, and for a waiting peek.
    After each PDU, the SUT answers a call on a new connection. When a message arrives, the cancelled peek has an
    answer or a closed connection, and the waiting peek of another client returns the message.
    """
    port = remote.get_read_port()
    _, peek, peek_of_other_client = begin_waiting_peeks(remote)
    idle, silent = remote.associate(QM2QM), remote.associate(QM2QM)
    answered = idle.call("RemoteQMGetQMQMServerPort", dwPortType=PortType.IP_READ)
    cancels = {
        "an answered call": (answered.association, answered.call_id),
        "an unknown call": (silent, UNKNOWN_CALL_ID),
        "a waiting peek": (peek.association, peek.call_id),
    }
    found, evidence = {}, []
    for name, (association, call_id) in cancels.items():
        evidence.append(association.send(build_co_cancel_pdu(call_id)))
        association.wait_closed(sut.quiet_ms)
        found[name] = get_outcome_of_port_call(remote, port)
    judge(
        "MQQP-3.1.3-01",
        expected=facts(**dict.fromkeys(found, PORT_CALL_ANSWERED_OUTCOME)),
        observed=found,
        case="call on a new connection after a co_cancel",
        evidence=evidence,
    )
    judge_waiting_peeks(remote, judge, peek, peek_of_other_client)


@covers("MQQP-3.1.3-01", "MQQP-3.1.4.1-D02")
@sut_survives("MQQP-3.1.3-01")
def test_server_serves_clients_after_fragments_with_unknown_opnum(remote, sut, judge):
    """A client whose peek waits sends a request with an unknown opnum in several fragments. The SUT answers a call on a
    new connection. When a message arrives, the peek of the client has an answer or a closed connection, and the
    waiting peek of another client returns the message.
    """
    port = remote.get_read_port()
    queue, peek, peek_of_other_client = begin_waiting_peeks(remote)
    association = queue.association.of(QM2QM)
    request = association.call_raw(
        UNKNOWN_OPNUM,
        bytes(FRAGMENT_COUNT * FRAGMENT_STUB_BYTES),
        association.contexts[QM2QM],
        fragment=REQUEST_HEADER_BYTES + FRAGMENT_STUB_BYTES,
    )
    association.wait_closed(sut.quiet_ms)
    judge(
        "MQQP-3.1.3-01",
        expected=PORT_CALL_ANSWERED_OUTCOME,
        observed=get_outcome_of_port_call(remote, port),
        case="call on a new connection after fragments with an unknown opnum",
        evidence=request.sent,
    )
    judge_waiting_peeks(remote, judge, peek, peek_of_other_client)
