"""MS-MQQP 3.2.4.1 Opening a Queue."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import any_order, each, facts, fields, holds, one_of
from harness.peer.rpc_server import ServedCall
from harness.run.marks import covers, needs
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import Method, PortType
from suites.mqqp.steps.reader import CommandOutcome, Reader, Reading

FIVE_MINUTES_MS = 300_000
INVALID_PORTS = (0, 0x1_0000, 0xFFFF_FFFF)
UNRESOLVABLE_QUEUE_NAME = r"DIRECT=OS:no-such-host.invalid\private$\mqc-far"
QUEUE_NOT_FOUND_STATUS = 0xC00E_0003
"""The status MQ_ERROR_QUEUE_NOT_FOUND."""
HIGH_TIMER_ACCELERATION = 200
"""The factor by which the check speeds up the SUT's timers."""


def _list_qm2qm_associations(reader):
    """Return the peer's RPC associations that are bound to qm2qm, in order."""
    return [
        one
        for one in reader.server.associations
        if any(proposal.abstract_syntax == QM2QM for _, proposals in one.binds for proposal in proposals)
    ]


@needs("remote_read")
@covers(
    "MQQP-3.2.4.1-02", "MQQP-3.2.4.1-03", "MQQP-3.2.4.1-04", "MQQP-3.2.4.1-05", "MQQP-3.2.4.1-08", "MQQP-3.2.4.1-09"
)
def test_client_binds_at_returned_port_and_opens_queue_there(peer, sut, judge):
    """The SUT opens three queues one after the other, the last one to peek. For each queue, it binds to qm2qm, requests
    the port of IP_READ, binds to qm2qm at that port, calls RemoteQMOpenQueue there, and then closes the first binding.
    The ports of the first two queues differ.
    """
    reader = Reader(peer, sut)
    judge_opening_of_queue(peer, sut, judge, reader)
    reader.server.move_read_port()
    judge_opening_of_queue(peer, sut, judge, reader)
    judge_opening_of_queue(peer, sut, judge, reader, access="peek")


def judge_opening_of_queue(peer, sut, judge, reader, **access):
    """Let the SUT open a queue, and judge its bindings and its calls of qm2qm."""
    server, calls_before, bound_before = reader.server, len(reader.server.calls), len(_list_qm2qm_associations(reader))

    def list_calls_since_start(name):
        return [call for call in server.calls[calls_before:] if call.name == name]

    request = reader.begin("remote_open", queue=reader.format_name, **access)
    peer.wait(lambda: bool(list_calls_since_start("RemoteQMOpenQueue")), None, "RemoteQMOpenQueue")
    bound = _list_qm2qm_associations(reader)[bound_before:]
    frames = [frame for one in bound for frame, _ in one.binds]
    ports = [one.port for one in bound]
    judge(
        "MQQP-3.2.4.1-02",
        expected=server.port,
        case="port to which the client binds first",
        observed=ports[0] if ports else "none",
        evidence=frames,
    )
    asked = list_calls_since_start("RemoteQMGetQMQMServerPort")
    evidence = [*frames, *(frame for call in asked for frame in call.evidence)]
    types = [
        {"dwPortType": call.decoded_request.dwPortType, "on_the_first_binding": call.association in bound[:1]}
        for call in asked
        if call.decoded_request is not None
    ]
    port = facts(dwPortType=PortType.IP_READ, on_the_first_binding=True)
    judge(
        "MQQP-3.2.4.1-03",
        expected=[port],
        case="number of calls of RemoteQMGetQMQMServerPort",
        observed=types,
        evidence=evidence,
    )
    request.outcome()
    peer.pass_time(sut.quiet_ms)
    opened = list_calls_since_start("RemoteQMOpenQueue")
    evidence += [frame for call in opened for frame in call.evidence]
    judge(
        "MQQP-3.2.4.1-08",
        expected=1,
        case="number of calls of RemoteQMOpenQueue",
        observed=len(opened),
        evidence=evidence,
    )
    judge(
        "MQQP-3.2.4.1-04",
        expected=[server.read_port],
        case="port of RemoteQMOpenQueue",
        observed=[one.port for one in opened],
        evidence=evidence,
    )
    on_the_second = [one.association for one in opened] == bound[1:2]
    second = holds("the client calls RemoteQMOpenQueue on the second binding")
    judge("MQQP-3.2.4.1-09", expected=second, observed=on_the_second, evidence=evidence)
    closed = {
        "first_binding": [one.wait_closed() for one in bound[:1]],
        "second_binding": [one.wait_closed(sut.quiet_ms) for one in bound[1:]],
    }
    expected = facts(first_binding=[True], second_binding=[False])
    judge("MQQP-3.2.4.1-05", expected=expected, observed=closed, case="binding is closed", evidence=evidence)


