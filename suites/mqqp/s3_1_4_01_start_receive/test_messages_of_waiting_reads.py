"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: the message that a waiting read returns."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.peer.association import Call
from harness.run.marks import needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import parametrize_by_method_with_rules
from suites.mqqp.steps.whole import MessageKind, UnchangedMessageExpectation, build_message_without_default_values

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
CURSOR_PAST_FIRST_MESSAGE, CURSOR_OF_EMPTY_QUEUE, NO_CURSOR = "past the first message", "of an empty queue", "none"


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"message": ["MQQP-3.1.4.1-13"]},
        Method.START_RECEIVE2: {"message": ["MQQP-3.1.4.10-44"]},
    }
)
@pytest.mark.parametrize(
    ("action", "at", "kind"),
    [
        pytest.param(Action.RECEIVE, NO_CURSOR, MessageKind.TRANSACTIONAL, id="receive"),
        pytest.param(Action.RECEIVE, CURSOR_OF_EMPTY_QUEUE, MessageKind.EXPRESS, id="receive by cursor"),
        pytest.param(Action.PEEK_CURRENT, NO_CURSOR, MessageKind.EXPRESS, id="peek"),
        pytest.param(Action.PEEK_CURRENT, CURSOR_OF_EMPTY_QUEUE, MessageKind.TRANSACTIONAL, id="peek by cursor"),
        pytest.param(Action.PEEK_NEXT, CURSOR_PAST_FIRST_MESSAGE, MessageKind.EXPRESS, id="peek next"),
    ],
)
def test_waiting_read_returns_message_that_arrives(remote, judge, by, rules, action, at, kind):
    """A read waits until a message with every property set arrives; except for a peek at the current message, a second
    read then waits in the same way. Each read returns the message that arrived, and no other message of the queue.
    """
    queue, cursor = remote.open(kind.queue), 0
    if at != NO_CURSOR:
        cursor = queue.open_cursor()
    if at == CURSOR_PAST_FIRST_MESSAGE:
        remote.send_messages_and_require_acks([build_message_without_default_values(remote.peer, "first", kind)])
        queue.peek(by=by, hCursor=cursor).expect_success()
    turns = 1 if action == Action.PEEK_CURRENT else 2  # a second peek would return the same message at once
    for label in ("second", "third")[:turns]:
        read = queue.begin(action, by=by, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
        if read.state_after_silence() != Call.WAITING:
            raise ConformanceFailure(f"the read did not wait for a message: {read.outcome}")
        sent = build_message_without_default_values(remote.peer, label, kind)
        remote.send_messages_and_require_acks([sent])
        read.wait()
        if read.outcome != "MQ_OK":
            raise ConformanceFailure(f"the waiting read returned no message: {read.outcome}")
        judge(
            *rules["message"],
            expected=UnchangedMessageExpectation(sent),
            observed=read,
            evidence=read.evidence,
            case=f"read that waited for the {label} message",
        )
        if action == Action.RECEIVE:
            queue.acknowledge(read).expect_success()
