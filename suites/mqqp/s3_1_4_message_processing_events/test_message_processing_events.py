"""MS-MQQP 3.1.4 Message Processing Events and Sequencing Rules: opnums, ranges, exceptions."""

from __future__ import annotations

import pytest

from harness.expectations import each, holds
from harness.peer.association import Call
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import (
    MAX_BUFFER_BYTES,
    QM2QM_OPERATIONS,
    Ack,
    Action,
    LookupId,
    Method,
    PortType,
    build_desc2,
)
from harness.wire.rpc_stub import NULL_HANDLE, build_byte_array_pointer
from suites.mqqp.steps.refusals import REFUSED_CALLS_BY_METHOD

pytestmark = needs("qm2qm")

BAD_STUB_OUTCOME = "fault RPC_X_BAD_STUB_DATA"
UNKNOWN_OPNUM_OUTCOME = "fault nca_s_op_rng_error"


def _build_complete_stubs_by_method(queue, wide):
    """Return well-formed stubs of calls that have no effect on the check's queue, by method."""
    arguments = {
        "RemoteQMCloseCursor": {"hQueue": queue.handle, "hCursor": 0x7F00_0001},
        "RemoteQMCancelReceive": {"hQueue": queue.handle, "pQueue": queue.pointer, "dwRequestID": 0x7F00_0001},
        "RemoteQMGetQMQMServerPort": {"dwPortType": PortType.IP_READ},
    }
    return {name: QM2QM_OPERATIONS[name].build_request(wide, **given) for name, given in arguments.items()}


@covers("MQQP-3.1.4-01")
@sut_survives()
def test_invalid_stub_faults_and_does_nothing(remote, judge):
    """The client sends calls with a value out of range, a missing array, a truncated stub or an empty stub. The SUT
    answers them with RPC_X_BAD_STUB_DATA. The receive that the malformed calls name can still be ended.
    """
    queue = remote.open_with_messages("first")
    association = queue.association
    read = queue.start_receive().expect_success()
    wide = association.of(QM2QM).contexts[QM2QM].wide
    description = queue.description(
        Action.PEEK_CURRENT, dwSize=8, lpBuffer=build_byte_array_pointer(b"1234", max_count=8, actual_count=8)
    )
    whole = QM2QM_OPERATIONS["RemoteQMPurgeQueue"].build_request(wide, hQueue=queue.handle)
    calls = {
        "call with dwAck 0": association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=0),
        "call with dwAck 3": association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=3),
        "call with dwMQS 17": queue.open_session(dwMQS=17),
        "RemoteQMStartReceive2 with dwSize above its range": queue.peek(dwSize=MAX_BUFFER_BYTES + 1),
        "RemoteQMStartReceive with dwSize above its range": queue.peek(
            by=Method.START_RECEIVE, dwSize=MAX_BUFFER_BYTES + 1
        ),
        "RemoteQMStartReceiveByLookupId with dwSize above its range": queue.read(
            Action.LOOKUP_PEEK_NEXT, by=Method.START_RECEIVE_BY_LOOKUP_ID, dwSize=MAX_BUFFER_BYTES + 1
        ),
        "call with missing array elements": association.call(Method.START_RECEIVE, lpRemoteReadDesc=description),
        "call with a stub without its last byte": association.call("RemoteQMPurgeQueue", stub=whole[:-1]),
        "call without a stub": association.call("RemoteQMPurgeQueue", stub=b""),
    }
    for port_type in (4, 0x100, 0xFFFF_FFFF):
        calls[f"call with dwPortType {port_type}"] = association.call("RemoteQMGetQMQMServerPort", dwPortType=port_type)
    for name, stub in _build_complete_stubs_by_method(queue, wide).items():
        for missing in (1, 4):
            calls[f"{name} without its last {missing} bytes"] = association.call(name, stub=stub[:-missing])
    observed = {name: call.outcome for name, call in calls.items()}
    observed["then"] = queue.acknowledge(read).outcome
    expected = dict.fromkeys(calls, BAD_STUB_OUTCOME) | {"then": "MQ_OK"}
    evidence = [call.evidence[-1] for call in calls.values()]
    judge("MQQP-3.1.4-01", expected=expected, observed=observed, evidence=evidence)


