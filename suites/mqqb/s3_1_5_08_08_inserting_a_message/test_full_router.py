"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: messages for another queue manager while the SUT is
throttled.
"""

from __future__ import annotations

import pytest

from harness.expectations import connection_closed_by_sut
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.disposition import AcknowledgingReceiver


@sut_survives()
@covers("MQQB-3.1.5.8.8-15")
@needs("environment", "inspect", "private_names")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_message_for_another_computer_closes_session_of_throttled_sut(peer, sut, judge, kind):
    """The SUT forwards a message of the peer to a queue of the peer. While its disk is full, the SUT is throttled, and
    a second message for that queue arrives. The SUT closes the session on which this message arrived.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    target = peer.build_fields_for_private_destination(peer.identifier, peer.next_message_id())

    def send_message():
        if kind == "transactional":
            return receiver.send(target, destination=None)
        return receiver.send_packet(peer.message(target | {"DM": int(kind == "recoverable")}, destination=None))

    first = send_message()
    if not receiver.await_messages_of_sut(receiver.list_forwarded_messages, 1):
        judge.mark_not_exercised("MQQB-3.1.5.8.8-15", reason="the SUT does not forward messages")
        return
    session = receiver.session
    session.require_session_ack_for_message()
    sut.change_environment(storage=False)
    if not peer.eventually(lambda: bool(sut.inspect_queue_manager()["Throttled"])):
        judge.mark_not_exercised("MQQB-3.1.5.8.8-15", reason="the SUT does not show Throttled while its disk is full")
        return
    second = send_message()
    observed = session.await_close()
    sut.change_environment(storage=True)
    peer.eventually(lambda: not sut.inspect_queue_manager()["Throttled"])
    judge(
        "MQQB-3.1.5.8.8-15",
        expected=connection_closed_by_sut(),
        observed=observed,
        evidence=[first, second, session.last],
    )