@needs("remote_read")
@covers("MQQP-3.2.4.1-10", "MQQP-3.2.4.1-12", "MQQP-3.2.4.1-13", "MQQP-3.2.4.1-14")
def test_client_open_queue_has_own_guid_and_returned_handles(peer, sut, judge):
    """The SUT opens one queue to receive and one to peek. In each RemoteQMOpenQueue, pLicGuid is the SUT's identifier;
    hQueue, pQueue and dwpContext are phQueue, dwpQueue and pdwContext that R_QMOpenRemoteQueue returned.
    """
    reader = Reader(peer, sut)
    reader.open()
    call = reader.await_first_call("RemoteQMOpenQueue")
    reader.open(access="peek")
    second = reader.server.list_calls_of("RemoteQMOpenQueue")[-1]
    judge(
        "MQQP-3.2.4.1-10",
        expected=each(sut.guid, "pLicGuid"),
        observed=[UUID(bytes_le=bytes(one.decoded_request.pLicGuid)) for one in (call, second)],
        evidence=[call, second],
    )
    for rule, name, *expected in (
        ("MQQP-3.2.4.1-12", "hQueue", Reader.FIRST_QUEUE_HANDLES.queue, Reader.SECOND_QUEUE_HANDLES.queue),
        ("MQQP-3.2.4.1-13", "pQueue", Reader.FIRST_QUEUE_HANDLES.descriptor, Reader.SECOND_QUEUE_HANDLES.descriptor),
        ("MQQP-3.2.4.1-14", "dwpContext", Reader.FIRST_QUEUE_HANDLES.context, Reader.SECOND_QUEUE_HANDLES.context),
    ):
        found = [getattr(one.decoded_request, name) for one in (call, second)]
        judge(rule, expected=expected, case=name, observed=found, evidence=[*call.evidence, *second.evidence])


@needs("remote_read")
@covers("MQQP-3.2.4.1-11")
def test_client_open_queue_has_dw_mqs_of_its_role(peer, sut, judge):
    """The SUT opens two queues to receive and one to peek: dwMQS of each RemoteQMOpenQueue is 1 for a routing or
    directory server, and 0 for any other SUT. If the SUT does not show its role, both values are accepted.
    """
    reader = Reader(peer, sut)
    reader.open()
    call = reader.await_first_call("RemoteQMOpenQueue")
    reader.open()
    reader.open(access="peek")
    calls = reader.server.list_calls_of("RemoteQMOpenQueue")
    allowed = [0, 1]
    if sut.has("inspect"):
        machine = sut.inspect()["QueueManager"]
        allowed = [int(bool(machine.get("RoutingServer") or machine.get("DirectoryServer")))]
    judge.all(expected=one_of(*allowed), observed=call.decoded_request.dwMQS, case="dwMQS", evidence=call.evidence)
    found = {one.decoded_request.dwMQS for one in calls if one.decoded_request is not None}
    judge.all(expected={call.decoded_request.dwMQS}, observed=found, case="dwMQS of all openings", evidence=calls)


