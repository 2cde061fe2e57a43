"""MS-MQQP 3.1.4.11: how a client calls RemoteQMStartReceiveByLookupId. The SUT is the client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from harness.expectations import between, each, fields, none
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId, Method
from suites.mqqp.steps.reader import Reader, Reading

SAMPLE_LOOKUP_ID, LOOKUP_ID_WITH_ZERO_LOW_HALF = 0x0055_0000_0000_0007, 0x0000_0001_0000_0000


VERB_AND_POSITION_BY_LOOKUP_ACTION = {
    Action.LOOKUP_PEEK_CURRENT: ("remote_peek_by_lookup_id", "current"),
    Action.LOOKUP_PEEK_NEXT: ("remote_peek_by_lookup_id", "next"),
    Action.LOOKUP_PEEK_PREV: ("remote_peek_by_lookup_id", "previous"),
    Action.LOOKUP_RECEIVE_CURRENT: ("remote_receive_by_lookup_id", "current"),
    Action.LOOKUP_RECEIVE_NEXT: ("remote_receive_by_lookup_id", "next"),
    Action.LOOKUP_RECEIVE_PREV: ("remote_receive_by_lookup_id", "previous"),
}
"""For each action, the verb of the control channel, and the value of ``seek`` that makes the SUT use the action."""


LOOKUP_PEEK_CURRENT_RULES = ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-09", "MQQP-3.1.4.11-10")


LOOKUP_PEEK_NEXT_RULES = ("MQQP-3.1.4.11-11", None, "MQQP-3.1.4.11-12")


LOOKUP_RECEIVE_CURRENT_RULES = ("MQQP-3.1.4.11-13", "MQQP-3.1.4.11-14", "MQQP-3.1.4.11-15")


LOOKUP_RECEIVE_NEXT_RULES = ("MQQP-3.1.4.11-16", None, "MQQP-3.1.4.11-17")


RULES_BY_LOOKUP_ACTION = {
    Action.LOOKUP_PEEK_CURRENT: LOOKUP_PEEK_CURRENT_RULES,
    Action.LOOKUP_PEEK_NEXT: LOOKUP_PEEK_NEXT_RULES,
    Action.LOOKUP_PEEK_PREV: LOOKUP_RECEIVE_CURRENT_RULES,
    Action.LOOKUP_RECEIVE_CURRENT: LOOKUP_RECEIVE_CURRENT_RULES,
    Action.LOOKUP_RECEIVE_NEXT: LOOKUP_RECEIVE_NEXT_RULES,
    Action.LOOKUP_RECEIVE_PREV: LOOKUP_RECEIVE_CURRENT_RULES,
}
"""For each action, the rules about hCursor, LookupId and ulTimeout. The document repeats the rules of RECEIVE_CURRENT
for the PREV actions.
"""


def _build_lookup_action_cases() -> Iterable[Any]:
    for action, (cursor, identifier, timeout) in RULES_BY_LOOKUP_ACTION.items():
        rules = [rule for rule in (cursor, identifier, timeout) if rule is not None]
        yield pytest.param(
            action,
            marks=covers("MQQP-2.2.2.1-D03", "MQQP-3.1.4.11-01", "MQQP-3.1.4.11-05", "MQQP-3.1.4.11-07", *rules),
            id=f"{action:#x}",
        )


@needs("remote_read")
@pytest.mark.parametrize("action", list(_build_lookup_action_cases()))
def test_client_lookup_has_no_cursor_and_no_timeout(peer, sut, judge, action):
    """The SUT has three queues of the peer open, and a receive waits at the second queue. The SUT reads from that queue
    by LookupIdentifier with one action: relative to a message, and from both ends of the queue. Each call has an
    accepted presentation context, the ulAction of that action, the handles of the queue, a dwRequestID, hCursor 0,
    ulTimeout 0, dwSize 0 and lpBuffer NULL.
    """
    verb, seek = VERB_AND_POSITION_BY_LOOKUP_ACTION[action]
    cursor, identifier, timeout = RULES_BY_LOOKUP_ACTION[action]
    reader = Reader(peer, sut)
    _, remote, _ = (reader.open() for _ in range(3))
    reader.open_cursor(remote)
    reader.leave_start_receives_unanswered()
    reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
    pending = reader.get_read_description(reader.await_start_receives()[0]).dwRequestID
    for lookup_id in (
        SAMPLE_LOOKUP_ID,
        LookupId.BEHIND_LAST,
        LookupId.BEFORE_FIRST,
        LOOKUP_ID_WITH_ZERO_LOW_HALF,
        SAMPLE_LOOKUP_ID + 1,
    ):  # the last may be refused: 0 names no message
        reader.begin(verb, remote=remote, lookup_id=lookup_id, seek=seek).outcome()
    calls = reader.server.list_calls_of(Method.START_RECEIVE_BY_LOOKUP_ID)
    unbound = [(frame, reason) for frame, reason in reader.server.malformed if reason.startswith("context")]
    if not calls and not unbound:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {Method.START_RECEIVE_BY_LOOKUP_ID}")
        return
    asked = [reader.get_read_description(call) for call in calls]
    evidence = [*calls]
    judge(
        "MQQP-3.1.4.11-01",
        expected=none("call on a context that was not accepted"),
        observed=[reason for _, reason in unbound],
        evidence=[*calls, *(frame for frame, _ in unbound)],
    )
    if not calls:
        others = ["MQQP-2.2.2.1-D03", "MQQP-3.1.4.11-05", "MQQP-3.1.4.11-07", cursor, identifier, timeout]
        judge.mark_not_exercised(
            *filter(None, others), reason="no call arrived on a presentation context that the peer accepted"
        )
        return
    judge("MQQP-3.1.4.11-07", expected=each(fields(ulAction=action), "read"), observed=asked, evidence=evidence)
    numbers = {
        "hRemoteQueue": Reader.SECOND_QUEUE_HANDLES.queue,
        "dwQueue": Reader.SECOND_QUEUE_HANDLES.descriptor,
        "dwRequestID": between(1, 0xFFFF_FFFF),
    }
    wanted = fields(numbers, dwSize=0, lpBuffer=None)
    judge("MQQP-3.1.4.11-05", expected=each(wanted, "read"), observed=asked, evidence=evidence)
    judge("MQQP-2.2.2.1-D03", expected=each(fields(Reserved=0), "read"), observed=asked, evidence=evidence)
    repeated = [one.dwRequestID for one in asked if one.dwRequestID == pending]
    judge(
        "MQQP-3.1.4.11-05",
        expected=none("dwRequestID of the receive that waits"),
        observed=repeated,
        evidence=evidence,
    )
    judge(cursor, expected=each(fields(hCursor=0), "read"), observed=asked, evidence=evidence)
    judge(timeout, expected=each(fields(ulTimeout=0), "read"), observed=asked, evidence=evidence)
    if identifier is not None:
        zeros = [call.decoded_request.LookupId for call in calls if not call.decoded_request.LookupId]
        judge(identifier, expected=none("LookupId of 0"), observed=zeros, evidence=evidence)
