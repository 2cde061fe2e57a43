"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: messages that leave a subqueue."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged
from harness.run.marks import covers, needs
from harness.sut.shown import lookup_id
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver, purge_queue, receive_first_message

REMOVALS = {"received": (receive_first_message, AckClass.RECEIVE), "purged": (purge_queue, AckClass.Q_PURGED)}
"""The function that removes a message, and the class of its acknowledgment, by the kind of removal."""


@needs("receive", "queue_control", "subqueues")
@covers("MQQB-3.1.7.15-07")
@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_acknowledgment_of_message_in_subqueue_has_class_of_its_removal(peer, sut, judge, removal, transactional):
    """A message is moved to a subqueue, and an application receives it there or purges the subqueue. The class of the
    acknowledgment is the class for this removal.
    """
    remove, of_class = REMOVALS[removal]
    queue = sut.new_queue("moved", transactional=transactional)
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    receiver = AcknowledgingReceiver(peer, sut)
    build_message = Sequence(peer).message if transactional else peer.recoverable_message
    user = receiver.add_admin_queue_fields()
    to = rf"TCP:{sut.address}\{queue}"
    sent = receiver.send_packet(build_message(user, destination=to, label="moved", properties={"PR": 1, "NR": 1}))
    if not peer.await_label("moved", queue):
        raise ConformanceFailure("the message is not in its queue")
    found = sut.control.call("peek", queue=queue, limit=1)["messages"][0]
    sut.control.call("move", queue=queue, lookup_id=lookup_id(found), to=subqueue)
    remove(sut, subqueue)
    acks = receiver.await_acks(1)
    judge.all(expected=acknowledged(sent, of_class=of_class), observed=acks, evidence=[sent, *acks])
    receiver.acknowledge_all()
