"""Judges repeated reads by a client, and the cancellation of a read.

Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.expectations import holds
from harness.judging.judge import Judge
from harness.peer.rpc_server import ServedCall
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.s3_2_4_2_peeking_and_receiving.sections import Section
from suites.mqqp.steps.reader import Reader, Reading, Request


def begin_infinite_read(reader: Reader, reading: Reading, remote: int) -> Request:
    """Let the SUT begin a read without a time limit; a read by a cursor uses a new cursor."""
    where = {"cursor": reader.open_cursor(remote)} if reading.by_cursor else {"remote": remote}
    more = {"next": True} if reading.action == Action.PEEK_NEXT else {}
    return reader.begin(reading.verb, **where, timeout_ms=None, **more)


def judge_repeated_reads(
    reader: Reader, judge: Judge, calls: list[ServedCall], method: Method, rules: Mapping[str, str], action: Action
) -> None:
    """Judge ulAction, dwSize and lpBuffer of the reads that call the given method."""
    for call in calls:
        if call.name != method:
            continue
        asked = reader.get_read_description(call)
        judge(rules["ulAction"], expected=action, observed=asked.ulAction, case="ulAction", evidence=[call])
        judge(rules["dwSize"], expected=0, observed=asked.dwSize, case="dwSize", evidence=[call])
        null = asked.lpBuffer is None
        judge(rules["lpBuffer"], expected=holds("lpBuffer is NULL"), observed=null, evidence=[call])


def judge_cancel_in_second_queue(reader: Reader, judge: Judge, section: Section, second: int) -> None:
    """Let the SUT open a third queue, begin a read of the second queue without a time limit, and cancel this read;
    judge the request of the read.
    """
    reader.open()
    begun, rules = len(reader.reads()), section.entry
    request = begin_infinite_read(reader, section.reading, second)
    read = reader.await_start_receives(begun + 1)[-1]
    before = len(reader.server.list_calls_of("RemoteQMCancelReceive"))
    reader.begin("cancel", request=request.number)
    cancels = reader.server.wait("RemoteQMCancelReceive", before + 1)[before:]
    asked = [call.decoded_request for call in cancels if call.decoded_request is not None]
    judge(
        rules["create"],
        rules["add"],
        expected=[reader.get_read_description(read).dwRequestID],
        case="dwRequestID of the cancelled read of the second queue",
        observed=[one.dwRequestID for one in asked],
        evidence=[read, *cancels],
    )
    judge(
        rules["handle"],
        expected=[Reader.SECOND_QUEUE_HANDLES.queue],
        case="hQueue of the cancelled read of the second queue",
        observed=[one.hQueue for one in asked],
        evidence=[read, *cancels],
    )