@needs("remote_read")
@covers("MQQP-3.2.4.1-06")
def test_client_without_second_binding_makes_no_further_call(peer, sut, judge):
    """RemoteQMGetQMQMServerPort returns a port at which no server listens, or an invalid port. The SUT does not open
    the queue, and makes no further call. The SUT also does not open a queue if the host name has no address. The check
    runs these steps while no queue is open, and again while another queue is open.
    """
    reader = Reader(peer, sut)
    judge_failed_openings(judge, reader)
    reader.server.answers["RemoteQMGetQMQMServerPort"] = lambda call: call.respond(Return=reader.server.read_port)
    reader.open()
    judge_failed_openings(judge, reader)


def judge_failed_openings(judge, reader):
    """Let the SUT open queues for which the peer returns unusable ports, and judge the calls that the SUT makes."""
    calls_before = len(reader.server.calls)
    nowhere = reader.server.find_unused_port()
    outcomes = []
    for port in (nowhere, *INVALID_PORTS):
        reader.server.answers["RemoteQMGetQMQMServerPort"] = partial(ServedCall.respond, Return=port)
        outcomes.append(reader.begin_open_queue().outcome())
    asked = reader.server.list_calls_of("RemoteQMGetQMQMServerPort")
    outcomes.append(reader.begin("remote_open", queue=UNRESOLVABLE_QUEUE_NAME).outcome())
    called = {call.name for call in reader.server.calls[calls_before:] if call.operation.interface == QM2QM}
    expected = facts(called_methods={"RemoteQMGetQMQMServerPort"}, opens_of_the_queue=each(CommandOutcome.NO_SUCCESS))
    judge.all(expected=expected, observed={"called_methods": called, "opens_of_the_queue": outcomes}, evidence=asked)


