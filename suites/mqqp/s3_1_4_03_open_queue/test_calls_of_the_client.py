"""MS-MQQP 3.1.4.3 RemoteQMOpenQueue: the order of the calls of a client. The SUT is the client."""

from __future__ import annotations

import pytest

from harness.expectations import none
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc import NDR, NDR64
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader, Reading

SAMPLE_LOOKUP_ID = 0x0055_0000_0000_0007


OPEN_AND_CLOSE_METHODS = ("RemoteQMOpenQueue", "RemoteQMCloseQueue")


RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD = {
    Method.START_RECEIVE: ("MQQP-3.1.4.1-04", ["MQQP-3.1.4.3-02"]),
    "RemoteQMEndReceive": ("MQQP-3.1.4.2-05", ["MQQP-3.1.4.3-03", "MQQP-3.1.4.2-03"]),
    "RemoteQMCloseQueue": ("MQQP-3.1.4.4-02", ["MQQP-3.1.4.3-04"]),
    "RemoteQMCloseCursor": ("MQQP-3.1.4.5-02", ["MQQP-3.1.4.3-05"]),
    "RemoteQMCancelReceive": ("MQQP-3.1.4.6-04", ["MQQP-3.1.4.3-06", "MQQP-3.1.4.6-02"]),
    "RemoteQMPurgeQueue": ("MQQP-3.1.4.7-02", ["MQQP-3.1.4.3-07", "MQQP-3.1.4.7-01"]),
    "RemoteQMGetQMQMServerPort": ("MQQP-3.1.4.8-01", []),
    "RemoteQmGetVersion": ("MQQP-3.1.4.9-01", []),
    Method.START_RECEIVE2: ("MQQP-3.1.4.10-01", ["MQQP-3.1.4.3-08"]),
    Method.START_RECEIVE_BY_LOOKUP_ID: ("MQQP-3.1.4.11-01", ["MQQP-3.1.4.3-09"]),
}
"""For each method, the rule about its presentation context, and the rules that require an open queue."""


@needs("remote_read")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=covers(rule, *more), id=name)
        for name, (rule, more) in RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD.items()
    ],
)
def test_client_calls_method_on_agreed_context_and_open_queue(peer, sut, judge, name):
    """An application's request makes the SUT call a method of qm2qm. The SUT calls the method on a presentation context
    that the server accepted, after one RemoteQMOpenQueue and before any RemoteQMCloseQueue.
    """
    binding, order = RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD[name]
    reader = Reader(
        peer, sut, Reader.WINDOWS_2000_VERSION if name == Method.START_RECEIVE else Reader.WINDOWS_7_VERSION
    )
    open_queue_and_call_method(reader, name)
    unbound = [(frame, reason) for frame, reason in reader.server.malformed if reason.startswith("context")]
    calls = reader.server.wait(name)
    if not calls and not unbound:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    evidence = [*calls, *(frame for frame, _ in unbound)]
    judge(
        binding,
        expected=none("call on a context that was not accepted"),
        observed=[reason for _, reason in unbound],
        evidence=evidence,
    )
    came = [call.name for call in reader.server.calls]
    before = [one for one in came[: came.index(name) if calls else 0] if one in OPEN_AND_CLOSE_METHODS]
    if order:
        judge(
            *order,
            expected=["RemoteQMOpenQueue"],
            case="earlier calls that open or close a queue",
            observed=before,
            evidence=evidence,
        )


METHODS_OF_PEEKING_CLIENT = (Method.START_RECEIVE, "RemoteQMCloseQueue", "RemoteQMCancelReceive", Method.START_RECEIVE2)


@needs("remote_read")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=covers(*rules), id=name)
        for name, (_, rules) in RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD.items()
        if name in METHODS_OF_PEEKING_CLIENT
    ],
)
def test_client_opens_queue_to_peek_before_other_calls(peer, sut, judge, name):
    """The SUT opens a queue to peek, and calls a method for the queue. RemoteQMOpenQueue precedes this call."""
    _, rules = RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD[name]
    reader = Reader(
        peer, sut, Reader.WINDOWS_2000_VERSION if name == Method.START_RECEIVE else Reader.WINDOWS_7_VERSION
    )
    open_queue_and_call_method(reader, name, access="peek")
    calls = reader.server.wait(name)
    if not calls:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    came = [call.name for call in reader.server.calls]
    judge(
        *rules,
        expected=["RemoteQMOpenQueue"],
        case="earlier calls that open or close a queue",
        observed=[one for one in came[: came.index(name)] if one in OPEN_AND_CLOSE_METHODS],
        evidence=calls,
    )


