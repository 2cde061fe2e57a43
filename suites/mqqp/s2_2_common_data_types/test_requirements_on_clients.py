"""MS-MQQP 2.2, 2.2.1.1, 2.2.1.2, 3.1.4.1 to 3.1.4.11: the requirements on clients. The SUT is the client."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc import NDR, NDR64, QM2QM
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import CommandOutcome, Reader, Reading

FAILURE_STATUSES = (
    *(0xC00E_0001, 0xC00E_0006, 0xC00E_0007, 0xC000_000D, 0xC000_0225),
    *(0xC00E_7777, 0x8000_4005, 0x8000_0000, 0xFFFF_FFFF),
)
"""Failure statuses that the peer returns: HRESULTs and NTSTATUSes, some of them undefined."""

ACCESS_DENIED_STATUS, UNKNOWN_FAULT_STATUS = 0x0000_0005, 0x0BAD_0BAD
"""Statuses of RPC faults: access denied, and an undefined status."""


def _list_called_methods(reader):
    return [call.name for call in reader.server.calls if call.operation.interface == QM2QM]


@needs("remote_read")
@covers("MQQP-2.2-01")
def test_client_bind_proposes_both_transfer_syntaxes(peer, sut, judge):
    """The SUT opens a queue of the peer. Each of its binds to qm2qm proposes both NDR and NDR64."""
    reader = Reader(peer, sut)
    reader.begin_open_queue().wait()
    found, frames = [], []
    for association in reader.server.associations:
        for frame, proposals in association.binds:
            offered = {syntax for one in proposals if one.abstract_syntax == QM2QM for syntax in one.transfers}
            if offered:
                found.append({NDR, NDR64} <= offered)
                frames.append(frame)
    judge.all(expected=each(holds("NDR and NDR64 are proposed"), "bind"), observed=found, evidence=frames)


@needs("remote_read")
@covers(
    "MQQP-2.2.1.1-01",
    "MQQP-2.2.1.2-01",
    "MQQP-3.1.4.1-01",
    "MQQP-3.1.4.2-01",
    "MQQP-3.1.4.4-01",
    "MQQP-3.1.4.5-01",
)
def test_client_ends_receives_cursors_and_queues_that_it_began(peer, sut, judge):
    """The SUT opens two queues and a cursor, receives two messages, cancels a third receive, and closes the cursor and
    the queues. The peer gets one RemoteQMEndReceive for each message, one RemoteQMCancelReceive, one
    RemoteQMCloseCursor, and one RemoteQMCloseQueue for each queue.
    """
    reader = Reader(peer, sut)
    remote, beside = reader.open(), reader.open()
    cursor = reader.open_cursor(remote)
    for _ in range(2):
        reader.begin_read(Reading.RECEIVE, remote).wait()
    reader.leave_start_receives_unanswered()
    waiting = reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
    reader.await_start_receives(3)
    reader.begin("cancel", request=waiting.number)
    reader.server.wait("RemoteQMCancelReceive")
    reader.begin("remote_close_cursor", cursor=cursor)
    reader.server.wait("RemoteQMCloseCursor")
    reader.begin("remote_close", remote=remote)
    reader.server.wait("RemoteQMCloseQueue")
    reader.begin("remote_close", remote=beside)
    reader.server.wait("RemoteQMCloseQueue", 2)
    count = {name: len(reader.server.list_calls_of(name)) for name in _list_called_methods(reader)}
    evidence = reader.server.calls[-6:]
    opened = {name: count.get(name, 0) for name in ("RemoteQMOpenQueue", "RemoteQMCloseQueue")}
    twice = {"RemoteQMOpenQueue": 2, "RemoteQMCloseQueue": 2}
    judge("MQQP-2.2.1.1-01", expected=twice, case="number of calls", observed=opened, evidence=evidence)
    judge(
        "MQQP-3.1.4.4-01",
        expected=2,
        case="number of calls of RemoteQMCloseQueue",
        observed=opened["RemoteQMCloseQueue"],
        evidence=evidence,
    )
    judge.conclude("MQQP-2.2.1.1-01", "MQQP-3.1.4.4-01")
    ends = [
        bytes(call.decoded_request.pphContext)
        for call in reader.server.list_calls_of("RemoteQMEndReceive")
        if call.decoded_request is not None
    ]
    handles = [reader.get_receive_handle(read).hex() for read in reader.reads()[:2]]
    judge(
        "MQQP-2.2.1.2-01",
        expected=handles,
        case="handle in RemoteQMEndReceive",
        observed=[end.hex() for end in ends],
        evidence=evidence,
    )
    judge(
        "MQQP-3.1.4.2-01",
        expected=2,
        case="number of calls of RemoteQMEndReceive",
        observed=len(ends),
        evidence=evidence,
    )
    paired = {"RemoteQMEndReceive": len(ends), "RemoteQMCancelReceive": count.get("RemoteQMCancelReceive", 0)}
    ended = {"RemoteQMEndReceive": 2, "RemoteQMCancelReceive": 1}
    judge("MQQP-3.1.4.1-01", expected=ended, case="number of calls", observed=paired, evidence=evidence)
    judge(
        "MQQP-3.1.4.5-01",
        expected=1,
        case="number of calls of RemoteQMCloseCursor",
        observed=count.get("RemoteQMCloseCursor", 0),
        evidence=evidence,
    )


RULE_AND_SERVER_VERSION_BY_METHOD = {
    "RemoteQMStartReceive": ("MQQP-3.1.4.1-10", Reader.WINDOWS_2000_VERSION),
    "RemoteQMEndReceive": ("MQQP-3.1.4.2-08", Reader.WINDOWS_7_VERSION),
    "RemoteQMOpenQueue": ("MQQP-3.1.4.3-12", Reader.WINDOWS_7_VERSION),
    "RemoteQMCloseQueue": ("MQQP-3.1.4.4-03", Reader.WINDOWS_7_VERSION),
    "RemoteQMCloseCursor": ("MQQP-3.1.4.5-03", Reader.WINDOWS_7_VERSION),
    "RemoteQMCancelReceive": ("MQQP-3.1.4.6-05", Reader.WINDOWS_7_VERSION),
    "RemoteQMPurgeQueue": ("MQQP-3.1.4.7-03", Reader.WINDOWS_7_VERSION),
    "RemoteQMStartReceive2": ("MQQP-3.1.4.10-10", Reader.WINDOWS_7_VERSION),
    "RemoteQMStartReceiveByLookupId": ("MQQP-3.1.4.11-18", Reader.WINDOWS_7_VERSION),
}
"""For each method, the rule about its failures, and the server version at which the client calls the method."""


FAILING_METHODS = {
    Method.START_RECEIVE,
    Method.START_RECEIVE2,
    "RemoteQMStartReceiveByLookupId",
    "RemoteQMOpenQueue",
    "RemoteQMPurgeQueue",
}
"""Methods whose failure also makes the application's command fail."""


