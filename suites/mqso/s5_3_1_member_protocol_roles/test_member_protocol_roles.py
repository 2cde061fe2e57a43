"""MS-MQSO 5.3.1 Member Protocol Roles: qmcomm and qm2qm."""

from __future__ import annotations

from harness.expectations import between, each
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PortType
from harness.wire.rpc_qmcomm import PEEK_ACCESS

HIGHEST_PORT = 0xFFFF


@needs("qm2qm")
@covers("MQSO-5.3.1-01", "MQSO-5.3.1-02")
def test_queue_opened_by_qmcomm_is_read_by_qm2qm(remote, judge):
    """qmcomm returns the port of qm2qm, and opens a queue to receive and to peek (MS-MQMP). qm2qm opens the same queue
    for reading twice, receives a message, peeks with a cursor that qmcomm created, and purges the queue (MS-MQQP).
    """
    association = remote.associate()
    port_call = association.call("R_QMGetRTQMServerPort", fIP=PortType.IP_HANDSHAKE)
    port = port_call.outcome if port_call.status is None else port_call.status
    judge(
        "MQSO-5.3.1-01",
        expected=between(1, HIGHEST_PORT),
        observed=port,
        evidence=port_call.evidence,
        case="port of qm2qm",
    )
    remote.empty_queue()
    opened = remote.open_remote(association)
    judge.all(
        expected="MQ_OK",
        observed=opened.outcome,
        case="opening of the queue by qmcomm",
        evidence=opened.evidence,
    )
    remote.deliver(["read", "peeked"])
    queue = RemoteQueue(remote, association, opened.expect_success(), settled=False)
    judge.all(
        expected="MQ_OK",
        observed=queue.session.outcome,
        case="opening of the queue by qm2qm",
        evidence=queue.session.evidence,
    )
    read = queue.receive()
    judge.all(expected="MQ_OK", observed=read.outcome, case="read by qm2qm", evidence=read.evidence)
    to_peek = remote.open_remote(association, access=PEEK_ACCESS)
    judge.all(expected="MQ_OK", observed=to_peek.outcome, case="opening to peek by qmcomm", evidence=to_peek.evidence)
    second = RemoteQueue(remote, association, to_peek.expect_success(), settled=False)
    cursor = second.cursor()
    found = second.peek(hCursor=0 if cursor.out is None else cursor.out.phCursor)
    purged = queue.purge()
    calls = {
        "second opening": second.session,
        "cursor": cursor,
        "peek with the cursor": found,
        "purge": purged,
    }
    judge.all(
        expected=each("MQ_OK", "call"),
        observed={name: call.outcome for name, call in calls.items()},
        evidence=[frame for call in calls.values() for frame in call.evidence],
    )