@needs("remote_read")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=covers(*rules, context), id=name)
        for name, (context, rules) in RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD.items()
    ],
)
def test_client_opens_second_queue_of_server_before_other_calls(peer, sut, judge, name):
    """The SUT has a queue of the peer open. It calls a method for a second queue of the peer, then through a second
    handle of the first queue, and then through a new handle after all handles were closed. Each time, the SUT has
    called RemoteQMOpenQueue for the handle before, and calls the method on a presentation context that the server
    accepted.
    """
    context, rules = RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD[name]
    reader = Reader(
        peer, sut, Reader.WINDOWS_2000_VERSION if name == Method.START_RECEIVE else Reader.WINDOWS_7_VERSION
    )
    remotes = [reader.open()]
    second = rf"DIRECT=TCP:{peer.address}\private$\mqc-second"
    for queue, after_closes in ((second, False), (None, False), (None, True)):
        for remote in remotes if after_closes else ():
            reader.begin("remote_close", remote=remote).wait()
        done = len(reader.server.list_calls_of(name))
        remotes += open_queue_and_call_method(reader, name, queue)
        unbound = [(frame, reason) for frame, reason in reader.server.malformed if reason.startswith("context")]
        calls = reader.server.wait(name, done + 1)[done:]
        if not calls and not done and not unbound:
            judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
            return
        judge(
            context,
            expected=none("call on a context that was not accepted"),
            observed=[reason for _, reason in unbound],
            evidence=[*calls, *(frame for frame, _ in unbound)],
            case="later calls",
        )
        if not calls:
            return
        came = [call.name for call in reader.server.calls[: reader.server.calls.index(calls[0])]]
        handles = max(2, came.count("R_QMOpenRemoteQueue"))
        if rules:
            judge(
                *rules,
                expected=["RemoteQMOpenQueue"] * handles,
                case="earlier calls that open a queue",
                observed=[one for one in came if one == "RemoteQMOpenQueue"],
                evidence=calls,
            )


@needs("remote_read")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=covers(context), id=name)
        for name, (context, _) in RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD.items()
    ],
)
@pytest.mark.parametrize("transfer", [pytest.param(NDR, id="ndr"), pytest.param(NDR64, id="ndr64")])
def test_client_calls_method_on_only_context_that_server_accepts(peer, sut, judge, name, transfer):
    """The peer accepts only one transfer syntax, NDR or NDR64. An application's request makes the SUT call a method of
    qm2qm. The SUT calls the method on a presentation context that the server accepted.
    """
    context, _ = RULES_OF_CALLS_AFTER_OPEN_QUEUE_BY_METHOD[name]
    reader = Reader(
        peer, sut, Reader.WINDOWS_2000_VERSION if name == Method.START_RECEIVE else Reader.WINDOWS_7_VERSION
    )
    reader.server.transfers = (transfer,)
    open_queue_and_call_method(reader, name)
    unbound = [(frame, reason) for frame, reason in reader.server.malformed if reason.startswith("context")]
    calls = reader.server.wait(name)
    if not calls and not unbound:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name} on a server with one transfer syntax")
        return
    judge(
        context,
        expected=none("call on a context that was not accepted"),
        observed=[reason for _, reason in unbound],
        evidence=[*calls, *(frame for frame, _ in unbound)],
        case="server with one transfer syntax",
    )


def open_queue_and_call_method(reader: Reader, name: str, queue: str | None = None, **access: str) -> list[int]:
    """Let the SUT open a queue, by default the peer's queue, and execute a command that calls a method; ignore the
    reply. Return the number of the opened queue, or an empty list if the SUT does not open the queue.
    """
    opened = reader.begin("remote_open", queue=queue or reader.format_name, **access).wait()
    if not opened.get("ok"):
        return []
    remote = int(opened["remote"])
    reading = Reading.PEEK if access else Reading.RECEIVE
    if name == "RemoteQMCancelReceive":
        reader.leave_start_receives_unanswered()
        begun = len(reader.reads())
        read = reader.begin_read(reading, remote, Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(begun + 1)
        reader.begin("cancel", request=read.number).wait()
    elif name == "RemoteQMCloseCursor":
        reader.begin("remote_close_cursor", cursor=reader.open_cursor(remote)).wait()
    elif name == "RemoteQMCloseQueue":
        reader.begin("remote_close", remote=remote).wait()
    elif name == "RemoteQMPurgeQueue":
        reader.begin("remote_purge", remote=remote).wait()
    elif name == Method.START_RECEIVE_BY_LOOKUP_ID:
        reader.begin("remote_receive_by_lookup_id", remote=remote, lookup_id=SAMPLE_LOOKUP_ID).wait()
    else:
        reader.begin_read(reading, remote).wait()
    return [remote]
