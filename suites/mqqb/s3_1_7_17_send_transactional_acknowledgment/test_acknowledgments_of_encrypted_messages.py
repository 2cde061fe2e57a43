"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment: the OrderAcks and FinalAcks of encrypted messages."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire.protection import RC4
from suites.mqqb.s3_1_7_17_send_transactional_acknowledgment.test_bodies_and_queues import (
    CLEAR_BODY_EXPECTATION,
    read_privacy_level_and_encryption,
)
from suites.mqqb.steps.caching import BASE_PRIVACY_LEVEL
from suites.mqqb.steps.disposition import AckClass, get_message_class, purge_queue, receive_first_message
from suites.mqqb.steps.ordering import Receiver, is_order_or_final_ack
from suites.mqqb.steps.secured import SENDER_TYPE_OF_QUEUE_MANAGER, SYMMETRIC_KEYS, encrypt_message


@covers("MQQB-3.1.7.17-D02")
@needs("security", "receive", "queue_control")
def test_no_order_or_final_ack_of_encrypted_message_is_encrypted(peer, sut, judge):
    """The peer sends encrypted transactional messages. Two are accepted, of which one is received and one is purged;
    one is sent to a missing queue, and one to a queue that is not transactional. No OrderAck and no FinalAck has a
    PrivacyLevel or is encrypted.
    """
    receiver = Receiver(peer, sut)
    queue = sut.new_queue("encrypted", transactional=True)
    claims = {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "DE": 1, "SecurityID": peer.identifier.bytes_le}

    def send(user: dict[str, int], **where: Any) -> Any:
        clear = receiver.sequence.message(user, body=b"to be encrypted", security=claims, **where)
        return receiver.session.send(encrypt_message(sut, clear, BASE_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[40]))

    to = rf"TCP:{sut.address}\{queue}"
    sent = [send(journaling, destination=to) for journaling in ({"JP": 1}, {"JN": 1})]
    receiver.await_last_acknowledgment(len(sent))
    if not peer.eventually(lambda: len(sut.labels(queue)) == len(sent)):
        raise ConformanceFailure("the SUT did not store the encrypted messages")
    receive_first_message(sut, queue)
    receiver.await_acknowledgment(final=True)
    purge_queue(sut, queue)
    receiver.poll_acknowledgment(final=True)
    for where in ({"destination": peer.format_name_of_missing_queue}, {"queue": "plain"}):
        sent.append(send({}, **where))
        receiver.poll_acknowledgment(final=True)
    came = [*receiver.list_acknowledgments(), *receiver.list_acknowledgments(final=True)]
    acks = [frame for frame in came if is_order_or_final_ack(frame)]
    classes = {get_message_class(frame) for frame in acks}
    if not {AckClass.ORDER_ACK, AckClass.RECEIVE, AckClass.BAD_DST_Q} <= classes:
        raise ConformanceFailure("an OrderAck, a FinalAck of a receipt or a FinalAck of a refusal did not arrive")
    for frame in acks:
        judge(
            "MQQB-3.1.7.17-D02",
            expected=CLEAR_BODY_EXPECTATION,
            observed=read_privacy_level_and_encryption(frame),
            evidence=[*sent, frame],
            case=f"acknowledgment of class 0x{get_message_class(frame):04X}",
        )
    peer.inbox.acknowledge()
