"""MS-MQMQ 2.2.18.1.6 Message Class Identifiers: the class of the acknowledgment for each event."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE
from harness.wire import PrivateQueueFormatNameId, ProviderInfo
from harness.wire.protection import SIG30
from suites.messages import Sequence
from suites.mqqb.steps.ordering import Receiver, get_private_queue_number, read_acknowledged_sequence_position
from suites.mqqb.steps.secured import SecuredMessageSender, sign_message
from suites.mqqb.steps.sender import Sender

REACH_QUEUE_TIMEOUT_CLASS = "NACK_REACH_QUEUE_TIMEOUT"
ARRIVAL_ACK_CLASS = "ACK_REACH_QUEUE"
UNSUPPORTED_PROVIDER_CLASS = "NACK_UNSUPPORTED_CRYPTO_PROVIDER"
UNKNOWN_PROVIDER_INFO = bytes(ProviderInfo(ProviderType=1, ProviderName="Contoso Cryptographic Provider"))
SHORT_LIFETIME_S = 2
FURTHER_MESSAGE_PROPERTIES_BY_KIND: dict[str, dict[str, Any]] = {
    "transactional": {"delivery": "transactional"},
    "with JN": {"journal": ["negative"]},
}
"""The further arguments of messages that expire, by name."""


@needs("send", "receive")
@covers("MQMQ-2.2.18.1.6-D03", "MQMQ-2.2.19.3-03")
@pytest.mark.parametrize("limit", ["time_to_reach_queue_s", "time_to_be_received_s"])
@varied("priority", "application tag", "queue journaling", "queue quota", "queue privacy")
def test_message_expired_at_sender_gets_reach_queue_timeout(peer, sut, judge, limit):
    """TimeToReachQueue or TimeToBeReceived of three messages to an unreachable peer expires: an express message, a
    transactional message, and a message with JN. The SUT acknowledges each message with NACK_REACH_QUEUE_TIMEOUT.
    Erratum E110: a sender may check only TimeToReachQueue; such a sender sends the messages whose TimeToBeReceived has
    expired.
    """
    admin = sut.format_name("admin")
    to = peer.direct_name("mqc-unreachable")
    requests = {"acks": ["negative_arrival"], "admin_queue": admin, limit: SHORT_LIFETIME_S}
    sent = sut.send(to, body="expires", label="expires", **requests)
    more: dict[str, dict[str, Any]] = {
        "transactional": {"delivery": "transactional"},
        "with JN": {"journal": ["negative"]},
    }
    others = {name: sut.send(to, body=name, label=name, **requests, **fields) for name, fields in more.items()}
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    sender = Sender(peer, sut, to)
    sender.send(1)
    session, later = (
        sender.await_first_messages(1) if limit == "time_to_reach_queue_s" else _await_session_and_message(sender)
    )

    def list_ack_classes(message):
        return [one["class"] for one in sut.messages("admin") if _is_acknowledgment_of_message(one, message)]

    peer.eventually(lambda: all(list_ack_classes(one) for one in (sent, *others.values())))
    allowed = ([REACH_QUEUE_TIMEOUT_CLASS],) if limit == "time_to_reach_queue_s" else ([REACH_QUEUE_TIMEOUT_CLASS], [])
    for name, message in {"message": sent, **others}.items():
        observed = [str(one).removeprefix("MQMSG_CLASS_") for one in list_ack_classes(message)]
        case = f"acknowledgment ({name})"
        judge.all(expected=one_of(*allowed), case=case, observed=observed, evidence=later, errata="E110")
    session.acknowledge_all()


def _await_session_and_message(sender):
    session = sender.await_session()
    return session, sender.collect_messages_until_silence(session, 1)


def _is_acknowledgment_of_message(message, sent):
    guid, _, number = sent.strip("{").partition("}\\")
    correlation_id = bytes.fromhex(message["correlation_id"])
    return correlation_id[16:] == int(number).to_bytes(4, "little") and guid.lower() == message["source"].lower()


@needs("security", "receive", "insecure_nacks")
@covers("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21")
@pytest.mark.parametrize("queue", ["plain", "transactional"])
def test_signature_of_unknown_provider_gets_unsupported_provider(peer, sut, judge, queue):
    """The check runs for each kind of queue. A message that is signed with an unknown provider gets
    NACK_UNSUPPORTED_CRYPTO_PROVIDER or, as erratum E84 allows, ACK_REACH_QUEUE. A message that is signed with a known
    provider gets ACK_REACH_QUEUE.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    packet = secured.message(queue=queue, security={"DE": 0, "ProviderInfo": UNKNOWN_PROVIDER_INFO})
    several = secured.message(queue=queue, several=True, security={"DE": 0, "ProviderInfo": UNKNOWN_PROVIDER_INFO})
    recoverable = secured.message(
        queue=queue, header={"DM": 1}, security={"DE": 0, "ProviderInfo": UNKNOWN_PROVIDER_INFO}
    )
    found = secured.send_and_read_dispositions(
        {
            "signature_of_an_unknown_provider": sign_message(packet),
            "signature_in_a_list_of_an_unknown_provider": sign_message(several, SIG30),
            "recoverable_message_of_an_unknown_provider": sign_message(recoverable),
            "signature_of_a_known_provider": sign_message(secured.message(queue=queue)),
        },
        queue,
    )
    judge.all(
        expected=facts(
            signature_of_an_unknown_provider=one_of(UNSUPPORTED_PROVIDER_CLASS, ARRIVAL_ACK_CLASS),
            signature_in_a_list_of_an_unknown_provider=one_of(UNSUPPORTED_PROVIDER_CLASS, ARRIVAL_ACK_CLASS),
            recoverable_message_of_an_unknown_provider=one_of(UNSUPPORTED_PROVIDER_CLASS, ARRIVAL_ACK_CLASS),
            signature_of_a_known_provider=ARRIVAL_ACK_CLASS,
        ),
        observed={name: disposition.answer for name, disposition in found.items()},
        evidence=[
            *found["signature_of_an_unknown_provider"].frames,
            *found["signature_in_a_list_of_an_unknown_provider"].frames,
            *found["recoverable_message_of_an_unknown_provider"].frames,
            *found["signature_of_a_known_provider"].frames,
        ],
        errata="E84",
    )


