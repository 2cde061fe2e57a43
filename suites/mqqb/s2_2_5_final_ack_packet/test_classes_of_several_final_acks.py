"""MS-MQQB 2.2.5 FinalAck Packet: the class of each of several FinalAcks, of messages to private format names and of
messages in the middle of a sequence.
"""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.expectations import acknowledgment_of_class
from harness.run.marks import covers, malforms, needs
from harness.sut.provisioning import ALICE, BOB, MALLORY
from harness.wire.protection import SIG20
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    OFFSET_OF_IDENTIFIER_IN_FINAL_ACK,
    AckClass,
    AcknowledgingReceiver,
    get_final_ack_identifier,
    identifier,
)
from suites.mqqb.steps.ordering import Receiver, is_order_or_final_ack
from suites.mqqb.steps.secured import SecuredMessageSender, sign_message

UNUSED_QUEUE_NUMBER = 0x0BAD_0001
"""The number of a private queue that the SUT does not have."""
BODY_THAT_FILLS_HALF_A_QUOTA = bytes(1_400)
SHORT_LIFETIME_S = 1
FINAL_ACK_CLASS_OF_SECURED_MESSAGE_BY_RULE = {
    "MQQB-2.2.5-15": "NACK_ACCESS_DENIED",
    "MQQB-2.2.5-18": "NACK_BAD_SIGNATURE",
}


def _collect_final_acks(receiver: Receiver, count: int) -> dict[str, Frame]:
    """Wait for a number of FinalAcks; return those that arrived, by the identifier of their message."""

    def list_final_acks() -> list[Frame]:
        return [frame for frame in receiver.list_acknowledgments(final=True) if is_order_or_final_ack(frame)]

    while len(list_final_acks()) < count and receiver.poll(list_final_acks) is not None:
        pass
    bodies = [(frame, bytes(frame["MessagePropertiesHeader"].MessageBody)) for frame in list_final_acks()]
    return {
        get_final_ack_identifier(frame): frame
        for frame, body in bodies
        if len(body) > OFFSET_OF_IDENTIFIER_IN_FINAL_ACK
    }


@malforms("MQMQ-2.2.20.5-18")
@needs("queues", "private_names")
@covers("MQQB-2.2.5-13", "MQQB-2.2.5-14", "MQQB-2.2.5-19")
def test_each_refusal_of_messages_to_private_names_has_its_class(peer, sut, judge):
    """On one session, the peer sends messages with acknowledgment requests to private format names: two to a queue that
    is not transactional, two to a queue that does not exist, and three to a queue with a quota for one of them. The
    FinalAck of each refused message has the class of its refusal.
    """
    small = sut.new_queue("small", transactional=True, quota_kb=2)
    receiver = AcknowledgingReceiver(peer, sut)
    cases = (
        (
            "MQQB-2.2.5-13",
            AckClass.NOT_TRANSACTIONAL_Q,
            peer.build_fields_for_private_name_of_sut_queue(sut.queue("plain")),
            (1, 2),
        ),
        (
            "MQQB-2.2.5-14",
            AckClass.BAD_DST_Q,
            peer.build_fields_for_private_destination(sut.guid, UNUSED_QUEUE_NUMBER),
            (1, 2),
        ),
        ("MQQB-2.2.5-19", AckClass.Q_EXCEED_QUOTA, peer.build_fields_for_private_name_of_sut_queue(small), (1, 2, 3)),
    )
    sent: list[tuple[str, AckClass, Frame]] = []
    for ordinal, (rule, message_class, destination, numbers) in enumerate(cases, 2):
        sequence = Sequence(peer, ordinal)
        for number in numbers:
            sequence.number = number - 1
            packet = sequence.message(
                receiver.add_admin_queue_fields(destination),
                destination=None,
                transaction={"PreviousTxSequenceNumber": min(number - 1, 1)},  # E40: message 2 may not count
                properties={"PA": 1, "NA": 1},
                body=BODY_THAT_FILLS_HALF_A_QUOTA,
            )
            sent.append((rule, message_class, receiver.send_packet(packet)))
    del sent[4]  # the message that the queue with the quota accepts
    finals = _collect_final_acks(receiver, len(sent))
    for rule, message_class, frame in sent:
        number = int(frame["TransactionHeader"].TxSequenceNumber)
        judge(
            rule,
            expected=acknowledgment_of_class(message_class),
            observed=finals.get(identifier(frame)),
            case=f"class of the FinalAck of message {number} to a private name",
            evidence=[frame, finals.get(identifier(frame))],
        )
    receiver.await_acks(len(sent) + 1)  # acknowledgments that arrive later would remain in the SUT
    receiver.acknowledge_all()


