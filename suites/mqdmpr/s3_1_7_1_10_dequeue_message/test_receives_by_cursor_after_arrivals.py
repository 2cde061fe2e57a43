"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: receives by a cursor after messages of other priorities have arrived."""

from __future__ import annotations

from collections.abc import Mapping

from harness.expectations import facts, in_queue
from harness.peer.remote import BODY_OF_MESSAGES_FROM_PEER
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from suites.applications import Application
from suites.mqdmpr.s3_1_7_1_10_dequeue_message.test_receives_by_cursors import CursorReader

EARLY_PRIORITY_BY_LABEL: Mapping[str, int] = {"high": 5, "middle": 3, "low": 1}
"""The priorities of the messages that arrive before a cursor is at the message "middle", by label."""
LATE_PRIORITY_BY_LABEL: Mapping[str, int] = {"urgent": 7, "also high": 5, "also middle": 3, "idle": 0}
"""The priorities of the messages that arrive afterwards, by label."""
LABELS_FROM_CURSOR_ON = ["middle", "also middle", "low"]
LABELS_BESIDE_CURSOR = in_queue("urgent", "high", "also high", "idle")


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.10-15")
def test_remote_receive_by_cursor_ignores_arrivals_before_cursor(remote, judge):
    """A cursor of a remote reader is at the second of three messages when messages of higher, equal and lower
    priorities arrive. Three receives by the cursor take the message at the cursor and the following messages.
    """
    queue = remote.open()
    _send_messages_with_priorities(remote, EARLY_PRIORITY_BY_LABEL)
    cursor = queue.open_cursor()
    for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT):
        queue.read(action, hCursor=cursor).expect_success()
    _send_messages_with_priorities(remote, LATE_PRIORITY_BY_LABEL)
    receives = [queue.receive(hCursor=cursor) for _ in LABELS_FROM_CURSOR_ON]
    judge.all(
        expected=facts(received=LABELS_FROM_CURSOR_ON, left=LABELS_BESIDE_CURSOR),
        observed={"received": [one.label_or_outcome for one in receives], "left": queue.labels()},
        evidence=receives,
    )


def _send_messages_with_priorities(remote, priorities):
    """Let the peer send one message for each label, with the priority of the label."""
    remote.send_messages_and_require_acks(
        [
            remote.peer.recoverable_message(base={"PR": priority}, label=label, body=BODY_OF_MESSAGES_FROM_PEER)
            for label, priority in priorities.items()
        ]
    )


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.10-15")
def test_local_receive_by_cursor_ignores_arrivals_before_cursor(peer, sut, judge):
    """A cursor of an application of the SUT is at the second of three messages when messages of higher, equal and lower
    priorities arrive. Three receives by the cursor take the message at the cursor and the following messages.
    """
    application = Application(peer, sut)
    packets = [
        packet
        for label, priority in EARLY_PRIORITY_BY_LABEL.items()
        for packet in application.fill_queue(label, PR=priority)
    ]
    cursor = CursorReader(application, transaction=None).open_cursor_at_message("middle")
    packets += [
        packet
        for label, priority in LATE_PRIORITY_BY_LABEL.items()
        for packet in application.fill_queue(label, PR=priority)
    ]
    received = [sut.read_label("receive", cursor=cursor) for _ in LABELS_FROM_CURSOR_ON]
    judge.all(
        expected=facts(received=LABELS_FROM_CURSOR_ON, left=LABELS_BESIDE_CURSOR),
        observed={"received": received, "left": application.labels()},
        evidence=packets,
    )