def _read_sequence_identifier(frame):
    identifier = frame["TransactionHeader"].TxSequenceID
    return int(identifier.Ordinal), int(identifier.TimeStamp)


ORDER_QUEUE_NUMBER = 4
"""The number of the queue to which order acknowledgments for private names are sent (MS-MQQB 2.2.4)."""


@needs("directory", "queues", "private_names")
@covers("MQSO-5.1.1.2-D14")
def test_order_ack_of_routed_message_is_sent_to_an_order_queue(peer, sut, judge):
    """The peer sends a transactional message to a private name. Then, as a router, it delivers a transactional message
    from a remote computer. The OrderAck of the second message is addressed to the order queue of the remote computer or
    of the peer (E42).
    """
    receiver = Receiver(peer, sut)
    queue = PrivateQueueFormatNameId(PrivateQueueIdentifier=get_private_queue_number(sut, sut.queue("transactional")))
    own = receiver.send({"QueueManagerAddress": sut.guid}, destination=queue)
    receiver.await_acknowledgment()
    receiver.sequence = Sequence(peer, ordinal=2)
    source = {"SourceQueueManager": GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE, "QueueManagerAddress": sut.guid, "RC": 1}
    sent = receiver.send(source, destination=queue)

    def list_acks_after_first():
        return [
            one
            for one in receiver.list_acknowledgments()
            if read_acknowledged_sequence_position(one)[:2] != _read_sequence_identifier(own)
        ]

    frame = receiver.poll(list_acks_after_first)
    if frame is None:
        raise ConformanceFailure("no OrderAck arrived for the message of the remote computer")
    user = frame["UserHeader"]
    judge.all(
        expected=(3, one_of(str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE), str(peer.identifier)), ORDER_QUEUE_NUMBER),
        observed=(int(user.DQ), str(user.QueueManagerAddress), int.from_bytes(frame.data[64:68], "little")),
        case="DQ, queue manager and number of the destination of the OrderAck",
        evidence=[sent, frame],
    )
