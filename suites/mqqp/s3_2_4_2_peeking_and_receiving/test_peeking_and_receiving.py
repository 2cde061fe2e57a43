"""MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6: peeking and receiving, with and without a cursor.

Each check runs for each of the four sections; ``sections.py`` lists their rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, distinct_values, each, facts, holds
from harness.judging.judge import Judge
from harness.judging.verdicts import Verdict
from harness.peer.rpc_server import ServedCall
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatNameId, dissect, user_message
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, Ack, Action, Method
from suites.mqqp.s3_2_4_2_peeking_and_receiving.repeated import judge_cancel_in_second_queue, judge_repeated_reads
from suites.mqqp.s3_2_4_2_peeking_and_receiving.sections import parametrize_section
from suites.mqqp.steps.reader import Reader, Reading
from suites.mqqp.steps.whole import MessageKind, build_message_without_default_values
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

pytestmark = needs("remote_read")

VERSION_NOT_REQUESTED_REASON = (
    "the SUT does not call RemoteQmGetVersion and always calls RemoteQMStartReceive, as Windows 2000 does"
)
READ_TIMEOUTS_MS = ((70_001, 0, 100_000_000), (INFINITE_TIMEOUT_MS, 0x9000_0001))
"""Two groups of timeouts of reads in ms: the first group has a timeout of more than 16 bits, the smallest timeout, and
a timeout of more than a day; the second group has the largest timeout and a timeout of 32 bits.
"""
IO_TIMEOUT_STATUS, ACCESS_DENIED_STATUS = 0xC00E_001B, 0x0000_0005
"""The status MQ_ERROR_IO_TIMEOUT, and the fault status for access denied."""
LIFETIME_PROPERTIES = ("time_to_reach_queue_s", "time_to_be_received_s")
"""Properties that may show the remaining time of a message instead of the time that the sender set."""
VERSIONS_AND_METHOD_BY_CASE = {
    "below_5": ([(0, 0, 0), (4, 0, 1_381), (4, 9, 9_999), (4, 255, 65_535)], Method.START_RECEIVE),
    "below_5_1": ([Reader.WINDOWS_2000_VERSION, (5, 0, 951), (5, 0, 65_535)], Method.START_RECEIVE),
    "early_build": ([(5, 0, 0), (5, 0, 950)], Method.START_RECEIVE),
    "old": ([Reader.WINDOWS_2000_VERSION], Method.START_RECEIVE),
    "new": (
        [
            (5, 1, 951),
            (5, 1, 2_600),
            Reader.WINDOWS_2003_VERSION,  # E136: what is before (5, 1, 951) may be old
            (6, 0, 0),
            (6, 1, 500),
            (10, 0, 0),
            (255, 0, 950),
        ],
        Method.START_RECEIVE2,
    ),
    "check": ([Reader.WINDOWS_7_VERSION], Method.START_RECEIVE2),
}
"""For each rule, the versions that the peer returns, and the method that the SUT must call."""
OLD_SERVER_VERSION_CASES = ("below_5", "below_5_1", "early_build")
"""The rules that define a server that is too old for RemoteQMStartReceive2. The rule ``old`` of each section names the
method for such a server.
"""


@parametrize_section(lambda section: [*section.start_receive_rules.values(), *section.start_receive2_rules.values()])
@covers("MQQP-2.2.2.1-D03")
def test_client_read_has_required_fields(peer, sut, judge, section):
    """The SUT has read a queue of the peer twice and closed it. It has then opened the queue three more times, with
    cursors, and has read through the second handle. Each further read through this handle has the required value in
    each field. If the peer returned version 5.0, these are the fields of REMOTEREADDESC in RemoteQMStartReceive; if it
    returned version 6.1, those of REMOTEREADDESC2 in RemoteQMStartReceive2. Simultaneous reads have different
    dwRequestIDs.
    """
    reader, reading = Reader(peer, sut), section.reading
    closed = reader.open()
    at_closed = reader.open_cursor(closed) if reading.by_cursor else None
    for _ in range(2):
        reader.begin_read(reading, closed, cursor=at_closed).outcome()
    judge_repeated_reads(
        reader, judge, reader.reads(), Method.START_RECEIVE2, section.start_receive2_rules, reading.action
    )
    reader.begin("remote_close", remote=closed).wait()
    remotes = [reader.open() for _ in range(3)]
    cursor = None
    if reading.by_cursor:
        _, cursor, _ = (reader.open_cursor(one) for one in (remotes[0], remotes[1], remotes[1]))
    else:
        reader.begin_read(Reading.PEEK_CURRENT_BY_CURSOR, remotes[1]).outcome()
    old = Reader.WINDOWS_2000_VERSION, Method.START_RECEIVE, section.start_receive_rules
    new = Reader.WINDOWS_7_VERSION, Method.START_RECEIVE2, section.start_receive2_rules
    asks_version = True
    for timeouts_ms in READ_TIMEOUTS_MS:
        for version, method, rules in (old, new) if asks_version else (old,):
            reader.set_version(*version)
            where = remotes[1], cursor
            asks_version &= judge_fields_of_reads(reader, judge, reading, (method, rules), where, timeouts_ms)
    if reading is Reading.PEEK_NEXT_BY_CURSOR:
        for version, method, rules in (old, new) if asks_version else (old,):
            reader.set_version(*version)
            current = Reading.PEEK_CURRENT_BY_CURSOR
            judge_fields_of_reads(reader, judge, current, (method, rules), (remotes[1], cursor), (0,))
    for version, _, rules in (old, new) if asks_version else (old,):
        reader.set_version(*version)
        judge_ids_of_simultaneous_reads(reader, judge, reading, rules["dwRequestID"], (remotes[1], cursor))
    if not asks_version:
        judge.conclude(*section.start_receive_rules.values(), "MQQP-2.2.2.1-D03")
        judge.give_up(Verdict.NOT_APPLICABLE, VERSION_NOT_REQUESTED_REASON)


def judge_fields_of_reads(
    reader: Reader,
    judge: Judge,
    reading: Reading,
    demand: tuple[str, Mapping[str, str]],
    where: tuple[int, int | None],
    timeouts_ms: tuple[int, ...],
) -> bool:
    """Judge the fields of the SUT's reads with the given timeouts, after the peer has answered a first read. Return
    whether the SUT calls RemoteQmGetVersion where the rules of these reads require that call.

    ``demand``: the method, and the rule about each field. ``where``: the queue and the cursor of the reads.
    """
    (method, rules), (remote, cursor) = demand, where
    begun, requests = len(reader.reads()), []
    reader.answer_start_receives_with_message()
    for number, timeout_ms in enumerate((Reader.READ_TIMEOUT_MS, *timeouts_ms), begun + 1):
        requests.append(reader.begin_read(reading, remote, timeout_ms, cursor))
        if timeout_ms == Reader.READ_TIMEOUT_MS:
            requests[0].outcome()
            reader.leave_start_receives_unanswered()
        reader.run_until_start_receives(number)
        calls = reader.reads()[begun:]
        if len(calls) < len(requests):
            judge(
                rules["ulAction"],
                expected=reading.action,
                observed="the SUT did not call RemoteQMStartReceive",
                evidence=reader.server.calls,
            )
            return True
        called, asks = calls[-1].name, reader.server.list_calls_of("RemoteQmGetVersion")
        if method == Method.START_RECEIVE2 and called == Method.START_RECEIVE and not asks:
            return False
        if called != method:
            raise ConformanceFailure(f"the SUT called {called} instead of {method}")
        judge_fields_of_read(reader, judge, rules, calls[-1], build_required_numeric_read_fields(reading, timeout_ms))
    before = len(reader.server.list_calls_of("RemoteQMCancelReceive"))
    reader.begin("cancel", request=requests[1].number)
    cancels = reader.server.wait("RemoteQMCancelReceive", before + 1)[before:]
    judge(
        rules["dwRequestID"],
        expected=[reader.get_read_description(calls[1]).dwRequestID],
        case="dwRequestID of RemoteQMCancelReceive",
        observed=[call.decoded_request.dwRequestID for call in cancels if call.decoded_request is not None],
        evidence=[calls[1], *cancels],
    )
    judge(
        rules["dwRequestID"],
        expected=distinct_values("dwRequestIDs", len(timeouts_ms)),
        observed=[reader.get_read_description(call).dwRequestID for call in calls[1:]],
        evidence=calls,
    )
    return True


def judge_ids_of_simultaneous_reads(
    reader: Reader, judge: Judge, reading: Reading, rule: str, where: tuple[int, int | None]
) -> None:
    """Judge dwRequestID of two reads that begin before the peer answers RemoteQmGetVersion."""
    held: list[ServedCall] = []
    begun, answer, (remote, cursor) = len(reader.reads()), reader.server.answers[Method.GET_VERSION], where
    reader.server.answers[Method.GET_VERSION] = held.append
    timeouts_ms = (Reader.LONG_TIMEOUT_MS, Reader.LONG_TIMEOUT_MS + 1)
    requests = [reader.begin_read(reading, remote, one, cursor) for one in timeouts_ms]
    reader.peer.environment.run_until(lambda: len(held) == len(requests), reader.sut.quiet_ms)
    reader.server.answers[Method.GET_VERSION] = answer
    for call in held:
        answer(call)
    reader.run_until_start_receives(begun + len(requests))
    calls = reader.reads()[begun:]
    ids = {reader.get_read_description(one).ulTimeout: reader.get_read_description(one).dwRequestID for one in calls}
    if set(ids) != set(timeouts_ms):
        return
    before = len(reader.server.list_calls_of("RemoteQMCancelReceive"))
    reader.begin("cancel", request=requests[0].number)
    cancels = reader.server.wait("RemoteQMCancelReceive", before + 1)[before:]
    observed = {
        "dwRequestIDs_differ": len(set(ids.values())) == len(ids),
        "dwRequestID_of_RemoteQMCancelReceive": [
            call.decoded_request.dwRequestID for call in cancels if call.decoded_request is not None
        ],
    }
    expected = facts(dwRequestIDs_differ=True, dwRequestID_of_RemoteQMCancelReceive=[ids[timeouts_ms[0]]])
    judge(rule, expected=expected, observed=observed, case="simultaneous reads", evidence=[*calls, *cancels])


def judge_fields_of_read(
    reader: Reader, judge: Judge, rules: Mapping[str, str], call: ServedCall, numbers: Mapping[str, int]
) -> None:
    """Judge the fields of a read; ``numbers``: the required values of the numeric fields."""
    asked = reader.get_read_description(call)
    for name, expected in numbers.items():
        if name in rules:
            holder = call.decoded_request.lpRemoteReadDesc2 if name == "SequentialId" else asked
            judge(rules[name], expected=expected, case=name, observed=getattr(holder, name), evidence=call.evidence)
    judge(
        rules["lpBuffer"],
        expected=holds("lpBuffer is NULL"),
        observed=asked.lpBuffer is None,
        evidence=call.evidence,
    )
    judge("MQQP-2.2.2.1-D03", expected=0, observed=asked.Reserved, case="Reserved", evidence=call.evidence)


def build_required_numeric_read_fields(reading: Reading, timeout_ms: int) -> dict[str, int]:
    """Return the required numeric fields, except dwRequestID, of a read by the third handle and cursor."""
    return {
        "hRemoteQueue": Reader.THIRD_QUEUE_HANDLES.queue,
        "dwQueue": Reader.THIRD_QUEUE_HANDLES.descriptor,
        "hCursor": 2 * Reader.SECOND_CURSOR_HANDLE - Reader.FIRST_CURSOR_HANDLE if reading.by_cursor else 0,
        "ulAction": reading.action,
        "ulTimeout": timeout_ms,
        "dwSize": 0,
        "SequentialId": 0,
    }


@parametrize_section(lambda section: section.version.values())
def test_client_chooses_read_method_by_server_version(peer, sut, judge, section):
    """The peer has returned version 6.1 for an earlier read, and a peek of the queue waits. Then the peer returns many
    versions. The SUT calls RemoteQmGetVersion before each read. It then calls RemoteQMStartReceive for versions below
    5.1, and RemoteQMStartReceive2 for later versions.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    given_up = False
    reader.begin_read(section.reading, remote, cursor=cursor).outcome()
    reader.leave_start_receives_unanswered()
    reader.begin_read(Reading.PEEK, remote, Reader.LONG_TIMEOUT_MS)
    reader.await_start_receives(2)
    reader.answer_start_receives_with_message()
    for about, version, method in (
        (about, one, how) for about, (versions, how) in VERSIONS_AND_METHOD_BY_CASE.items() for one in versions
    ):
        reader.set_version(*version)
        before = len(reader.server.calls)
        reader.begin_read(section.reading, remote, cursor=cursor).outcome()
        calls = reader.server.calls[before:]
        called = [call.name for call in calls if call.name in (Method.START_RECEIVE, Method.START_RECEIVE2)]
        asked = [call.name for call in calls[:1]] == ["RemoteQmGetVersion"]
        if not asked and about in ("new", "old"):
            given_up = True
            continue
        if asked and about != "check":
            judge(section.version["check"], expected=[method], case="called methods", observed=called, evidence=calls)
        if about in OLD_SERVER_VERSION_CASES:
            judge(
                section.version[about],
                expected=holds("RemoteQMStartReceive2 is not called"),
                observed=Method.START_RECEIVE2 not in called,
                evidence=calls,
            )
            if asked:
                judge(section.version["old"], expected=[method], case="called methods", observed=called, evidence=calls)
            continue
        judge(section.version[about], expected=[method], case="called methods", observed=called, evidence=calls)
        if about == "check":
            judge(
                section.version["version"],
                expected=holds("RemoteQmGetVersion is called first"),
                observed=asked,
                evidence=calls,
            )
    if given_up:
        judge.give_up(Verdict.NOT_APPLICABLE, VERSION_NOT_REQUESTED_REASON)


