"""MS-MQQP 3.1.4 Message Processing Events and Sequencing Rules: the strict consistency check of NDR."""

from __future__ import annotations

from harness.peer.remote import START
from harness.run.marks import covers, needs
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import MAX_BUFFER, PEEK_CURRENT, QM2QM_OPERATIONS, RECEIVE, RR_ACK
from harness.wire.rpc_stub import buffer
from suites.mqqp.steps.reading import FIRST, filled

pytestmark = needs("qm2qm")

BAD_STUB = "fault RPC_X_BAD_STUB_DATA"


@covers("MQQP-3.1.4-01")
def test_stubs_are_checked_strictly(remote, judge):
    """Values out of range, counts that are not there and stubs that end too soon are faults; nothing is done."""
    queue = filled(remote, FIRST)
    association = queue.association
    read = queue.read(RECEIVE).settled()
    wide = association.contexts[QM2QM].wide
    description = queue.description(PEEK_CURRENT, dwSize=8, lpBuffer=buffer(b"1234", max_count=8, actual_count=8))
    whole = QM2QM_OPERATIONS["RemoteQMPurgeQueue"].build_request(wide, hQueue=queue.handle)
    calls = {
        "dwAck 0": association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=0),
        "dwAck 3": association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=3),
        "dwMQS 17": queue.open_session(dwMQS=17),
        "dwSize above its range": queue.read(PEEK_CURRENT, dwSize=MAX_BUFFER + 1),
        "elements that are not there": association.call(START, lpRemoteReadDesc=description),
        "a stub cut": association.call("RemoteQMPurgeQueue", stub=whole[:-1]),
        "no stub": association.call("RemoteQMPurgeQueue", stub=b""),
    }
    observed = {name: call.outcome for name, call in calls.items()}
    observed["then"] = queue.end(read, RR_ACK).outcome
    expected = dict.fromkeys(calls, BAD_STUB) | {"then": "MQ_OK"}
    evidence = [call.evidence[-1] for call in calls.values()]
    judge("MQQP-3.1.4-01", expected=expected, observed=observed, evidence=evidence)