@needs("queue_control", "private_names", "receive")
@covers("MQQB-2.2.5-20", "MQQB-2.2.5-22")
def test_each_removal_of_messages_to_private_names_has_its_class(peer, sut, judge):
    """The peer sends two messages to a private format name that expire in their queue, and two messages to a private
    format name of a second queue, which an application deletes. Each FinalAck has the class of its removal.
    """
    receiver = Receiver(peer, sut)
    deleted = sut.new_queue("deleted", transactional=True)
    expiring = sut.new_queue("expiring", transactional=True)
    sent = []
    for ordinal, (rule, message_class, queue, lifetime) in enumerate(
        (
            ("MQQB-2.2.5-22", AckClass.RECEIVE_TIMEOUT, expiring, {"TimeToBeReceived": SHORT_LIFETIME_S}),
            ("MQQB-2.2.5-20", AckClass.Q_DELETED, deleted, {}),
        ),
        2,
    ):
        sequence = Sequence(peer, ordinal)
        for _ in range(2):
            user = peer.build_fields_for_private_name_of_sut_queue(queue) | {"JN": 1, "JP": 1} | lifetime
            sent.append((rule, message_class, receiver.session.send(sequence.message(user, destination=None))))
    peer.eventually(lambda: len(sut.control.call("peek", queue=deleted)["messages"]) == 2)
    receiver.poll_acknowledgment()
    sut.delete_queue(deleted)
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    finals = _collect_final_acks(receiver, len(sent))
    for rule, message_class, frame in sent:
        number = int(frame["TransactionHeader"].TxSequenceNumber)
        judge(
            rule,
            expected=acknowledgment_of_class(message_class),
            observed=finals.get(identifier(frame)),
            case=f"class of the FinalAck of message {number} to a private name",
            evidence=[frame, finals.get(identifier(frame))],
        )


@needs("security", "receive", "private_names")
@covers(*FINAL_ACK_CLASS_OF_SECURED_MESSAGE_BY_RULE)
def test_each_refusal_of_secured_messages_to_private_name_has_its_class(peer, sut, judge):
    """On a session on which all messages have private format names, the peer sends two messages of a user without
    access, and two messages with a different user's signature, all in the middle of a sequence. The FinalAck of each
    message has the class of its refusal.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.open_another_session()
    destination = peer.build_fields_for_private_name_of_sut_queue(sut.queue("transactional"))

    def build_message(user, number):
        sequence = secured.create_sequence()
        sequence.number = number - 1
        return secured.message(user, queue="transactional", sequence=sequence, header=destination, destination=None)

    for number in (2, 3):
        packets = {
            "MQQB-2.2.5-15": build_message(MALLORY, number),
            "MQQB-2.2.5-18": sign_message(build_message(ALICE, number), SIG20, BOB.key),
        }
        for rule, disposition in secured.send_and_read_dispositions(packets, "transactional").items():
            judge(
                rule,
                expected=FINAL_ACK_CLASS_OF_SECURED_MESSAGE_BY_RULE[rule],
                observed=disposition.final,
                case=f"class of the FinalAck of message {number} to a private name",
                evidence=disposition.frames,
            )
