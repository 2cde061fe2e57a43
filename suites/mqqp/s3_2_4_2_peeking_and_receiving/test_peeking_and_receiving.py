"""MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6: peeking and receiving, with and without a cursor.

Each check runs for each of the four sections; ``sections.py`` lists their rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.judging.judge import Judge
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatNameId, dissect, user_message
from harness.wire.rpc_qm2qm import INFINITE, Ack, Action, Method
from suites.mqqp.s3_2_4_2_peeking_and_receiving.sections import SECTIONS, Section
from suites.mqqp.steps.reader import Reader, Reading
from suites.mqqp.steps.whole import Kind, build_full_message
from suites.whole_messages import SAME_PROPERTIES, describe_differences

pytestmark = needs("remote_read")

NEVER_ASKS_VERSION = (
    "the SUT does not call RemoteQmGetVersion and always calls RemoteQMStartReceive, as Windows 2000 does"
)
READ_TIMEOUTS_MS = (0, INFINITE)
"""The time-outs of the reads in milliseconds: the smallest and the largest."""
IO_TIMEOUT, ACCESS_DENIED = 0xC00E_001B, 0x0000_0005
"""The status MQ_ERROR_IO_TIMEOUT, and the fault status for access denied."""
LIFE_TIMES = ("time_to_reach_queue_s", "time_to_be_received_s")
"""Properties that may show the remaining time of a message instead of the time that the sender set."""
VERSION_CASES = {
    "below_5": ([(0, 0, 0), (4, 0, 1_381), (4, 9, 9_999), (4, 255, 65_535)], Method.START_RECEIVE),
    "below_5_1": ([Reader.WINDOWS_2000, (5, 0, 951), (5, 0, 65_535)], Method.START_RECEIVE),
    "early_build": ([(5, 0, 0), (5, 0, 950)], Method.START_RECEIVE),
    "old": ([Reader.WINDOWS_2000], Method.START_RECEIVE),
    "new": (
        [
            (5, 1, 951),
            (5, 1, 2_600),
            Reader.WINDOWS_2003,  # E136: what is before (5, 1, 951) may be old
            (6, 0, 0),
            (10, 0, 0),
            (255, 0, 950),
        ],
        Method.START_RECEIVE2,
    ),
    "check": ([Reader.WINDOWS_7], Method.START_RECEIVE2),
}
"""By rule: the versions that the peer returns, and the method that the SUT must call."""
CONDITIONS_OF_OLD_SERVER = ("below_5", "below_5_1", "early_build")
"""The rules that define an old server. The rule ``old`` of each section names the method for an old server."""


def for_each_section(rules: Callable[[Section], Iterable[str]]) -> pytest.MarkDecorator:
    """Return a decorator that runs a check for each section; ``rules`` returns the rules that it
    judges for a section.
    """
    return pytest.mark.parametrize(
        "section", [pytest.param(section, marks=covers(*rules(section)), id=section.number) for section in SECTIONS]
    )


@for_each_section(lambda section: section.old.values())
def test_client_read_of_old_server_has_required_fields(peer, sut, judge, section):
    """The peer returns version 5.0, and the SUT reads: the REMOTEREADDESC of RemoteQMStartReceive has the required
    value in each field.
    """
    judge_fields_of_read(
        Reader(peer, sut, Reader.WINDOWS_2000), judge, section.reading, Method.START_RECEIVE, section.old
    )


@for_each_section(lambda section: section.new.values())
def test_client_read_of_new_server_has_required_fields(peer, sut, judge, section):
    """The peer returns version 6.1, and the SUT reads: the REMOTEREADDESC2 of RemoteQMStartReceive2 has the required
    value in each field.
    """
    judge_fields_of_read(
        Reader(peer, sut, Reader.WINDOWS_7), judge, section.reading, Method.START_RECEIVE2, section.new
    )


def judge_fields_of_read(reader: Reader, judge: Judge, reading: Reading, method: str, rules: Mapping[str, str]) -> None:
    """Judge the fields of the SUT's read; ``rules`` maps each field to its rule."""
    remote = reader.open()
    reader.let_reads_wait()
    request = reader.begin_read(reading, remote)
    reader.peer.environment.run_until(lambda: bool(reader.reads()), reader.sut.response_timeout_ms)
    if not reader.reads():
        evidence = reader.server.calls
        judge(
            rules["ulAction"],
            expected=reading.action,
            observed="the SUT did not call RemoteQMStartReceive",
            evidence=evidence,
        )
        return
    call = reader.reads()[0]
    if (
        method == Method.START_RECEIVE2
        and call.name == Method.START_RECEIVE
        and not reader.server.named("RemoteQmGetVersion")
    ):
        judge.give_up(Verdict.NOT_APPLICABLE, NEVER_ASKS_VERSION)
        return
    if call.name != method:
        raise ConformanceFailure(f"the SUT called {call.name} instead of {method}")
    asked = reader.get_read_description(call)
    for name, expected in required_numbers(reading).items():
        if name in rules:
            holder = call.into.lpRemoteReadDesc2 if name == "SequentialId" else asked
            judge(rules[name], expected=expected, case=name, observed=getattr(holder, name), evidence=call.evidence)
    judge(
        rules["lpBuffer"],
        expected=holds("lpBuffer is NULL"),
        observed=asked.lpBuffer is None,
        evidence=call.evidence,
    )
    for timeout_ms in READ_TIMEOUTS_MS:
        before = len(reader.reads())
        reader.begin_read(reading, remote, timeout_ms)
        call = reader.await_reads(before + 1)[-1]
        judge(
            rules["ulTimeout"],
            expected=timeout_ms,
            case="ulTimeout",
            observed=reader.get_read_description(call).ulTimeout,
            evidence=call.evidence,
        )
    reader.begin("cancel", request=request.number)
    cancel = reader.await_first_call("RemoteQMCancelReceive")
    evidence = [call, cancel]
    judge(
        rules["dwRequestID"],
        expected=cancel.into.dwRequestID,
        case="dwRequestID",
        observed=asked.dwRequestID,
        evidence=evidence,
    )