@parametrize_section(lambda section: section.entry.values())
def test_client_cancels_pending_read_by_its_request_id(peer, sut, judge, section):
    """Two reads of one queue and one read of a second queue wait, and the peer answers the first of them. Then a third
    read of the first queue, and one read of each other kind, wait. All waiting reads have different dwRequestIDs. The
    application cancels the first waiting read of the first queue. It then cancels a read of the second queue without a
    time limit, which began after a third queue was opened. Each time, RemoteQMCancelReceive contains the dwRequestID
    and the phQueue of the cancelled read.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.leave_start_receives_unanswered()
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    requests = reader.begin_reads_with_long_timeout(section.reading, remote, 2, cursor)
    second = reader.open()
    reader.begin_read(section.reading, second, Reader.LONG_TIMEOUT_MS)
    reader.answer_with_message(reader.await_start_receives(3)[0])
    requests[0].outcome()
    requests.append(reader.begin_read(section.reading, remote, Reader.LONG_TIMEOUT_MS, cursor))
    reader.await_start_receives(4)
    for number, other in enumerate(Reading, 5):
        reader.begin_read(other, remote, Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(number)
    calls = reader.reads()[1:]
    numbers = [reader.get_read_description(call).dwRequestID for call in calls]
    evidence = [*calls]
    rules = section.entry
    differ = holds("each read has a unique dwRequestID")
    judge(
        rules["identifier"],
        rules["unique"],
        expected=differ,
        observed=len(set(numbers)) == len(numbers),
        evidence=evidence,
    )
    reader.begin("cancel", request=requests[1].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    evidence += cancels
    found = [call.decoded_request.dwRequestID for call in cancels if call.decoded_request is not None]
    judge(
        rules["create"],
        rules["add"],
        expected=numbers[:1],
        case="dwRequestIDs in RemoteQMCancelReceive",
        observed=found,
        evidence=evidence,
    )
    handles = [call.decoded_request.hQueue for call in cancels if call.decoded_request is not None]
    judge(
        rules["handle"], expected=[Reader.FIRST_QUEUE_HANDLES.queue], case="hQueue", observed=handles, evidence=evidence
    )
    judge_cancel_in_second_queue(reader, judge, section, second)


@needs("inspect")
@parametrize_section(lambda section: [section.entry_removal_rule, section.entry["add"]])
def test_answered_read_is_removed_from_pending_reads(peer, sut, judge, section):
    """Two reads of a queue wait. The peer answers the second read with a message, a failure or a fault, or answers its
    RemoteQMEndReceive with a failure. PendingRemoteReadEntryCollection contains the entries of both reads before the
    answer, and only the entry of the first read afterwards. When the connection of the reads is lost, the collection
    contains no entry.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.leave_start_receives_unanswered()
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    reader.begin_read(section.reading, remote, Reader.LONG_TIMEOUT_MS, cursor)
    waiting = reader.get_read_description(reader.await_start_receives()[0]).dwRequestID
    answers = (
        lambda call: reader.answer_with_message(call),
        lambda call: reader.answer_read(call, None, IO_TIMEOUT_STATUS),
        lambda call: call.fault(ACCESS_DENIED_STATUS),
        lambda call: reader.answer_with_message(call),
    )
    for number, answer in enumerate(answers, 2):
        if number == len(answers) + 1:
            reader.server.answers[Method.END_RECEIVE] = lambda call: call.respond(Return=IO_TIMEOUT_STATUS)
        request = reader.begin_read(section.reading, remote, Reader.LONG_TIMEOUT_MS, cursor)
        call = reader.await_start_receives(number)[-1]
        before = [one["RequestId"] for one in reader.list_pending_read_entries()]
        answer(call)
        request.wait()
        after = [one["RequestId"] for one in reader.list_pending_read_entries()]
        judge.all(
            expected=facts(
                entries_before_answer=any_order(waiting, reader.get_read_description(call).dwRequestID),
                entries_after_answer=[waiting],
            ),
            observed={"entries_before_answer": before, "entries_after_answer": after},
            evidence=call.evidence,
        )
    request = reader.begin_read(section.reading, remote, Reader.LONG_TIMEOUT_MS, cursor)
    lost = reader.await_start_receives(len(answers) + 2)[-1]
    lost.association.close()
    request.wait()
    left = [one["RequestId"] for one in reader.list_pending_read_entries()]
    judge(
        section.entry_removal_rule,
        expected=[],
        observed=left,
        case="entries after the connection was lost",
        evidence=[lost],
    )


