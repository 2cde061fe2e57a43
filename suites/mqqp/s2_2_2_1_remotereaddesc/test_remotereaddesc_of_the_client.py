"""MS-MQQP 2.2.2.1 REMOTEREADDESC: request identifiers of the client, and the fields that the client ignores."""

from __future__ import annotations

from functools import partial

import pytest

from harness.expectations import between, each, fields, holds
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Ack, Method
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@covers("MQQP-2.2.2.1-05")
def test_request_id_of_unended_receive_is_not_reused(peer, sut, judge):
    """The SUT receives a message, and the peer does not answer RemoteQMEndReceive. Then a second receive, and one read
    of each other kind, wait at the peer. All these reads have different dwRequestIDs.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    del reader.server.answers["RemoteQMEndReceive"]
    reader.begin_read(Reading.RECEIVE, remote)
    first = reader.await_first_call("RemoteQMEndReceive")
    reader.leave_start_receives_unanswered()
    for number, reading in enumerate((Reading.RECEIVE, *Reading), start=2):
        reader.begin_read(reading, remote, Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(number)
    calls = reader.reads()
    numbers = [reader.get_read_description(call).dwRequestID for call in calls]
    judge(
        "MQQP-2.2.2.1-05",
        expected=holds("each read has a different dwRequestID"),
        observed=len(set(numbers)) == len(numbers),
        evidence=[*calls, *first.evidence],
    )
    first.respond()


@needs("remote_read")
@covers("MQQP-2.2.2.1-06", "MQQP-2.2.2.1-09")
def test_answers_with_any_reserved_fields_are_accepted(peer, sut, judge):
    """The peer answers receives with several values of Reserved and eAckNack. Each time, the application gets the
    message, and the SUT ends the receive with RR_ACK.
    """
    reader = Reader(peer, sut)
    for rule, name, values in (
        ("MQQP-2.2.2.1-06", "Reserved", (0, 1, 0, 0xFFFF_FFFF)),
        ("MQQP-2.2.2.1-09", "eAckNack", (0, Ack.RR_NACK, Ack.RR_ACK)),
    ):
        for value in values:
            remote = reader.open()
            reader.server.answers[Method.START_RECEIVE2] = partial(reader.answer_with_message, **{name: value})
            ended = len(reader.server.list_calls_of(Method.END_RECEIVE))
            reply = reader.begin_read(Reading.RECEIVE, remote).wait()
            observed = bool(reply.get("message")) or str(reply.get("error", "no message"))
            reader.await_first_call(Method.START_RECEIVE2)
            ends = reader.server.wait(Method.END_RECEIVE, ended + 1)[ended:]
            evidence = reader.server.list_calls_of(Method.START_RECEIVE2)[-1].evidence
            judge(rule, expected=holds("the application receives the message"), observed=observed, evidence=evidence)
            acks = [call.decoded_request.dwAck for call in ends if call.decoded_request is not None]
            judge(rule, expected=[Ack.RR_ACK], observed=acks, case="dwAck", evidence=[*evidence, *ends])


@needs("remote_read")
@pytest.mark.parametrize("version", [Reader.WINDOWS_2000_VERSION, Reader.WINDOWS_7_VERSION], ids=["old", "new"])
@covers(
    "MQQP-2.2.2.1-02",
    "MQQP-2.2.2.1-03",
    "MQQP-2.2.2.1-04",
    "MQQP-2.2.2.1-10",
    "MQQP-3.1.4.1-03",
    "MQQP-3.1.4.10-06",
)
def test_client_receive_sets_fields_of_remotereaddesc(peer, sut, judge, version):
    """After RemoteQMOpenQueue, five reads without a timeout wait at the peer: two receives and a peek, and a peek and a
    receive by cursors. Each read has a unique dwRequestID, ulTimeout 0xFFFFFFFF, dwSize 0, lpBuffer NULL, and the
    handles of the queue.
    """
    reader = Reader(peer, sut, version)
    remote = reader.open()
    reader.leave_start_receives_unanswered()
    for number in (1, 2):
        reader.begin("remote_receive", remote=remote, timeout_ms=None)
        reader.await_start_receives(number)
    for reading in (Reading.PEEK, Reading.PEEK_CURRENT_BY_CURSOR, Reading.RECEIVE_BY_CURSOR):
        where = {"cursor": reader.open_cursor(remote)} if reading.by_cursor else {"remote": remote}
        reader.begin(reading.verb, **where, timeout_ms=None)
        reader.await_start_receives(number := number + 1)
    calls = reader.reads()
    asked = [reader.get_read_description(call) for call in calls]
    evidence = [*calls]
    before = [call.name for call in reader.server.calls]
    judge(
        "MQQP-3.1.4.1-03",
        expected=holds("the client calls RemoteQMOpenQueue before the first read"),
        observed="RemoteQMOpenQueue" in before[: before.index(calls[0].name)],
        evidence=evidence,
    )
    judge("MQQP-2.2.2.1-02", expected=each(fields(ulTimeout=0xFFFF_FFFF), "read"), observed=asked, evidence=evidence)
    judge("MQQP-2.2.2.1-03", expected=each(fields(dwSize=0), "read"), observed=asked, evidence=evidence)
    differ = len({one.dwRequestID for one in asked}) == len(asked)
    judge(
        "MQQP-2.2.2.1-04",
        expected=holds("the reads have different dwRequestIDs"),
        observed=differ,
        evidence=evidence,
    )
    null = [one.lpBuffer is None for one in asked]
    judge("MQQP-2.2.2.1-10", expected=each(holds("lpBuffer is NULL"), "read"), observed=null, evidence=evidence)
    given = fields(
        hRemoteQueue=Reader.FIRST_QUEUE_HANDLES.queue,
        dwQueue=Reader.FIRST_QUEUE_HANDLES.descriptor,
        dwRequestID=between(1, 0xFFFF_FFFF),
    )
    judge("MQQP-3.1.4.10-06", expected=each(given, "read"), observed=asked, evidence=evidence)