def required_numbers(reading: Reading) -> dict[str, int]:
    """Return the required values of the numeric fields except dwRequestID."""
    return {
        "hRemoteQueue": Reader.QUEUE_HANDLE,
        "dwQueue": Reader.QUEUE_DESCRIPTOR,
        "hCursor": Reader.CURSOR if reading.by_cursor else 0,
        "ulAction": reading.action,
        "ulTimeout": Reader.TIMEOUT_MS,
        "dwSize": 0,
        "SequentialId": 0,
    }


@for_each_section(lambda section: section.version.values())
def test_client_chooses_read_method_by_server_version(peer, sut, judge, section):
    """The peer returns many versions: the SUT calls RemoteQmGetVersion first, then RemoteQMStartReceive for versions
    below 5.1 and RemoteQMStartReceive2 for later versions.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    given_up = False
    for about, version, method in (
        (about, one, how) for about, (versions, how) in VERSION_CASES.items() for one in versions
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
        if about in CONDITIONS_OF_OLD_SERVER:
            judge(
                section.version[about],
                expected=holds("RemoteQMStartReceive2 is not called"),
                observed=Method.START_RECEIVE2 not in called,
                evidence=calls,
            )
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
        judge.give_up(Verdict.NOT_APPLICABLE, NEVER_ASKS_VERSION)


@for_each_section(lambda section: section.entry.values())
def test_client_cancels_pending_read_by_its_request_id(peer, sut, judge, section):
    """Two reads of one queue and one read of a second queue wait, with three different dwRequestIDs. The application
    cancels the second read: RemoteQMCancelReceive contains the dwRequestID of that read and the phQueue of its queue.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    requests = reader.begin_long_reads(section.reading, remote, 2, cursor)
    reader.return_other_handles()
    reader.begin_read(section.reading, reader.open(), Reader.LONG_TIMEOUT_MS)
    calls = reader.await_reads(3)
    numbers = [reader.get_read_description(call).dwRequestID for call in calls]
    evidence = [*calls]
    rules = section.entry
    differ = holds("each read has a unique dwRequestID")
    judge(rules["identifier"], rules["unique"], expected=differ, observed=len(set(numbers)) == 3, evidence=evidence)
    reader.begin("cancel", request=requests[1].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    evidence += cancels
    found = [call.into.dwRequestID for call in cancels if call.into is not None]
    judge(
        rules["create"],
        rules["add"],
        expected=numbers[1:2],
        case="dwRequestIDs in RemoteQMCancelReceive",
        observed=found,
        evidence=evidence,
    )
    handles = [call.into.hQueue for call in cancels if call.into is not None]
    judge(rules["handle"], expected=[Reader.QUEUE_HANDLE], case="hQueue", observed=handles, evidence=evidence)


@needs("inspect")
@for_each_section(lambda section: [section.removal])
def test_answered_read_is_removed_from_pending_reads(peer, sut, judge, section):
    """PendingRemoteReadEntryCollection contains one entry while a read waits, and is empty after the peer answers with
    a message, a failure or a fault.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    answers = (
        lambda call: reader.answer_with_message(call),
        lambda call: reader.answer_read(call, None, IO_TIMEOUT),
        lambda call: call.fault(ACCESS_DENIED),
    )
    for number, answer in enumerate(answers, 1):
        request = reader.begin_read(section.reading, remote, Reader.LONG_TIMEOUT_MS, cursor)
        call = reader.await_reads(number)[-1]
        before = len(reader.pending_read_entries())
        answer(call)
        request.wait()
        pending = {
            "number_of_entries_before_the_answer": before,
            "number_of_entries_after_the_answer": len(reader.pending_read_entries()),
        }
        judge.all(
            expected=facts(number_of_entries_before_the_answer=1, number_of_entries_after_the_answer=0),
            observed=pending,
            evidence=call.evidence,
        )


@pytest.mark.parametrize(
    ("way", "kind"), [("old", Kind.RECOVERABLE), *(("new", kind) for kind in Kind)], ids=["old", *Kind]
)
@for_each_section(lambda section: section.message.values())
def test_client_delivers_message_and_acknowledges_receive(peer, sut, judge, section, way, kind):
    """The peer answers a read with a message that has every property set: the application receives every property.
    After a receive, the SUT sends one RemoteQMEndReceive with the handle of the receive and RR_ACK.
    """
    reader = Reader(peer, sut, Reader.WINDOWS_2000 if way == "old" else Reader.WINDOWS_7)
    message = build_full_message(peer, Reader.LABEL, kind, destination=reader.destination)
    reader.server.answers |= dict.fromkeys(
        (Method.START_RECEIVE, Method.START_RECEIVE2), lambda call: reader.answer_read(call, bytes(message))
    )
    remote = reader.open()
    reply = reader.begin_read(section.reading, remote).wait()
    call = reader.await_reads()[0]
    as_sent = dissect(bytes(message))
    observed = describe_differences(
        as_sent, reply.get("message"), peer.identifier, but=LIFE_TIMES, arrived_time=Reader.ARRIVAL_TIME
    )
    rules = section.message
    judge(rules["message"], expected=SAME_PROPERTIES, observed=observed, evidence=call.evidence)
    if section.reading.action != Action.RECEIVE:
        return
    ends = reader.server.wait("RemoteQMEndReceive")
    evidence = [call, *ends]
    judge(rules["end"], expected=1, case="number of calls of RemoteQMEndReceive", observed=len(ends), evidence=evidence)
    handle = reader.get_receive_handle(call)
    given = [end.into.pphContext.hex() for end in ends if end.into is not None]
    judge(
        rules["read_handle"],
        rules["context"],
        expected=[handle.hex()],
        case="handle in RemoteQMEndReceive",
        observed=given,
        evidence=evidence,
    )
    acks: list[Any] = [end.into.dwAck for end in ends if end.into is not None]
    judge(rules["ack"], expected=[Ack.RR_ACK], case="dwAck", observed=acks, evidence=evidence)


THIRD_QUEUE_MANAGER = UUID("6d71636f-6e66-4f72-8d00-0000000000e7")
PRIVATE_QUEUE_NUMBER = 0xBEEF
ON_SOURCE, ON_DESTINATION = 2, 3
"""Values of UserHeader.Flags.RQ for private queues that are named by their number only (MS-MQMQ 2.2.19.2)."""


@pytest.mark.parametrize("kind", [ON_SOURCE, ON_DESTINATION], ids=["on its source", "on its destination"])
@for_each_section(lambda section: [section.message["message"]])
def test_client_resolves_private_response_queue_on_its_computer(peer, sut, judge, section, kind):
    """A message names a private response queue by number, on its source computer or on its destination: the application
    receives a private format name with the GUID of that computer.
    """
    reader = Reader(peer, sut)
    user = {
        "SourceQueueManager": THIRD_QUEUE_MANAGER,
        "QueueManagerAddress": peer.identifier,
        "MessageID": peer.message_id(),
    }
    response = {"RQ": kind, "ResponseQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=PRIVATE_QUEUE_NUMBER)}
    data = bytes(user_message(destination=reader.destination, user=user | response, label=Reader.LABEL))
    reader.server.answers |= dict.fromkeys(
        (Method.START_RECEIVE, Method.START_RECEIVE2), lambda call: reader.answer_read(call, data)
    )
    reply = reader.begin_read(section.reading, reader.open()).wait()
    evidence = reader.await_reads()[0].evidence
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
        computer_in_the_format_name=str(THIRD_QUEUE_MANAGER if kind == ON_SOURCE else peer.identifier),
        queue_number_in_the_format_name=f"{PRIVATE_QUEUE_NUMBER:x}",
    )
    judge.all(expected=expected, observed=observed, evidence=evidence)