LONGEST_LABEL = "label " * 41 + "end"
"""A label of 249 characters, the longest that a packet can contain."""


def begin_reads_of_other_kinds(reader: Reader, reading: Reading, remote: int) -> None:
    """Let the SUT read a message from another queue, begin a peek of the given queue that waits, and begin a read of
    the given queue that fails.
    """
    reader.begin_read(reading, reader.open()).outcome()
    reader.leave_start_receives_unanswered()
    reader.begin_read(Reading.PEEK, remote, Reader.LONG_TIMEOUT_MS)
    reader.await_start_receives(2)
    for name in (Method.START_RECEIVE, Method.START_RECEIVE2):
        reader.server.answers[name] = lambda call: reader.answer_read(call, None, IO_TIMEOUT_STATUS)
    reader.begin_read(reading, remote).outcome()


@pytest.mark.parametrize("version", [Reader.WINDOWS_2000_VERSION, Reader.WINDOWS_7_VERSION], ids=["old", "new"])
@parametrize_section(lambda section: section.message.values())
def test_client_delivers_message_and_acknowledges_receive(peer, sut, judge, section, version):
    """A read of another queue has ended, a peek of the queue waits, and a read has failed. The peer answers reads with
    several messages: with every property set, without a body, with a body of 70,000 bytes, with a body that ends with
    zeros, and with the longest label. The application receives every property. Then two reads without a time limit
    wait, and the peer answers the later read first. For each receive, the SUT sends one RemoteQMEndReceive with the
    handle of the receive and RR_ACK, even if that call fails.
    """
    reader, rules = Reader(peer, sut, version), section.message
    bodies = (b"", bytes(range(250)) * 280, b"\x01\0\0")
    messages = [
        *(
            build_message_without_default_values(
                peer, f"{Reader.MESSAGE_LABEL} {kind}", kind, destination=reader.destination
            )
            for kind in MessageKind
        ),
        *(
            build_message_without_default_values(peer, Reader.MESSAGE_LABEL, destination=reader.destination, body=one)
            for one in bodies
        ),
        build_message_without_default_values(peer, LONGEST_LABEL, destination=reader.destination, base={"PR": 7}),
    ]
    begin_reads_of_other_kinds(reader, section.reading, remote := reader.open())
    others = len(reader.reads())
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    for number, message in enumerate(messages, others + 1):
        reader.answer_start_receives_with_message(bytes(message))
        reply = reader.begin_read(section.reading, remote, cursor=cursor).wait()
        call = reader.await_start_receives(number)[-1]
        observed = describe_differences(
            dissect(bytes(message)),
            reply.get("message"),
            peer.identifier,
            but=LIFETIME_PROPERTIES,
            arrived_time=Reader.MESSAGE_ARRIVAL_TIME_S,
        )
        judge(rules["message"], expected=UNCHANGED_PROPERTIES_OUTCOME, observed=observed, evidence=call.evidence)
    reader.leave_start_receives_unanswered()
    requests = []
    for number in (1, 2):
        requests.append(reader.begin_read(section.reading, remote, INFINITE_TIMEOUT_MS, cursor))
        reader.await_start_receives(others + len(messages) + number)
    calls = reader.reads()
    labels = ("later", "earlier")
    for call, label in zip((calls[-1], calls[-2]), labels, strict=True):
        data = build_message_without_default_values(peer, label, destination=reader.destination)
        reader.answer_read(call, bytes(data))
        peer.settle()
    shown = [(one.wait().get("message") or {}).get("label") for one in reversed(requests)]
    judge(rules["message"], expected=list(labels), observed=shown, case="labels of both messages", evidence=calls[-2:])
    if section.reading.action != Action.RECEIVE:
        return
    reader.server.answers[Method.END_RECEIVE] = lambda call: call.respond(Return=IO_TIMEOUT_STATUS)
    reader.answer_start_receives_with_message()
    reader.begin_read(section.reading, remote, cursor=cursor).wait()
    calls = [reader.reads()[0], *reader.reads()[others:]]
    peer.pass_time(sut.quiet_ms)
    ends = reader.server.list_calls_of("RemoteQMEndReceive")
    evidence = [*calls, *ends]
    judge(rules["end"], expected=len(calls), case="calls of RemoteQMEndReceive", observed=len(ends), evidence=evidence)
    handles = [reader.get_receive_handle(call).hex() for call in calls]
    given = [end.decoded_request.pphContext.hex() for end in ends if end.decoded_request is not None]
    judge(
        rules["end"],
        rules["read_handle"],
        rules["context"],
        expected=any_order(*handles),
        case="handles in RemoteQMEndReceive",
        observed=given,
        evidence=evidence,
    )
    acks: list[Any] = [end.decoded_request.dwAck for end in ends if end.decoded_request is not None]
    judge(rules["ack"], expected=each(Ack.RR_ACK, "dwAck"), observed=acks, evidence=evidence)


