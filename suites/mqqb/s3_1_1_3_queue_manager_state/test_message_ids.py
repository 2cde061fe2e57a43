"""MS-MQQB 3.1.1.3 Queue Manager State: the MessageIDs of successive messages."""

from __future__ import annotations

from itertools import pairwise

from harness.errors import ConformanceFailure
from harness.run.marks import covers
from suites.mqqb.steps.sender import Sender


@covers("MQQB-3.1.1.3-24")
def test_successive_messages_have_consecutive_ids(peer, sut, judge):
    """The SUT sends one message, two more on the open session, and two on the next session. Each MessageID is one
    higher than the previous one.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-successive"))
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    sender.send(2, 3, delivery="recoverable")
    frames = sender.collect_messages(session, 3)
    session.acknowledge_all()
    session.stays_quiet()
    session.close()
    sender.send(4, 5)
    again = sender.await_session()
    frames = [*frames, *sender.collect_messages(again, 2)]
    again.acknowledge_all()
    if Sender.list_tags(frames) != [1, 2, 3, 4, 5]:
        raise ConformanceFailure(f"the messages {Sender.list_tags(frames)} arrived, instead of 1 to 5 in this order")
    ids = [int(frame["UserHeader"].MessageID) for frame in frames]
    steps = [later - before for before, later in pairwise(ids)]
    if min(steps) == 1 < max(steps):
        raise ConformanceFailure(
            f"the MessageIDs {ids} are not consecutive: the SUT possibly sent other messages between these messages"
        )
    judge(
        "MQQB-3.1.1.3-24",
        expected=[1, 1, 1, 1],
        observed=steps,
        case="differences between successive MessageIDs",
        evidence=frames,
    )
