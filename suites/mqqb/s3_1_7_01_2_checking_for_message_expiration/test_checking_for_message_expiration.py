"""MS-MQQB 3.1.7.1.2 Checking for Message Expiration, with the step of MS-MQQB 3.1.7.1 that requires it.

TimeToReachQueue is in seconds of real time, which no test can accelerate. Therefore one check lets messages of all
kinds expire together.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import acknowledged, facts
from harness.run.marks import covers, needs, varied
from harness.wire import PrivateQueueFormatNameId, session_ack
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.sender import Sender

MESSAGE_LIFETIME_S = 1
EXPIRY_WAIT_MS = 3_100
"""The time in ms after which a lifetime of LIFE_S has expired according to every clock that counts whole seconds."""
LONG_LIFETIME_S = 600
DEAD_LETTERS = {
    "express": "system$;deadletter",
    "recoverable": "system$;deadletter",
    "transactional": "system$;deadxact",
}
REACH_QUEUE_TIMEOUT_CLASS_NAME = "MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT"


@needs("send", "receive", "queue_control")
@covers(
    "MQQB-3.1.7.1-06",
    "MQQB-3.1.7.1.2-D01",
    "MQQB-3.1.7.1.2-01",
    "MQQB-3.1.7.1.2-02",
    "MQQB-3.1.7.1.2-03",
    "MQDMPR-3.1.1.12-D12",
    "MQQB-3.1.7.1.2-06",
    "MQMQ-2.2.19.1-24",
)
@pytest.mark.parametrize("delivery", list(DEAD_LETTERS))
@varied("queue journaling", priority=("3", "0"), body=("short", "5,000 bytes"))
def test_message_that_expires_while_waiting_is_not_sent(peer, sut, judge, delivery):
    """The SUT has seven messages for an unreachable peer, six of which expire. The SUT sends only the unexpired
    message, and sends a negative acknowledgment of each expired message with NA. The SUT puts each expired message with
    JN into a dead-letter queue, even if its TimeToBeReceived has also expired, and does not put the expired message
    with JP there.
    """
    admin = sut.format_name("admin")
    report = {"acks": ["negative_arrival"], "admin_queue": admin}
    names = {
        send_message_with_lifetime(peer, sut, delivery, tag, life_s, **fields): name
        for tag, (name, life_s, fields) in enumerate(
            (
                ("expired with NA", MESSAGE_LIFETIME_S, report),
                (
                    "expired with JN",
                    MESSAGE_LIFETIME_S,
                    {"journal": ["negative"], "time_to_be_received_s": MESSAGE_LIFETIME_S},
                ),
                ("expired with JP", MESSAGE_LIFETIME_S, {"journal": ["positive"]}),
                ("expired with NA and JN", MESSAGE_LIFETIME_S, {**report, "journal": ["negative"]}),
                ("unexpired", LONG_LIFETIME_S, {**report, "journal": ["negative"]}),
                ("expired behind it", MESSAGE_LIFETIME_S, {}),
                ("expired, of high priority", MESSAGE_LIFETIME_S, {"priority": 7}),
            ),
            1,
        )
    }
    peer.pass_time(EXPIRY_WAIT_MS)
    sender = Sender(peer, sut)
    session = sender.await_session()
    came = sender.collect_messages_until_silence(session, 1)
    sent = [list(names.values())[tag - 1] for tag in Sender.list_tags(came)]
    judge(
        "MQQB-3.1.7.1-06",
        "MQQB-3.1.7.1.2-01",
        "MQQB-3.1.7.1.2-D01",
        "MQMQ-2.2.19.1-24",
        expected=["unexpired"],
        observed=sent,
        case="labels of the messages sent",
        evidence=came,
    )
    ordinals = {int(one.rpartition("\\")[2]): name for one, name in names.items()}
    judge(
        "MQQB-3.1.7.1.2-02",
        expected=facts(labels_of_the_messages_sent=["unexpired"], number_of_messages_left=1),
        observed={"labels_of_the_messages_sent": sent, "number_of_messages_left": sut.outgoing(sender.to)["count"]},
        evidence=came,
    )
    reported = {bytes.fromhex(one["correlation_id"])[-4:]: one["class"] for one in sut.messages("admin")}
    nacks = {name: reported[key] for ordinal, name in ordinals.items() if (key := encode_ordinal(ordinal)) in reported}
    judge(
        "MQQB-3.1.7.1.2-03",
        "MQDMPR-3.1.1.12-D12",
        expected={
            "expired with NA": REACH_QUEUE_TIMEOUT_CLASS_NAME,
            "expired with NA and JN": REACH_QUEUE_TIMEOUT_CLASS_NAME,
        },
        observed=nacks,
    )
    dead = {one["message_id"] for one in sut.kept(DEAD_LETTERS[delivery])}
    judge(
        "MQQB-3.1.7.1.2-06",
        expected=["expired with JN", "expired with NA and JN"],
        observed=[name for one, name in names.items() if one in dead],
        case="labels of the messages in the dead-letter queue",
    )
    session.send(session_ack(AckSequenceNumber=len(session.messages)))


@needs("send", "set_timers")
@covers("MQQB-3.1.7.1.2-01", "MQQB-3.1.7.1.2-02", "MQQB-3.1.7.1-06", "MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24")
@varied("positive journaling", "label", priority=("3", "0"))
def test_message_that_expires_after_sending_is_not_resent(peer, sut, judge):
    """The SUT sends an express and a transactional message that expire, and a message that does not expire; the peer
    acknowledges none and drops the session: on the next session, the SUT sends only the message that has not expired.
    """
    sut.set_timers(scale=1, session_retry_connect_ms=EXPIRY_WAIT_MS)
    sender = Sender(peer, sut)
    sender.send(1, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    sender.send(2, time_to_reach_queue_s=LONG_LIFETIME_S)
    sender.send(3, time_to_reach_queue_s=MESSAGE_LIFETIME_S, delivery="transactional")
    session, _ = sender.await_first_messages(3)
    session.close()
    peer.pass_time(EXPIRY_WAIT_MS)
    again = sender.await_session()
    came = sender.collect_messages_until_silence(again, 1)
    judge.all(expected=[2], observed=Sender.list_tags(came), case="numbers of the messages sent again", evidence=came)
    again.acknowledge_all()


LIFETIMES_OF_FORWARDED_MESSAGES = {
    "message that expired": (-1_000, 900),
    "message that has not expired": (-1_000, 1_100),
    "message with a later SentTime": (1_000, 1),
    "message with an infinite lifetime": (-1_000_000, 0xFFFF_FFFF),
    "message with a lifetime of 68 years": (-1_000, 0x8000_0001),
}
"""SentTime relative to now, and TimeToReachQueue, in seconds. The remaining lifetimes are longer than any difference
between two clocks.
"""
LIFETIMES_THAT_END_WITHIN_A_SECOND = {
    "message that expires now": (-100, 100),
    "message that expired a second ago": (-101, 100),
}
"""Lifetimes that end within one second of now, so that only a check in virtual time can judge them."""


@needs("private_names")
@covers("MQQB-3.1.7.1.2-01", "MQQB-3.1.7.1.2-D01")
@varied("trace", "queue journaling", priority=("3", "0"))
def test_forwarded_message_expires_by_its_sent_time(peer, sut, judge):
    """The peer sends the SUT messages from another queue manager that are addressed to the peer. The SUT does not
    forward messages whose lifetime, counted from SentTime, has expired, and forwards the other messages.
    """
    sender = Sender(peer, sut)
    session = peer.open_raw()
    cases = LIFETIMES_OF_FORWARDED_MESSAGES | (
        LIFETIMES_THAT_END_WITHIN_A_SECOND if peer.environment.is_time_virtual else {}
    )
    now_s, sent = peer.environment.now().utc_s, []
    for name, (ago_s, life_s) in cases.items():
        user = {"SourceQueueManager": OTHER_GUID, "QueueManagerAddress": peer.identifier, "RC": 1}
        user |= {"SentTime": now_s + ago_s}
        to = PrivateQueueFormatNameId(PrivateQueueIdentifier=1)
        base = {"TimeToReachQueue": life_s}
        sent.append(session.send(peer.message(user, base=base, destination=to, label=name, body=name.encode())))
    lasting = [name for name, (ago_s, life_s) in cases.items() if -ago_s <= life_s]
    onward = sender.await_session()
    came = sender.collect_messages_until_silence(onward, len(lasting))
    names = sorted(bytes(frame["MessagePropertiesHeader"].MessageBody).decode() for frame in came)
    judge.all(
        expected=sorted(lasting),
        observed=names,
        case="labels of the forwarded messages",
        evidence=[*sent, *came],
    )
    onward.acknowledge_all()


def send_message_with_lifetime(peer, sut, delivery: str, tag: int, life_s: int, **fields: Any) -> str:
    """Let the SUT send a message with the given TimeToReachQueue in seconds; return its message id."""
    return sut.send(peer.direct_name(), delivery=delivery, application_tag=tag, time_to_reach_queue_s=life_s, **fields)


def encode_ordinal(ordinal: int) -> bytes:
    """Return the ordinal of a message as the last four bytes of a CorrelationID."""
    return ordinal.to_bytes(4, "little")


@needs("private_names")
@covers("MQQB-3.1.7.1.2-03")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_forwarded_message_that_expires_is_acknowledged_as_requested(peer, sut, judge, delivery):
    """The peer sends the SUT two messages from another queue manager that must be forwarded, but have expired. The SUT
    sends a negative acknowledgment of the message with NA to the administration queue of that message, and no
    acknowledgment of the message without NA.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    now_s = peer.environment.now().utc_s
    sent = []
    for asked in (1, 0):
        user = {"SourceQueueManager": OTHER_GUID, "QueueManagerAddress": peer.identifier, "RC": 1}
        user |= {"SentTime": now_s - 1_000, "DM": int(delivery == "recoverable")}
        packet = peer.message(
            receiver.add_admin_queue_fields(user),
            base={"TimeToReachQueue": 900},
            destination=PrivateQueueFormatNameId(PrivateQueueIdentifier=1),
            properties={"NA": asked},
        )
        sent.append(receiver.send_packet(packet))
    came = receiver.await_acks(1)
    judge("MQQB-3.1.7.1.2-03", expected=acknowledged(sent[0]), observed=came, evidence=[*sent, *came])
