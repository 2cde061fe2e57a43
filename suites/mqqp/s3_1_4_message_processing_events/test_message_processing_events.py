"""MS-MQQP 3.1.4 Message Processing Events and Sequencing Rules: opnums, ranges, exceptions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.expectations import each, facts, holds, none, status
from harness.peer.association import Call
from harness.peer.remote import Remote, RemoteQueue
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import MAX_BUFFER, QM2QM_OPERATIONS, Ack, Action, LookupId, Method, PortType, desc2
from harness.wire.rpc_status import failure
from harness.wire.rpc_stub import NULL_HANDLE, buffer
from suites.mqqp.steps.statuses import is_vendors_own, is_well_known

pytestmark = needs("qm2qm")

BAD_STUB = "fault RPC_X_BAD_STUB_DATA"
NO_OPNUM = "fault nca_s_op_rng_error"
REFUSED = "refused"


def describe_refusal(call: Call) -> str:
    """Return ``REFUSED`` for a call that was answered by a fault or a failure HRESULT, else its outcome."""
    return REFUSED if call.thrown is not None or call.failed else call.outcome


@covers("MQQP-3.1.4-01")
@sut_survives()
def test_invalid_stub_faults_and_does_nothing(remote, judge):
    """Calls with values out of range, a missing array, a cut stub and no stub are answered with RPC_X_BAD_STUB_DATA.

    A receive that they were to end can still be ended.
    """
    queue = remote.open_with_messages("first")
    association = queue.association
    read = queue.start_receive().expect_success()
    wide = association.of(QM2QM).contexts[QM2QM].wide
    description = queue.description(
        Action.PEEK_CURRENT, dwSize=8, lpBuffer=buffer(b"1234", max_count=8, actual_count=8)
    )
    whole = QM2QM_OPERATIONS["RemoteQMPurgeQueue"].build_request(wide, hQueue=queue.handle)
    calls = {
        "dwAck 0": association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=0),
        "dwAck 3": association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=3),
        "dwMQS 17": queue.open_session(dwMQS=17),
        "dwSize above its range": queue.peek(dwSize=MAX_BUFFER + 1),
        "dwSize above its range, the older way": queue.peek(by=Method.START_RECEIVE, dwSize=MAX_BUFFER + 1),
        "dwSize above its range, by lookup": queue.read(
            Action.LOOKUP_PEEK_NEXT, by=Method.START_RECEIVE_BY_LOOKUP_ID, dwSize=MAX_BUFFER + 1
        ),
        "elements that are not there": association.call(Method.START_RECEIVE, lpRemoteReadDesc=description),
        "a stub cut": association.call("RemoteQMPurgeQueue", stub=whole[:-1]),
        "no stub": association.call("RemoteQMPurgeQueue", stub=b""),
    }
    observed = {name: call.outcome for name, call in calls.items()}
    observed["then"] = queue.acknowledge(read).outcome
    expected = dict.fromkeys(calls, BAD_STUB) | {"then": "MQ_OK"}
    evidence = [call.evidence[-1] for call in calls.values()]
    judge("MQQP-3.1.4-01", expected=expected, observed=observed, evidence=evidence)


@covers("MQQP-3.1.4-D01")
def test_each_opnum_calls_its_method(remote, judge):
    """Requests with opnums 0 to 10 do what the methods of the table do; opnums 11 and 0xFFFF return a range fault."""
    queue = remote.open_with_messages("first", "second")
    cursor = queue.open_cursor()
    association = queue.association.of(QM2QM)
    context = association.contexts[QM2QM]

    def numbered(opnum: int, name: str, **arguments: object) -> Call:
        operation = QM2QM_OPERATIONS[name]
        call = association.raw(opnum, operation.build_request(context.wide, **arguments), context)
        call.operation = operation
        return call.wait()

    def read(opnum: int, name: str, action: int) -> Call:
        description = queue.description(action)
        if name == Method.START_RECEIVE:
            return numbered(opnum, name, lpRemoteReadDesc=description)
        more = {"LookupId": LookupId.BEFORE_FIRST} if name == Method.START_RECEIVE_BY_LOOKUP_ID else {}
        return numbered(opnum, name, lpRemoteReadDesc2=desc2(description), **more)

    version, port = (
        numbered(8, "RemoteQmGetVersion"),
        numbered(7, "RemoteQMGetQMQMServerPort", dwPortType=PortType.IP_READ),
    )
    opened = remote.open_remote(queue.association).expect_success().out
    session = numbered(
        2, "RemoteQMOpenQueue", hQueue=opened.phQueue, pQueue=opened.dwpQueue, dwpContext=opened.pdwContext
    )
    first = read(0, Method.START_RECEIVE, Action.RECEIVE)
    ended = numbered(1, "RemoteQMEndReceive", pphContext=handle_of(first), dwAck=Ack.RR_ACK)
    second, looked = (
        read(9, Method.START_RECEIVE2, Action.PEEK_CURRENT),
        read(10, Method.START_RECEIVE_BY_LOOKUP_ID, Action.LOOKUP_PEEK_NEXT),
    )
    identity = {"hQueue": queue.handle, "pQueue": queue.pointer}
    idle = numbered(5, "RemoteQMCancelReceive", **identity, dwRequestID=remote.request_id())
    no_cursor = numbered(4, "RemoteQMCloseCursor", hQueue=queue.handle, hCursor=cursor)
    purged = numbered(6, "RemoteQMPurgeQueue", hQueue=queue.handle)
    left = queue.labels()
    closed = numbered(3, "RemoteQMCloseQueue", pphContext=handle_of(session, "phContext"))
    beyond = [association.raw(opnum, b"", context).wait() for opnum in (11, 0xFFFF)]
    observed = {
        "0": first.label_or_outcome,
        "1": ended.outcome,
        "2": session.outcome,
        "3": closed.outcome,
        "4": no_cursor.outcome,
        "5": idle.outcome,
        "6": [purged.outcome, left],
        "7": "a port" if port.status and port.status <= 0xFFFF else port.outcome,
        "8": version.outcome,
        "9": second.label_or_outcome,
        "10": looked.label_or_outcome,
        "beyond": [call.outcome for call in beyond],
    }
    expected = {
        "0": "first",
        "1": "MQ_OK",
        "2": "MQ_OK",
        "3": "MQ_OK",
        "4": "MQ_OK",
        "5": "MQ_ERROR_INVALID_HANDLE",
        "6": ["MQ_OK", []],
        "7": "a port",
        "8": "returned",
        "9": "second",
        "10": "second",
        "beyond": [NO_OPNUM, NO_OPNUM],
    }
    evidence = [first, session, port]
    judge("MQQP-3.1.4-D01", expected=expected, observed=observed, evidence=evidence)


@covers("MQQP-3.1.4.2-D02")
@pytest.mark.parametrize("wrong", [0, 3, 4, 0x8000_0001, 0xFFFF_FFFF], ids=hex)
@pytest.mark.parametrize("right", [Ack.RR_NACK, Ack.RR_ACK], ids=["nack", "ack"])
@sut_survives()
def test_end_receive_with_invalid_dw_ack_is_refused(remote, judge, wrong, right):
    """RemoteQMEndReceive with a dwAck other than 1 and 2 is refused, and the message stays locked until a valid dwAck
    ends the receive.
    """
    queue = remote.open_with_messages("first", "second")
    read = queue.start_receive()
    call = queue.association.call("RemoteQMEndReceive", pphContext=handle_of(read), dwAck=wrong)
    locked = queue.labels()
    ended = queue.end(read, right)
    observed = {
        "read": read.label_or_outcome,
        "wrong": describe_refusal(call),
        "locked": locked,
        "right": ended.outcome,
        "after": queue.labels(),
    }
    after = ["first", "second"] if right == Ack.RR_NACK else ["second"]
    expected = facts(read="first", wrong=REFUSED, locked=["second"], right="MQ_OK", after=after)
    judge("MQQP-3.1.4.2-D02", expected=expected, observed=observed, evidence=[call, ended])


@covers("MQQP-3.1.4.3-D01")
@sut_survives()
def test_open_queue_with_dw_mqs_above_16_is_refused(remote, judge):
    """RemoteQMOpenQueue with dwMQS from 0 to 16 succeeds, above 16 it is refused. The queue can still be read."""
    queue = remote.open_with_messages("first")
    fine, wrong = (0, 1, 2, 8, 15, 16), (17, 0x100, 0x8000_0000, 0xFFFF_FFFF)
    calls = [queue.open_session(dwMQS=value) for value in (*fine, *wrong)]
    observed = {
        "fine": calls[: len(fine)],
        "wrong": [describe_refusal(call) for call in calls[len(fine) :]],
        "still": queue.peek().label_or_outcome,
    }
    expected = facts(fine=each(status("MQ_OK")), wrong=each(REFUSED), still="first")
    judge.all(expected=expected, observed=observed, evidence=calls[-8:])


def handle_of(call: Call, name: str = "pphContext") -> bytes:
    """Return the context handle of an answer; NULL when there is none."""
    return bytes(getattr(call.out, name)) if call.out is not None else NULL_HANDLE


# -- what is refused is returned ----------------------------------------------------------------------------------


def reads(by: str) -> Callable[[Remote, RemoteQueue], list[Call]]:
    """Return what makes reads of a method that are refused."""

    def make(remote: Remote, queue: RemoteQueue) -> list[Call]:
        if by == Method.START_RECEIVE_BY_LOOKUP_ID:
            wrong = ({"ulTimeout": 1}, {"hCursor": queue.UNKNOWN_HANDLE}, {"hRemoteQueue": 0, "dwQueue": 0})
            found = [queue.read(Action.LOOKUP_RECEIVE_NEXT, by=by, **fields) for fields in wrong]
            return [*found, queue.read(Action.LOOKUP_RECEIVE_NEXT, by=by), queue.read(Action.LOOKUP_PEEK_NEXT, by=by)]
        other = {"hRemoteQueue": queue.UNKNOWN_HANDLE, "dwQueue": queue.UNKNOWN_HANDLE}
        wrong = ({"dwQueue": 0}, {"hCursor": queue.UNKNOWN_HANDLE}, other)
        found = [queue.start_receive(by=by, **fields) for fields in wrong]
        return [*found, queue.peek_next(by=by), queue.start_receive(by=by), queue.peek(by=by)]

    return make


def ends(remote: Remote, queue: RemoteQueue) -> list[Call]:
    """End nothing."""
    return [queue.association.call("RemoteQMEndReceive", pphContext=NULL_HANDLE, dwAck=ack) for ack in (1, 2)]


def openings(remote: Remote, queue: RemoteQueue) -> list[Call]:
    """Open what cannot be opened."""
    return [
        queue.open_session(pQueue=0),
        queue.open_session(dwpContext=0),
        queue.open_session(pQueue=queue.UNKNOWN_HANDLE),
    ]


def closings(remote: Remote, queue: RemoteQueue) -> list[Call]:
    """Close nothing."""
    return [queue.association.call("RemoteQMCloseQueue", pphContext=NULL_HANDLE)]


def cursors(remote: Remote, queue: RemoteQueue) -> list[Call]:
    """Close cursors that are none."""
    return [
        queue.close_cursor(queue.UNKNOWN_HANDLE),
        queue.close_cursor(1, hQueue=queue.UNKNOWN_HANDLE),
        queue.close_cursor(0),
    ]


def cancellings(remote: Remote, queue: RemoteQueue) -> list[Call]:
    """Cancel reads that are none."""
    numbers = {"hQueue": queue.handle, "dwRequestID": 1}
    wrong = [
        queue.association.call("RemoteQMCancelReceive", pQueue=one, **numbers) for one in (0, queue.UNKNOWN_HANDLE)
    ]
    return [*wrong, queue.cancel(remote.request_id())]


FAILING: dict[str, tuple[str, Callable[[Remote, RemoteQueue], list[Call]]]] = {
    Method.START_RECEIVE: ("MQQP-3.1.4.1-D21", reads(Method.START_RECEIVE)),
    "RemoteQMEndReceive": ("MQQP-3.1.4.2-D03", ends),
    "RemoteQMOpenQueue": ("MQQP-3.1.4.3-D02", openings),
    "RemoteQMCloseQueue": ("MQQP-3.1.4.4-D01", closings),
    "RemoteQMCloseCursor": ("MQQP-3.1.4.5-D01", cursors),
    "RemoteQMCancelReceive": ("MQQP-3.1.4.6-D02", cancellings),
    Method.START_RECEIVE2: ("MQQP-3.1.4.10-D05", reads(Method.START_RECEIVE2)),
    Method.START_RECEIVE_BY_LOOKUP_ID: ("MQQP-3.1.4.11-D08", reads(Method.START_RECEIVE_BY_LOOKUP_ID)),
}
"""Of each method: the rule of its exceptions, and what makes calls of it that fail."""


@pytest.mark.parametrize(
    ("name", "rule"), [pytest.param(name, rule, marks=covers(rule), id=name) for name, (rule, _) in FAILING.items()]
)
@sut_survives()
def test_refused_call_returns_status_and_no_fault(remote, judge, name, rule):
    """Well-formed calls of a method that cannot be carried out return a status, and no fault."""
    queue = remote.open()
    calls = FAILING[name][1](remote, queue)
    observed = [call.status is not None or call.outcome for call in calls]
    judge(rule, expected=each(holds("a status is returned"), "call"), observed=observed, evidence=calls)


@covers("MQQP-1.8-D01", "MQDMPR-1.8-D01", "MQQP-2.2-D01")
@pytest.mark.parametrize("name", FAILING)
def test_failure_has_severity_bit_and_unlisted_code_customer_bit(remote, judge, name):
    """Every failure that a method returns has the S bit; a code that no document lists has the C bit."""
    queue = remote.open()
    calls = FAILING[name][1](remote, queue)
    statuses = [call.status for call in calls if call.status]  # what succeeds is no refusal
    without = [f"{code:#010x}" for code in statuses if not failure(code)]
    evidence = calls
    if not statuses:
        judge.mark_not_exercised(
            "MQQP-1.8-D01", "MQDMPR-1.8-D01", "MQQP-2.2-D01", reason="no refusal was returned", evidence=evidence
        )
        return
    judge("MQQP-2.2-D01", expected=none("failure without the severity bit"), observed=without, evidence=evidence)
    unknown = [f"{code:#010x}" for code in statuses if not (is_well_known(code) or is_vendors_own(code))]
    judge("MQQP-1.8-D01", "MQDMPR-1.8-D01", expected=none("code of nobody"), observed=unknown, evidence=evidence)