THIRD_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000e7")
PRIVATE_QUEUE_NUMBER = 0xBEEF
PRIVATE_QUEUE_ON_SOURCE_TYPE, PRIVATE_QUEUE_ON_DESTINATION_TYPE = 2, 3
"""Values of UserHeader.Flags.RQ for private queues that are named by their number only (MS-MQMQ 2.2.19.2)."""


@pytest.mark.parametrize(
    "kind",
    [PRIVATE_QUEUE_ON_SOURCE_TYPE, PRIVATE_QUEUE_ON_DESTINATION_TYPE],
    ids=["on its source", "on its destination"],
)
@parametrize_section(lambda section: [section.message["message"]])
def test_client_resolves_private_response_queue_on_its_computer(peer, sut, judge, section, kind):
    """A message names, by its number, a private response queue on the message's source computer or on its destination
    computer. The application receives a private format name with the GUID of that computer.
    """
    reader = Reader(peer, sut)
    user = {
        "SourceQueueManager": THIRD_QUEUE_MANAGER_GUID,
        "QueueManagerAddress": peer.identifier,
        "MessageID": peer.next_message_id(),
    }
    response = {"RQ": kind, "ResponseQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=PRIVATE_QUEUE_NUMBER)}
    data = bytes(user_message(destination=reader.destination, user=user | response, label=Reader.MESSAGE_LABEL))
    reader.server.answers |= dict.fromkeys(
        (Method.START_RECEIVE, Method.START_RECEIVE2), lambda call: reader.answer_read(call, data)
    )
    reply = reader.begin_read(section.reading, reader.open()).wait()
    evidence = reader.await_start_receives()[0].evidence
    rule = section.message["message"]
    told_of = (reply.get("message") or {}).get("response_queue")
    if reply.get("message") and told_of is None:
        judge.mark_not_exercised(
            rule, reason="the SUT does not show the response queue of a message", evidence=evidence
        )
        return
    computer, _, number = str(told_of).lower().removeprefix("private=").partition("\\")
    observed = {"computer_in_the_format_name": computer, "queue_number_in_the_format_name": number.lstrip("0")}
    expected = facts(
        computer_in_the_format_name=str(
            THIRD_QUEUE_MANAGER_GUID if kind == PRIVATE_QUEUE_ON_SOURCE_TYPE else peer.identifier
        ),
        queue_number_in_the_format_name=f"{PRIVATE_QUEUE_NUMBER:x}",
    )
    judge.all(expected=expected, observed=observed, evidence=evidence)