@needs("remote_read")
@covers("MQQP-3.2.4.1-07")
def test_client_closes_binding_with_queue(peer, sut, judge):
    """The SUT has five queues open, and the connections on which it called RemoteQMOpenQueue are all open. The
    application closes four queues one after the other: a queue with a cursor, a queue with a waiting peek, a queue with
    a waiting peek whose cancellation fails, and a queue whose RemoteQMCloseQueue returns a failure. Each time, only the
    connection of the closed queue closes.
    """
    reader = Reader(peer, sut)
    remotes = [reader.open() for _ in range(5)]
    calls = reader.server.wait("RemoteQMOpenQueue", 5)
    before = [call.association.over for call in calls]
    reader.open_cursor(remotes[1])
    reader.leave_start_receives_unanswered()
    for count, number in enumerate((2, 3), 1):
        reader.begin_read(Reading.PEEK, remotes[number], Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(count)
    failing_methods = {3: Method.CANCEL_RECEIVE, 4: Method.CLOSE_QUEUE}
    after = []
    for number in (1, 2, 3, 4):
        if number in failing_methods:
            reader.server.answers[failing_methods[number]] = lambda call: call.respond(Return=QUEUE_NOT_FOUND_STATUS)
        reader.begin("remote_close", remote=remotes[number]).wait()
        calls[number].association.wait_closed()
        after.append([call.association.over for call in calls])
    observed = {"while_open": before, "after_each_close": after}
    closed = [[1 <= number <= last for number in range(5)] for last in (1, 2, 3, 4)]
    judge.all(
        expected=facts(while_open=each(False), after_each_close=closed),
        observed=observed,
        case="binding is closed",
        evidence=calls,
    )


@needs("remote_read", "set_timers")
@covers("MQQP-3.2.4.1-15", "MQQP-3.2.4.1-16")
def test_client_cancels_open_queue_after_five_minutes(peer, sut, judge):
    """The peer does not answer RemoteQMOpenQueue. After five minutes, the SUT cancels the call. It also cancels a
    second such call.

    Reads of a queue that is already open succeed before and after the cancelled call.
    """
    sut.set_timers(scale=1 if peer.environment.is_time_virtual else HIGH_TIMER_ACCELERATION)
    reader = Reader(peer, sut)
    opened = reader.open()
    before = reader.begin("remote_receive", remote=opened, timeout_ms=0).outcome()
    reader.server.answers.pop("RemoteQMOpenQueue")
    request = reader.begin_open_queue()
    calls = reader.server.wait("RemoteQMOpenQueue", 2)
    if len(calls) < 2:
        raise ConformanceFailure("the SUT does not open a second queue")
    call = calls[1]
    began_ms = peer.recorder.elapsed_ms()
    limit_ms = sut.duration_ms(FIVE_MINUTES_MS)
    slack_ms = sut.slack_ms(FIVE_MINUTES_MS) + sut.response_timeout_ms
    peer.environment.run_until(lambda: bool(call.frames_of_cancel_pdus) or call.association.over, limit_ms + slack_ms)
    took = peer.measure_duration(began_ms)
    given_up = bool(call.frames_of_cancel_pdus) or call.association.over
    earliest_ms, _ = took.get_allowed_range(limit_ms - sut.slack_ms(FIVE_MINUTES_MS), max(took.ms, limit_ms))
    evidence = [*call.evidence, *call.frames_of_cancel_pdus]
    others = reader.begin("remote_receive", remote=opened, timeout_ms=0).outcome()
    observed = {
        "read_before_the_call": before,
        "the_call_is_cancelled": given_up,
        "the_call_is_cancelled_too_early": took.ms < earliest_ms,
        "read_after_the_call": others,
    }
    expected = facts(
        read_before_the_call=CommandOutcome.SUCCESS,
        the_call_is_cancelled=True,
        the_call_is_cancelled_too_early=False,
        read_after_the_call=CommandOutcome.SUCCESS,
    )
    judge("MQQP-3.2.4.1-15", expected=expected, observed=observed, evidence=evidence)
    cancelled = holds("the call is cancelled")
    judge("MQQP-3.2.4.1-16", expected=cancelled, observed=bool(call.frames_of_cancel_pdus), evidence=evidence)
    judge.conclude()
    request.wait()
    again = reader.begin_open_queue()
    later = reader.server.wait("RemoteQMOpenQueue", 3)[2:]
    if later:
        peer.environment.run_until(
            lambda: bool(later[0].frames_of_cancel_pdus) or later[0].association.over, limit_ms + slack_ms
        )
        judge(
            "MQQP-3.2.4.1-16",
            expected=cancelled,
            observed=bool(later[0].frames_of_cancel_pdus),
            case="second call",
            evidence=[*later[0].evidence, *later[0].frames_of_cancel_pdus],
        )
        judge.conclude()
    again.wait()


@needs("remote_read", "inspect")
@covers("MQQP-3.2.4.1-17", "MQQP-3.2.4.1-20")
def test_client_keeps_entry_of_open_queue(peer, sut, judge):
    """RemoteOpenQueueEntryCollection is empty before the SUT opens two queues, one of them to peek. Afterwards, the
    collection contains two entries, each with the handle of a queue and the context handle that RemoteQMOpenQueue
    returned for it. A queue whose RemoteQMOpenQueue fails has no entry.
    """
    reader = Reader(peer, sut)
    counts = [len(reader.list_open_queue_entries())]
    for access in ("receive", "peek"):
        reader.open(access=access)
        counts.append(len(reader.list_open_queue_entries()))
    entries = reader.list_open_queue_entries()
    reader.server.answers[Method.OPEN_QUEUE] = lambda call: call.respond(Return=QUEUE_NOT_FOUND_STATUS)
    reader.begin_open_queue().outcome()
    counts.append(len(reader.list_open_queue_entries()))
    calls = reader.server.wait("RemoteQMOpenQueue", 3)
    judge("MQQP-3.2.4.1-20", expected=[0, 1, 2, 2], observed=counts, case="numbers of entries", evidence=calls)
    names = ("OpenQueueDescriptorHandle", "RRSessionHandle")
    found = [{name: one[name] for name in names} for one in entries]
    expected = [
        fields(OpenQueueDescriptorHandle=one.queue, RRSessionHandle=str(UUID(bytes_le=one.session[4:])))
        for one in (Reader.FIRST_QUEUE_HANDLES, Reader.SECOND_QUEUE_HANDLES)
    ]
    judge("MQQP-3.2.4.1-17", expected=any_order(*expected), observed=found, evidence=calls)
