"""MS-MQQB 3.1.1.4 Session Message Sequence."""

from __future__ import annotations

import pytest

from harness.run.marks import covers
from harness.wire import session_ack
from suites.mqqb.steps.opening import direct_name, settle
from suites.mqqb.steps.sender import Sender, tags


@covers("MQQB-3.1.1.4-01")
@pytest.mark.parametrize("acknowledged", [1, 2])
def test_the_messages_of_a_session_are_numbered_from_one(peer, sut, judge, acknowledged):
    """Three express messages; what is acknowledged as first, or as first and second, does not come again."""
    sender = Sender(peer, sut, direct_name(peer, f"mqc-numbered-{acknowledged}"))
    sender.send(1, 2, 3)
    session, came = sender.first(3)
    ack = session.send(session_ack(AckSequenceNumber=acknowledged))
    settle(peer)
    session.close()
    left = [tag for tag in (1, 2, 3) if tag > acknowledged]
    again = sender.next_session()
    later = [] if again is None else sender.collect_all(again, len(left))
    if again is not None:
        sender.acknowledge_all(again)
    expected, observed = f"messages {left} come again", f"messages {sorted(set(tags(later)))} come again"
    judge("MQQB-3.1.1.4-01", expected=expected, observed=observed, evidence=[*came, ack, *later])
