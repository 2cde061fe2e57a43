"""MS-MQQB 3.1.5.5.2 Delete Acknowledged Express Messages: what a later session brings again."""

from __future__ import annotations

import pytest

from harness.run.marks import covers
from harness.wire import session_ack
from suites.mqqb.steps.sender import Sender, is_recoverable, tags


@covers("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01")
@pytest.mark.parametrize("acknowledged", [0, 1, 4])
def test_only_unacknowledged_express_messages_come_again(peer, sut, judge, acknowledged):
    """After AckSequenceNumber n the next session brings no express message up to the n-th, and all the others."""
    sender = Sender(peer, sut)
    sender.send(1, 2)
    sender.send(3, delivery="recoverable")
    sender.send(4, 5)
    session, sent = sender.first(5)
    ack = session.send(session_ack(AckSequenceNumber=acknowledged))
    session.close()
    kept = [
        tag for at, frame in enumerate(sent) for tag in tags([frame]) if at >= acknowledged or is_recoverable(frame)
    ]

    again = sender.session()
    came = sender.collect_all(again, len(kept))
    for rule in ("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01"):
        judge(
            rule,
            expected=f"messages {sorted(kept)} again after AckSequenceNumber {acknowledged}",
            observed=f"messages {sorted(set(tags(came)))} again after AckSequenceNumber {acknowledged}",
            evidence=[ack, *came],
        )
    sender.acknowledge_all(again)
