"""MS-MQQB 3.1.7.1 Send User Message Event: the sender sends its first message on a session that it accepted."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.opening import find_accepted_session
from suites.mqqb.steps.ordering import is_order_or_final_ack
from suites.mqqb.steps.pinging import read_element

ORDER_QUEUE_NUMBER = "00000004"
"""The number of order_queue$ in a private format name (E42)."""


@needs("inspect")
@covers("MQQB-3.1.7.1-04")
@pytest.mark.parametrize(("first", "queue"), [("OrderAck", "transactional"), ("FinalAck", "plain")])
def test_accepted_session_gets_outgoing_queue_of_its_first_message(peer, sut, judge, first, queue):
    """The peer sends a transactional message that the SUT accepts or refuses. If the OrderAck or the FinalAck of the
    SUT is the first message on the session of the peer, OutgoingQueueReference of that session is the queue of this
    acknowledgment.
    """
    peer.inbox.listen()
    session = peer.open_raw()
    before = read_element(find_accepted_session(sut, peer.identifier), "OutgoingQueueReference")
    if before is not None:
        raise ConformanceFailure(f"a new session already has the OutgoingQueueReference {before}")
    sent = session.send(Sequence(peer).message(queue=queue))
    acks = peer.inbox.wait(is_order_or_final_ack)
    if not acks:
        raise ConformanceFailure(f"no {first} arrived")
    if acks[0].connection is not session.record:
        judge.mark_not_exercised(
            "MQQB-3.1.7.1-04", reason=f"the SUT sent its {first} on a session that it opened", evidence=acks
        )
        return
    shown = read_element(find_accepted_session(sut, peer.identifier), "OutgoingQueueReference")
    destination = acks[0]["UserHeader"].DestinationQueue
    direct = getattr(destination, "DirectFormatName", None)
    name = f"DIRECT={direct.rstrip(chr(0))}" if direct else f"PRIVATE={peer.identifier}\\{ORDER_QUEUE_NUMBER}"
    judge(
        "MQQB-3.1.7.1-04",
        expected=name.lower(),
        observed=str(shown).lower(),
        case=f"OutgoingQueueReference of an accepted session on which the first message is the {first}",
        evidence=[sent, acks[0]],
    )
    peer.inbox.acknowledge()