@needs("remote_read")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=covers(rule), id=name) for name, (rule, _) in RULE_AND_SERVER_VERSION_BY_METHOD.items()],
)
def test_client_treats_all_failures_of_a_method_alike(peer, sut, judge, name):
    """The peer answers calls of one method with nine different failures. For each failure, the SUT makes the same
    number of calls and reports the same result to the application. If the application requested a read, an open or a
    purge, that result is a failure.
    """
    rule, version = RULE_AND_SERVER_VERSION_BY_METHOD[name]
    outcomes, evidence = [], []
    reader = Reader(peer, sut, version)
    for status in FAILURE_STATUSES:
        _answer_method_with_failure(reader, name, status)
        before = len(reader.server.calls)
        ok = _execute_command_calling_method(reader, name)
        reader.await_call_after_count(before, name)
        calls = reader.server.calls[before:]
        evidence += [call for call in calls if call.name == name]
        outcomes.append((ok, tuple(call.name for call in calls)))
    if not evidence:
        judge.mark_not_exercised(rule, reason=f"the SUT does not call {name}")
        return
    ways = {(bool(ok), len(names)) for ok, names in outcomes}
    successes = [ok for ok, _ in outcomes if ok] if name in FAILING_METHODS else []
    expected, observed = (
        facts(number_of_different_reactions_to_a_failure=1, requests_that_succeed=[]),
        {"number_of_different_reactions_to_a_failure": len(ways), "requests_that_succeed": successes},
    )
    judge(rule, expected=expected, observed=observed, evidence=evidence)


