"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: kinds of format names, and encrypted messages."""

from __future__ import annotations

from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import one_of
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId, PublicQueueFormatName
from harness.wire.protection import RC4
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver, QueueType, get_correlation_id, identifier
from suites.mqqb.steps.opening import OTHER_GUID, format_guid
from suites.mqqb.steps.ordering import get_private_queue_number
from suites.mqqb.steps.secured import SENDER_TYPE_OF_QUEUE_MANAGER, SYMMETRIC_KEYS, encrypt_message

ADMIN_QUEUE_NUMBER = 0x5A0B_0C05
BASE_PRIVACY_LEVEL = 1
REMOVED_MESSAGE_LABEL = "to be removed"


@covers("MQQB-3.1.7.15-11", "MQQB-3.1.7.15-14")
@needs("private_names")
def test_acknowledgment_to_third_queue_manager_does_not_name_peer(peer, sut, judge):
    """The peer sends a message with AQ 2 whose source is a third queue manager, and a message with AQ 6 whose
    administration queue is on the third queue manager. The SUT addresses no acknowledgment of these messages to the
    peer, although it acknowledges a message whose administration queue is on the peer.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    here = PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    there = PrivateQueueFormatName(SourceQueueManager=OTHER_GUID, PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    cases = {
        "MQQB-3.1.7.15-11": {"AQ": 2, "AdminQueue": here, "SourceQueueManager": OTHER_GUID, "RC": 1},
        "MQQB-3.1.7.15-14": {"AQ": 6, "AdminQueue": there},
    }
    sent = {rule: receiver.send_packet(peer.message(user, properties={"PA": 1})) for rule, user in cases.items()}
    last = receiver.send_packet(peer.message({"AQ": 2, "AdminQueue": here}, properties={"PA": 1}))
    came = receiver.await_acks(1)
    if not receiver.list_acks_of_class(AckClass.REACH_QUEUE, last):
        raise ConformanceFailure("the SUT did not acknowledge the message with an administration queue on the peer")
    own = format_guid(peer.identifier)
    for rule, message in sent.items():
        acks = [ack for ack in came if get_correlation_id(ack) == identifier(message)]
        hosts = [format_guid(ack["UserHeader"].QueueManagerAddress) for ack in acks]
        case = "acknowledgments that name the peer"
        judge(rule, expected=0, observed=hosts.count(own), case=case, evidence=[message, *acks])


@covers("MQQB-3.1.7.15-11", "MQQB-3.1.7.15-14", "MQQB-3.1.7.15-21")
@needs("receive", "queues", "private_names")
def test_acknowledgment_of_removal_names_private_queues(peer, sut, judge):
    """The peer sends a message with AQ 2, and a message with AQ 6 whose source is a third queue manager, to a private
    name of the SUT, and an application purges the queue. The acknowledgments go to the administration queue on the
    peer, and their response queue is the destination queue.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    number = get_private_queue_number(sut, sut.queue())
    here = PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    named = PrivateQueueFormatName(SourceQueueManager=peer.identifier, PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    cases = {
        "MQQB-3.1.7.15-11": {"AQ": 2, "AdminQueue": here},
        "MQQB-3.1.7.15-14": {"AQ": 6, "AdminQueue": named, "SourceQueueManager": OTHER_GUID, "RC": 1},
    }
    sent = {}
    for rule, user in cases.items():
        fields = peer.build_fields_for_private_destination(sut.guid, number) | user
        message = peer.message(fields, destination=None, properties={"NR": 1}, label=REMOVED_MESSAGE_LABEL)
        sent[rule] = receiver.send_packet(message)
    if not peer.eventually(lambda: len(sut.messages()) == len(sent)):
        raise ConformanceFailure("the messages are not in their queue")
    sut.control.call("purge", queue=sut.queue())
    came = receiver.await_acks(len(sent))
    if not came:
        raise ConformanceFailure("no acknowledgment of the purged messages arrived")
    for rule, message in sent.items():
        acks = [ack for ack in came if get_correlation_id(ack) == identifier(message)]
        queues = [getattr(ack["UserHeader"].DestinationQueue, "PrivateQueueIdentifier", None) for ack in acks]
        evidence = [message, *acks]
        case = "number of the administration queue in the acknowledgments"
        judge(rule, expected=[ADMIN_QUEUE_NUMBER], observed=queues, case=case, evidence=evidence)
        for ack in acks:
            user = ack["UserHeader"]
            response = getattr(user.ResponseQueue, "PrivateQueueIdentifier", None), int(user.RQ)
            expected = one_of((number, 2), (number, 6))
            judge("MQQB-3.1.7.15-21", expected=expected, observed=response, case="response queue", evidence=evidence)


@covers("MQQB-3.1.7.15-22")
@needs("receive", "queue_control", "directory")
def test_response_queue_of_acknowledged_message_to_public_queue_is_public(peer, sut, judge):
    """The peer sends a message to a public queue of the SUT, and an application purges the queue: the acknowledgments
    of arrival and of removal name the public queue as response queue.
    """
    queue = f"mqc-{sut.own}-response"
    sut.create_queue(queue)
    guid = UUID(sut.format_names(queue)["public"].partition("=")[2])
    receiver = AcknowledgingReceiver(peer, sut)
    named = {"DestinationQueue": PublicQueueFormatName(PublicQueueIdentifier=guid)}
    message = receiver.build_message(
        named, destination=None, properties={"PA": 1, "NR": 1}, label=REMOVED_MESSAGE_LABEL
    )
    sent = receiver.send_packet(message)
    if not peer.await_label(REMOVED_MESSAGE_LABEL, queue):
        raise ConformanceFailure("the message is not in its queue")
    receiver.await_acks(1)
    sut.control.call("purge", queue=queue)
    came = receiver.await_acks(2)
    users = [ack["UserHeader"] for ack in came]
    observed = [(int(user.RQ), str(getattr(user.ResponseQueue, "PublicQueueIdentifier", None))) for user in users]
    expected = [(int(QueueType.PUBLIC), str(guid))] * 2
    case = "response queues of the acknowledgments"
    judge("MQQB-3.1.7.15-22", expected=expected, observed=observed, case=case, evidence=[sent, *came])


@covers("MQQB-3.1.7.15-D06")
@needs("security", "private_names")
def test_acknowledgment_of_encrypted_message_is_not_encrypted(peer, sut, judge):
    """The peer sends an encrypted message whose administration queue is a private queue of the peer: the acknowledgment
    of arrival has no PrivacyLevel and is not encrypted.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    admin = {"AQ": 2, "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)}
    claims = {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "DE": 1, "SecurityID": peer.identifier.bytes_le}
    clear = peer.message(admin, properties={"PA": 1}, body=b"to be encrypted", security=claims)
    sent = receiver.send_packet(encrypt_message(sut, clear, BASE_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[40]))
    receiver.await_acks(1)
    came = receiver.list_acks_of_class(AckClass.REACH_QUEUE, sent)
    if not came:
        raise ConformanceFailure("the acknowledgment of the encrypted message did not arrive")
    user = came[0]["UserHeader"]
    encrypted = bool(user.SH and came[0]["SecurityHeader"].EB)
    observed = (encrypted, int(came[0]["MessagePropertiesHeader"].PrivacyLevel))
    case = "EB and PrivacyLevel of the acknowledgment"
    judge("MQQB-3.1.7.15-D06", expected=(False, 0), observed=observed, case=case, evidence=[sent, *came])