@covers("MQQP-3.1.4-D01")
def test_each_opnum_calls_its_method(remote, judge):
    """Requests with the opnums 0 to 10 call the specified methods; requests with the opnums 11 and 0xFFFF get a range
    fault.
    """
    queue = remote.open_with_messages("first", "second")
    cursor = queue.open_cursor()
    association = queue.association.of(QM2QM)
    context = association.contexts[QM2QM]

    def call_opnum(opnum: int, name: str, **arguments: object) -> Call:
        operation = QM2QM_OPERATIONS[name]
        call = association.call_raw(opnum, operation.build_request(context.wide, **arguments), context)
        call.operation = operation
        return call.wait()

    def call_read_method(opnum: int, name: str, action: int) -> Call:
        description = queue.description(action)
        if name == Method.START_RECEIVE:
            return call_opnum(opnum, name, lpRemoteReadDesc=description)
        more = {"LookupId": LookupId.BEFORE_FIRST} if name == Method.START_RECEIVE_BY_LOOKUP_ID else {}
        return call_opnum(opnum, name, lpRemoteReadDesc2=build_desc2(description), **more)

    version, port = (
        call_opnum(8, "RemoteQmGetVersion"),
        call_opnum(7, "RemoteQMGetQMQMServerPort", dwPortType=PortType.IP_READ),
    )
    opened = remote.open_remote(queue.association).expect_success().out
    session = call_opnum(
        2, "RemoteQMOpenQueue", hQueue=opened.phQueue, pQueue=opened.dwpQueue, dwpContext=opened.pdwContext
    )
    first = call_read_method(0, Method.START_RECEIVE, Action.RECEIVE)
    ended = call_opnum(1, "RemoteQMEndReceive", pphContext=get_context_handle(first), dwAck=Ack.RR_ACK)
    second, looked = (
        call_read_method(9, Method.START_RECEIVE2, Action.PEEK_CURRENT),
        call_read_method(10, Method.START_RECEIVE_BY_LOOKUP_ID, Action.LOOKUP_PEEK_NEXT),
    )
    identity = {"hQueue": queue.handle, "pQueue": queue.pointer}
    idle = call_opnum(5, "RemoteQMCancelReceive", **identity, dwRequestID=remote.request_id())
    no_cursor = call_opnum(4, "RemoteQMCloseCursor", hQueue=queue.handle, hCursor=cursor)
    purged = call_opnum(6, "RemoteQMPurgeQueue", hQueue=queue.handle)
    left = queue.labels()
    closed = call_opnum(3, "RemoteQMCloseQueue", pphContext=get_context_handle(session, "phContext"))
    beyond = [association.call_raw(opnum, b"", context).wait() for opnum in (11, 0xFFFF)]
    observed = {
        "opnum 0, RemoteQMStartReceive": first.label_or_outcome,
        "opnum 1, RemoteQMEndReceive": ended.outcome,
        "opnum 2, RemoteQMOpenQueue": session.outcome,
        "opnum 3, RemoteQMCloseQueue": closed.outcome,
        "opnum 4, RemoteQMCloseCursor": no_cursor.outcome,
        "opnum 5, RemoteQMCancelReceive": idle.outcome,
        "opnum 6, RemoteQMPurgeQueue": [purged.outcome, left],
        "opnum 7, RemoteQMGetQMQMServerPort": "a port" if port.status and port.status <= 0xFFFF else port.outcome,
        "opnum 8, RemoteQmGetVersion": version.outcome,
        "opnum 9, RemoteQMStartReceive2": second.label_or_outcome,
        "opnum 10, RemoteQMStartReceiveByLookupId": looked.label_or_outcome,
        "opnums 11 and 0xFFFF": [call.outcome for call in beyond],
    }
    expected = {
        "opnum 0, RemoteQMStartReceive": "first",
        "opnum 1, RemoteQMEndReceive": "MQ_OK",
        "opnum 2, RemoteQMOpenQueue": "MQ_OK",
        "opnum 3, RemoteQMCloseQueue": "MQ_OK",
        "opnum 4, RemoteQMCloseCursor": "MQ_OK",
        "opnum 5, RemoteQMCancelReceive": "MQ_ERROR_INVALID_HANDLE",
        "opnum 6, RemoteQMPurgeQueue": ["MQ_OK", []],
        "opnum 7, RemoteQMGetQMQMServerPort": "a port",
        "opnum 8, RemoteQmGetVersion": "returned",
        "opnum 9, RemoteQMStartReceive2": "second",
        "opnum 10, RemoteQMStartReceiveByLookupId": "second",
        "opnums 11 and 0xFFFF": [UNKNOWN_OPNUM_OUTCOME, UNKNOWN_OPNUM_OUTCOME],
    }
    evidence = [first, session, port]
    judge("MQQP-3.1.4-D01", expected=expected, observed=observed, evidence=evidence)


def get_context_handle(call: Call, name: str = "pphContext") -> bytes:
    """Return the context handle of a response, or NULL if it contains none."""
    return bytes(getattr(call.out, name)) if call.out is not None else NULL_HANDLE


EXCEPTION_RULE_BY_METHOD = {
    Method.START_RECEIVE: "MQQP-3.1.4.1-D21",
    Method.END_RECEIVE: "MQQP-3.1.4.2-D03",
    Method.OPEN_QUEUE: "MQQP-3.1.4.3-D02",
    Method.CLOSE_QUEUE: "MQQP-3.1.4.4-D01",
    Method.CLOSE_CURSOR: "MQQP-3.1.4.5-D01",
    Method.CANCEL_RECEIVE: "MQQP-3.1.4.6-D02",
    Method.START_RECEIVE2: "MQQP-3.1.4.10-D05",
    Method.START_RECEIVE_BY_LOOKUP_ID: "MQQP-3.1.4.11-D08",
}
"""For each method, the rule about its exceptions."""


@pytest.mark.parametrize(
    ("method", "rule"),
    [pytest.param(method, rule, marks=covers(rule), id=method) for method, rule in EXCEPTION_RULE_BY_METHOD.items()],
)
@sut_survives()
def test_refused_call_returns_status_and_no_fault(remote, judge, method, rule):
    """Well-formed calls that a method cannot carry out return a status, and do not cause a fault."""
    calls = REFUSED_CALLS_BY_METHOD[method](remote.open())
    observed = [call.status is not None or call.outcome for call in calls]
    judge(rule, expected=each(holds("a status is returned"), "call"), observed=observed, evidence=calls)
