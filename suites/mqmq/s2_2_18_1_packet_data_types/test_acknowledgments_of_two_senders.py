"""MS-MQMQ 2.2.18.1.6 Message Class Identifiers: acknowledgments of messages of two senders, and of a paused queue."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position
from suites.mqqb.steps.sender import Sender

REACH_QUEUE_TIMEOUT_CLASS = "NACK_REACH_QUEUE_TIMEOUT"
SHORT_LIFETIME_S = 2


@covers("MQMQ-2.2.18.1.6-01")
def test_each_of_two_senders_gets_order_ack_of_its_sequence(peer, second_host, sut, judge):
    """The peer and a second queue manager at another address each send a transactional message, the one after the
    other. Each of them receives the OrderAck of its own sequence.
    """
    receivers = {"peer": Receiver(peer, sut, ordinal=5), "second_host": Receiver(second_host, sut, ordinal=9)}
    sent = [receiver.send() for receiver in receivers.values()]
    came = {name: receiver.poll_acknowledgment() for name, receiver in receivers.items()}
    names = {
        (receiver.sequence.identifier.Ordinal, receiver.sequence.identifier.TimeStamp): f"sequence of the {name}"
        for name, receiver in receivers.items()
    }
    observed = {
        name: "no OrderAck"
        if frame is None
        else names.get(read_acknowledged_sequence_position(frame)[:2], "another sequence")
        for name, frame in came.items()
    }
    judge(
        "MQMQ-2.2.18.1.6-01",
        expected=facts(peer="sequence of the peer", second_host="sequence of the second_host"),
        observed=observed,
        case="sequences in the OrderAcks that the senders receive",
        evidence=[*sent, *came.values()],
    )


@needs("send", "receive", "pause")
@covers("MQMQ-2.2.18.1.6-D03")
@varied("priority", "application tag", "queue journaling")
def test_message_expired_in_paused_queue_gets_reach_queue_timeout(peer, sut, judge):
    """An outgoing queue is paused while its session is open. Express and recoverable messages for the queue expire, and
    the queue is resumed. The SUT acknowledges each of the messages with NACK_REACH_QUEUE_TIMEOUT.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    session.acknowledge_all()
    sut.pause(sender.to)
    numbers = {
        delivery: sut.send(
            sender.to,
            body=delivery,
            label=delivery,
            delivery=delivery,
            acks=["negative_arrival"],
            admin_queue=sut.format_name("admin"),
            time_to_reach_queue_s=SHORT_LIFETIME_S,
        ).rpartition("\\")[2]
        for delivery in ("express", "recoverable")
    }
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    sut.resume(sender.to)

    def list_ack_classes(number):
        ordinal = int(number).to_bytes(4, "little")
        found = [one for one in sut.messages("admin") if bytes.fromhex(one["correlation_id"])[16:] == ordinal]
        return [str(one["class"]).removeprefix("MQMSG_CLASS_") for one in found]

    peer.eventually(lambda: all(list_ack_classes(one) for one in numbers.values()))
    sender.send(2)
    frames = sender.collect_messages_until_silence(session, 2)
    judge(
        "MQMQ-2.2.18.1.6-D03",
        expected={delivery: [REACH_QUEUE_TIMEOUT_CLASS] for delivery in numbers},
        observed={delivery: list_ack_classes(number) for delivery, number in numbers.items()},
        case="acknowledgments of the messages that expired in a paused queue",
        evidence=frames,
        errata="E110",
    )
    session.acknowledge_all()