def _answer_method_with_failure(reader, name, status):
    """Let the peer return a failure from a method; a method that reads also returns a message."""
    if name in (Method.START_RECEIVE, Method.START_RECEIVE2, "RemoteQMStartReceiveByLookupId"):
        reader.server.answers[name] = lambda call: reader.answer_read(call, reader.build_message(), status)
    else:
        reader.server.answers[name] = lambda call: call.respond(Return=status)


def _execute_command_calling_method(reader, name):
    """Let the SUT execute a command that calls a method; return whether the command succeeds."""
    return _begin_command_calling_method(reader, name).wait().get("ok")


def _begin_command_calling_method(reader, name):
    """Let the SUT begin a command that calls a method; return the pending command."""
    if name == "RemoteQMOpenQueue":
        return reader.begin_open_queue()
    remote = reader.open()
    if name == "RemoteQMCloseCursor":
        cursor = reader.open_cursor(remote)
        return reader.begin("remote_close_cursor", cursor=cursor)
    if name == "RemoteQMCancelReceive":
        reader.leave_start_receives_unanswered()
        so_far = len(reader.reads())
        read = reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(so_far + 1)
        return reader.begin("cancel", request=read.number)
    verb = {
        "RemoteQMCloseQueue": "remote_close",
        "RemoteQMPurgeQueue": "remote_purge",
        "RemoteQMStartReceiveByLookupId": "remote_receive_by_lookup_id",
    }.get(name, "remote_receive")
    more = {"lookup_id": 7} if verb.endswith("lookup_id") else {}
    return reader.begin(verb, remote=remote, **more)


ANSWER_BY_FAULT_KIND = {
    "fault": lambda call: call.fault(ACCESS_DENIED_STATUS),
    "unknown fault": lambda call: call.fault(UNKNOWN_FAULT_STATUS),
    "lost": lambda call: call.association.close(),
}
"""For each case, the way in which the peer ends a call without a status of the method."""


@needs("remote_read")
@pytest.mark.parametrize("way", ANSWER_BY_FAULT_KIND)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=covers(rule), id=name) for name, (rule, _) in RULE_AND_SERVER_VERSION_BY_METHOD.items()],
)
def test_client_reports_call_with_fault_or_lost_connection(peer, sut, judge, name, way):
    """The peer answers a call with a fault, or closes the connection. The SUT reports a failure to the application.
    Afterwards, the SUT can open and read a queue.
    """
    rule, version = RULE_AND_SERVER_VERSION_BY_METHOD[name]
    reader = Reader(peer, sut, version)
    sound = reader.server.answers[name]
    reader.server.answers[name] = ANSWER_BY_FAULT_KIND[way]
    said = _begin_command_calling_method(reader, name).outcome()
    if way == "lost" and name in (
        Method.START_RECEIVE,
        Method.START_RECEIVE2,
    ):  # the connection of a queue that is open still
        again = reader.begin_read(Reading.RECEIVE, reader.remotes[-1]).outcome()
        said = CommandOutcome.NO_ANSWER if again == CommandOutcome.NO_ANSWER else said
    calls = reader.server.list_calls_of(name)
    if not calls:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    if said != CommandOutcome.NO_ANSWER and name not in FAILING_METHODS:
        said = CommandOutcome.NO_SUCCESS  # it may have what it asked for nevertheless
    reader.server.answers |= {
        Method.START_RECEIVE: reader.answer_with_message,
        Method.START_RECEIVE2: reader.answer_with_message,
        name: sound,
    }
    opened = reader.begin_open_queue().wait()
    then = reader.begin_read(Reading.RECEIVE, int(opened["remote"])).outcome() if opened.get("ok") else "not opened"
    judge(
        rule,
        expected=facts(
            request_that_gets_a_malformed_answer=CommandOutcome.NO_SUCCESS,
            request_that_gets_a_valid_answer=CommandOutcome.SUCCESS,
        ),
        observed={"request_that_gets_a_malformed_answer": said, "request_that_gets_a_valid_answer": then},
        evidence=calls,
    )
