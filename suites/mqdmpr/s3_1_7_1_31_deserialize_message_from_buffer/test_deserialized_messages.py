"""MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer: the attributes that the control channel shows for a packet's
fields.
"""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs, varied
from harness.sut.provisioning import ALICE
from harness.wire import (
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    PrivateQueueFormatName,
    PublicQueueFormatName,
)
from suites.messages import Sequence
from suites.mqqp.steps.whole import UnchangedMessageExpectation
from suites.whole_messages import describe_packet

NAME_BY_MESSAGE_CLASS = {
    0x0000: "NORMAL",
    0x0001: "REPORT",
    0x0002: "ACK_REACH_QUEUE",
    0x4000: "ACK_RECEIVE",
    0x8000: "NACK_BAD_DST_Q",
    0x8001: "NACK_DELETED",
    0x8002: "NACK_REACH_QUEUE_TIMEOUT",
    0x8003: "NACK_Q_EXCEED_QUOTA",
    0x8004: "NACK_ACCESS_DENIED",
    0x8005: "NACK_HOP_COUNT_EXCEEDED",
    0x8006: "NACK_BAD_SIGNATURE",
    0x8007: "NACK_BAD_ENCRYPTION",
    0x8009: "NACK_NOT_TRANSACTIONAL_Q",
    0x800A: "NACK_NOT_TRANSACTIONAL_MSG",
    0x800B: "NACK_UNSUPPORTED_CRYPTO_PROVIDER",
    0xC000: "NACK_Q_DELETED",
    0xC001: "NACK_Q_PURGED",
    0xC002: "NACK_RECEIVE_TIMEOUT",
    0xC004: "NACK_RECEIVE_REJECTED",
}
"""For each value of MessageClass, the class name on the control channel, without the prefix MQMSG_CLASS_."""
TRANSACTIONAL_MESSAGE_CLASSES = (0x0000, 0x0001, 0x0002, 0xC002)
"""Values of MessageClass of transactional messages, among them the first and the last value of an acknowledgment."""
NAME_BY_HASH_ALGORITHM = {
    0x8001: "md2",
    0x8002: "md4",
    0x8003: "md5",
    0x8004: "sha1",
    0x800C: "sha256",
    0x800E: "sha512",
}
CIPHER_NAME_BY_ALGORITHM = {0x6602: "rc2", 0x6801: "rc4", 0x6610: "aes256", 0x660E: "aes128", 0x660F: "aes192"}
AES_256_ALGORITHM = 0x6610
NAME_BY_PRIVACY_LEVEL = {0: "none", 1: "base", 3: "enhanced", 5: "advanced"}
HOUR_S, INFINITE_LIFETIME_S = 3_600, 0xFFFF_FFFF
FAR_FUTURE_TIME_S = 0xF000_0001
"""A SentTime that needs 32 bits."""
LARGE_BODY = bytes(range(256)) * 270
TRACE_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d8")
SENT_LIFETIME_S = 0x8000_0001
"""A lifetime that needs 32 bits."""
NO_SENDER_TYPE, USER_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE = 0, 1, 2
PROPERTY_NOT_SHOWN_OUTCOME = "not shown"
NO_OPTIONAL_HEADERS_CASE = "message without optional headers"
MESSAGE_WITHOUT_SENDER_CASE, MESSAGE_OF_USER_CASE = "message without a sender", "message of a user"
MESSAGE_OF_QUEUE_MANAGER_CASE = "message of a queue manager"


def _send_and_read_messages(peer, sut, packets, queue="plain"):
    """Send messages on one session. Return two mappings by name: the messages in their queue as the control channel
    shows them, and the packets of the messages.
    """
    connection = peer.open_raw()
    identifiers = {name: connection.send(packet) for name, packet in packets.items()}
    connection.require_session_ack_for_message()

    def find_sent_messages():
        messages = {one["message_id"].rpartition("\\")[2]: one for one in sut.messages(queue)}
        ids = {name: str(frame["UserHeader"].MessageID) for name, frame in identifiers.items()}
        return {name: messages[number] for name, number in ids.items() if number in messages}

    peer.eventually(lambda: len(find_sent_messages()) == len(identifiers))
    if not find_sent_messages():
        raise ConformanceFailure("none of the messages arrived in its queue")
    return find_sent_messages(), list(identifiers.values())


def _judge_property(judge, rule, name, wanted, found, evidence):
    """Judge a property of received messages. If the control channel shows the property for none of the messages, mark
    the rule as not exercised.
    """
    observed = {
        one: _get_shown_property(found[one], name) if one in found else "not stored in its queue" for one in wanted
    }
    if all(value == PROPERTY_NOT_SHOWN_OUTCOME for value in observed.values()):
        judge.mark_not_exercised(rule, reason=f"the control channel shows no {name}", evidence=evidence)
    else:
        judge(
            rule,
            expected=dict(wanted),
            observed=observed,
            case=f"property {name} of each received message",
            evidence=evidence,
        )


def _get_shown_property(message, name):
    """Return a property as the control channel shows it; ``security.name`` is a security property of the message."""
    part, _, rest = name.partition(".")
    value = message.get(part, PROPERTY_NOT_SHOWN_OUTCOME)
    if rest and isinstance(value, dict):
        value = value.get(rest, PROPERTY_NOT_SHOWN_OUTCOME)
    elif rest and value is None:
        value = "no security"
    return sorted(value) if isinstance(value, list) else value


@needs("receive")
@covers("MQDMPR-3.1.7.1.31-D09")
def test_each_message_class_value_is_shown_as_its_class(peer, sut, judge):
    """For each defined value of MessageClass, the received recoverable and express messages show the class that the
    value denotes. Transactional messages show their class too.
    """
    for recoverable in (1, 0):
        packets = {
            name: peer.recoverable_message({"DM": recoverable}, MessageClass=number)
            for number, name in NAME_BY_MESSAGE_CLASS.items()
        }
        messages, sent = _send_and_read_messages(peer, sut, packets)
        expected = {name: f"MQMSG_CLASS_{name}" for name in packets}
        _judge_property(judge, "MQDMPR-3.1.7.1.31-D09", "class", expected, messages, sent)
    sequence = Sequence(peer)
    packets = {
        NAME_BY_MESSAGE_CLASS[number]: sequence.message(MessageClass=number) for number in TRANSACTIONAL_MESSAGE_CLASSES
    }
    messages, sent = _send_and_read_messages(peer, sut, packets, "transactional")
    expected = {name: f"MQMSG_CLASS_{name}" for name in packets}
    _judge_property(judge, "MQDMPR-3.1.7.1.31-D09", "class", expected, messages, sent)


@needs("receive")
@covers("MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12")
@varied("acknowledgments", "time to reach queue", "extension", "correlation", "body", "destination")
def test_journaling_of_received_message_is_from_jp_and_jn(peer, sut, judge):
    """The SUT receives messages with JP, with JN, with both bits and with neither, transactional or not. Each message
    has the journaling that its bits request.
    """
    bits = {
        "message without JP and JN": {},
        "message with JP": {"JP": 1},
        "message with JN": {"JN": 1},
        "message with both": {"JP": 1, "JN": 1},
        "express message with both": {"JP": 1, "JN": 1, "DM": 0},
    }
    packets = {name: peer.recoverable_message(set_) for name, set_ in bits.items()}
    messages, sent = _send_and_read_messages(peer, sut, packets)
    sequence = Sequence(peer)
    packets = {f"transactional {name}": sequence.message(set_) for name, set_ in list(bits.items())[:4]}
    bits |= dict(zip(packets, bits.values(), strict=False))
    found, more = _send_and_read_messages(peer, sut, packets, "transactional")
    messages |= found
    sent += more
    for rule, kind, bit in (
        ("MQDMPR-3.1.7.1.31-D11", "positive", "JP"),
        ("MQDMPR-3.1.7.1.31-D12", "negative", "JN"),
    ):
        expected = {name: [kind] if bit in set_ else [] for name, set_ in bits.items()}
        of_kind = {
            name: {**one, "journal": [each for each in one["journal"] if each == kind]} if "journal" in one else one
            for name, one in messages.items()
        }
        _judge_property(judge, rule, "journal", expected, of_kind, sent)


@needs("receive")
@covers("MQDMPR-3.1.7.1.31-D01", "MQDMPR-3.1.7.1.31-D02", "MQDMPR-3.1.7.1.31-D05")
@varied("acknowledgments", "response queue", "extension", "correlation", "destination")
def test_received_message_has_values_of_base_and_user_header(peer, sut, judge):
    """Six different messages are received, one of them traced and with a body of more than 64 KB. Each has the
    priority, trace queue, times, source, delivery mode and body of its packet.
    """
    sent_s = peer.environment.now().utc_s - HOUR_S
    packets = {
        "message with PR 3 and DM 1": peer.recoverable_message(
            {"SentTime": sent_s, "TimeToBeReceived": INFINITE_LIFETIME_S}
        ),
        "message with PR 0 and DM 0": peer.recoverable_message({"DM": 0}, base={"PR": 0, "TimeToReachQueue": HOUR_S}),
        "message with PR 7 and DM 1": peer.recoverable_message(
            {"TimeToBeReceived": 2 * HOUR_S}, base={"PR": 7, "TimeToReachQueue": 2 * HOUR_S}
        ),
        "message of a fast clock": peer.recoverable_message(
            {"SentTime": FAR_FUTURE_TIME_S, "TimeToBeReceived": INFINITE_LIFETIME_S}
        ),
        "traced express message": peer.recoverable_message(
            {"DM": 0}, base={"PR": 5, "TR": 1}, debug={"QueueIdentifier": TRACE_QUEUE_GUID}, body=LARGE_BODY
        ),
        "message with long lifetimes": peer.recoverable_message(
            {"TimeToBeReceived": SENT_LIFETIME_S}, base={"PR": 6, "TimeToReachQueue": SENT_LIFETIME_S - 1}
        ),
    }
    messages, sent = _send_and_read_messages(peer, sut, packets)
    frames = dict(zip(packets, sent, strict=True))
    for rule, name, of in (
        ("MQDMPR-3.1.7.1.31-D01", "priority", lambda frame: frame["BaseHeader"].PR),
        ("MQDMPR-3.1.7.1.31-D01", "time_to_reach_queue_s", lambda frame: frame["BaseHeader"].TimeToReachQueue),
        (
            "MQDMPR-3.1.7.1.31-D01",
            "trace_queue",
            lambda frame: str(TRACE_QUEUE_GUID) if frame["BaseHeader"].TR else None,
        ),
        (
            "MQDMPR-3.1.7.1.31-D02",
            "body_base64",
            lambda frame: base64.b64encode(bytes(frame["MessagePropertiesHeader"].MessageBody)).decode(),
        ),
        ("MQDMPR-3.1.7.1.31-D05", "time_to_be_received_s", lambda frame: frame["UserHeader"].TimeToBeReceived),
        ("MQDMPR-3.1.7.1.31-D05", "sent_time", lambda frame: frame["UserHeader"].SentTime),
        ("MQDMPR-3.1.7.1.31-D05", "source", lambda frame: str(peer.identifier)),
        ("MQDMPR-3.1.7.1.31-D05", "delivery", lambda frame: "recoverable" if frame["UserHeader"].DM else "express"),
    ):
        expected = {one: of(frame) for one, frame in frames.items()}
        _judge_property(judge, rule, name, expected, messages, sent)


def _build_message(peer, kind=QUEUE_MANAGER_SENDER_TYPE, sequence=None, **properties):
    """Build a message that is neither signed nor encrypted, and whose SecurityHeader has a sender of the given kind.
    With ``sequence``, the message is transactional.
    """
    senders = {
        NO_SENDER_TYPE: b"",
        USER_SENDER_TYPE: ALICE.security_id,
        QUEUE_MANAGER_SENDER_TYPE: peer.identifier.bytes_le,
    }
    certificate = ALICE.certificate if kind == NO_SENDER_TYPE else b""  # a SecurityHeader is there for something
    security = {"ST": kind, "DE": 1, "SecurityID": senders[kind], "SenderCert": certificate}
    build = peer.recoverable_message if sequence is None else sequence.message
    return build(security=security, **properties)


@needs("receive")
@covers("MQDMPR-3.1.7.1.31-D10", "MQDMPR-3.1.7.1.31-D13", "MQDMPR-3.1.7.1.31-D14")
def test_privacy_level_and_algorithms_are_those_of_their_values(peer, sut, judge):
    """For each defined value of PrivacyLevel, EncryptionAlgorithm and HashAlgorithm, the received message shows the
    level or algorithm that the value denotes.
    """
    for rule, field, name, numbers in (
        ("MQDMPR-3.1.7.1.31-D10", "PrivacyLevel", "security.privacy_level", NAME_BY_PRIVACY_LEVEL),
        ("MQDMPR-3.1.7.1.31-D13", "EncryptionAlgorithm", "security.encryption_algorithm", CIPHER_NAME_BY_ALGORITHM),
        ("MQDMPR-3.1.7.1.31-D14", "HashAlgorithm", "security.hash_algorithm", NAME_BY_HASH_ALGORITHM),
    ):
        packets = {
            f"message with {field} {number:#x}": _build_message(
                peer, **{field: number} | _build_field_required_by_privacy_level(field, number)
            )
            for number in numbers
        }
        messages, sent = _send_and_read_messages(peer, sut, packets)
        expected = dict(zip(packets, numbers.values(), strict=True))
        _judge_property(judge, rule, name, expected, messages, sent)
    sequence = Sequence(peer)
    packets = {
        f"transactional message with HashAlgorithm {number:#x}": _build_message(
            peer, sequence=sequence, HashAlgorithm=number
        )
        for number in NAME_BY_HASH_ALGORITHM
    }
    messages, sent = _send_and_read_messages(peer, sut, packets, "transactional")
    expected = dict(zip(packets, NAME_BY_HASH_ALGORITHM.values(), strict=True))
    _judge_property(judge, "MQDMPR-3.1.7.1.31-D14", "security.hash_algorithm", expected, messages, sent)


def _build_field_required_by_privacy_level(field, number):
    """Return the additional field that a PrivacyLevel requires: an encryption algorithm that is allowed
    at this level.
    """
    return (
        {"EncryptionAlgorithm": AES_256_ALGORITHM}
        if field == "PrivacyLevel" and NAME_BY_PRIVACY_LEVEL[number] == "advanced"
        else {}
    )


@needs("receive", "security")
@covers("MQDMPR-3.1.7.1.31-D03", "MQDMPR-3.1.7.1.31-D18")
@varied("positive journaling", "destination", acknowledgments=("none", "of arrival"))
def test_sender_and_sender_type_are_from_security_header(peer, sut, judge):
    """The SUT receives messages without a sender, from a user and from a queue manager. Each message has the sender and
    the sender type of its SecurityHeader (erratum E83).
    """
    kinds = {
        MESSAGE_WITHOUT_SENDER_CASE: NO_SENDER_TYPE,
        MESSAGE_OF_USER_CASE: USER_SENDER_TYPE,
        MESSAGE_OF_QUEUE_MANAGER_CASE: QUEUE_MANAGER_SENDER_TYPE,
    }
    messages, sent = _send_and_read_messages(
        peer, sut, {name: _build_message(peer, kind) for name, kind in kinds.items()}
    )
    accepted = [name for name in kinds if name in messages or name != MESSAGE_WITHOUT_SENDER_CASE]
    sender_types = {
        MESSAGE_WITHOUT_SENDER_CASE: "none",
        MESSAGE_OF_USER_CASE: "sid",
        MESSAGE_OF_QUEUE_MANAGER_CASE: "queue_manager",
    }
    senders = {
        MESSAGE_WITHOUT_SENDER_CASE: None,
        MESSAGE_OF_USER_CASE: ALICE.sid,
        MESSAGE_OF_QUEUE_MANAGER_CASE: str(peer.identifier),
    }
    for rule, name, values in (
        ("MQDMPR-3.1.7.1.31-D18", "security.sender_type", sender_types),
        ("MQDMPR-3.1.7.1.31-D03", "security.sender", senders),
    ):
        _judge_property(judge, rule, name, {one: values[one] for one in accepted}, messages, sent)
    sequence = Sequence(peer)
    packets = {
        f"transactional {name}": _build_message(peer, kind, sequence=sequence) for name, kind in list(kinds.items())[1:]
    }
    messages, sent = _send_and_read_messages(peer, sut, packets, "transactional")
    expected = {f"transactional {name}": senders[name] for name in senders if f"transactional {name}" in packets}
    _judge_property(judge, "MQDMPR-3.1.7.1.31-D03", "security.sender", expected, messages, sent)
    security = {"ST": USER_SENDER_TYPE, "DE": 1, "SecurityID": ALICE.security_id, "SenderCert": ALICE.certificate}
    packets = {
        "transactional message with a certificate": sequence.message(security=security),
        "transactional message with a certificate and a body of 5,000 bytes": sequence.message(
            security=security, body=bytes(5_000)
        ),
    }
    messages, sent = _send_and_read_messages(peer, sut, packets, "transactional")
    expected = dict.fromkeys(packets, base64.b64encode(ALICE.certificate).decode())
    _judge_property(judge, "MQDMPR-3.1.7.1.31-D03", "security.certificate_base64", expected, messages, sent)


TRANSACTION_FIELD_NAMES = ("FM", "LM", "FA", "ID", "TxSequenceNumber", "PreviousTxSequenceNumber", "ConnectorQMGuid")
"""The fields of a TransactionHeader that stay the same while a message is in a queue."""
CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d9")


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.31-D04")
def test_read_message_has_transactional_attributes_of_packet(peer, remote, judge):
    """A queue contains the two messages of one transaction, and two messages that are transactions of their own; one of
    them names a connector, and the other requests a FinalAck. The TransactionHeader of each message that a remote read
    returns has the fields of the packet that arrived.
    """
    sequence = Sequence(peer)
    places: tuple[dict[str, Any], ...] = (
        {"FM": 1, "LM": 0, "ID": 7},
        {"FM": 0, "LM": 1, "ID": 7},
        {"ConnectorQMGuid": CONNECTOR_GUID},
        {"FA": 1},
    )
    sent = [sequence.message(transaction=place, label=str(number)) for number, place in enumerate(places)]
    queue = remote.open("transactional")
    remote.send_messages_and_require_acks(sent)
    for packet in sent:
        read = queue.start_receive()
        if read.outcome == "MQ_OK":
            queue.acknowledge(read).expect_success()
        returned = read.packet if read.packet is not None and read.packet["UserHeader"].TH else None
        wanted, observed = (
            {name: str(getattr(one["TransactionHeader"], name)) for name in TRANSACTION_FIELD_NAMES} if one else {}
            for one in (packet, returned)
        )
        judge("MQDMPR-3.1.7.1.31-D04", expected=wanted, observed=observed, evidence=[queue.session, read])


PRIVATE_QUEUE_NUMBERS_BY_DESTINATION_LIST = {
    "Destination": (1, 2, 3, 4),
    "Administration": (5, 6, 7),
    "Response": (8, 9, 10, 11, 12),
}
"""For each list of a MultiQueueFormatHeader, numbers from which the names of its queues are made."""
DESTINATION_LIST_SIGNATURE = bytes(range(1, 101))


def _build_listed_queue_names(peer, numbers):
    """Return direct, public and private names of queues, in turn; the first and the last name are direct names."""
    names = [
        MQFDirectQueueFormatName(DirectFormatName=rf"TCP:{peer.address}\private$\mqc-{number}")
        if number in (numbers[0], numbers[-1])
        else PublicQueueFormatName(PublicQueueIdentifier=UUID(int=number))
        if number % 2
        else PrivateQueueFormatName(SourceQueueManager=peer.identifier, PrivateQueueIdentifier=number)
        for number in numbers
    ]
    return [MQFFormatNameElement(FormatName=one) for one in names]


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.31-D06")
@varied("acknowledgments", "positive journaling", "extension", "correlation", "body")
def test_read_message_has_each_list_of_queues_and_signature(peer, remote, judge):
    """Two messages are in a queue. The first has three lists of three to five queues of different kinds, and a
    signature of the lists; the second has other lists. A remote read returns each message with its lists and signature.
    """
    swapped = dict(
        zip(
            PRIVATE_QUEUE_NUMBERS_BY_DESTINATION_LIST,
            [*PRIVATE_QUEUE_NUMBERS_BY_DESTINATION_LIST.values()][::-1],
            strict=True,
        )
    )
    sent = [
        peer.recoverable_message(
            label=label,
            mqf={name: _build_listed_queue_names(peer, numbers) for name, numbers in lists.items()}
            | {"Signature": MQFSignatureHeader(Signature=signature)},
        )
        for label, lists, signature in (
            ("first", PRIVATE_QUEUE_NUMBERS_BY_DESTINATION_LIST, DESTINATION_LIST_SIGNATURE),
            ("second", swapped, DESTINATION_LIST_SIGNATURE[::-1]),
        )
    ]
    queue = remote.open()
    remote.send_messages_and_require_acks(sent)
    for packet, signature in zip(sent, (DESTINATION_LIST_SIGNATURE, DESTINATION_LIST_SIGNATURE[::-1]), strict=True):
        read = queue.start_receive()
        if read.outcome == "MQ_OK":
            queue.acknowledge(read).expect_success()
        evidence = [queue.session, read]
        judge("MQDMPR-3.1.7.1.31-D06", expected=UnchangedMessageExpectation(packet), observed=read, evidence=evidence)
        if read.packet is not None and read.packet["UserHeader"].MQ:
            judge(
                "MQDMPR-3.1.7.1.31-D06",
                expected=signature.hex(),
                observed=bytes(read.packet["MultiQueueFormatHeader"].Signature.Signature).hex(),
                case="signature of the lists",
                evidence=evidence,
            )


@needs("receive")
@covers("MQDMPR-3.1.7.1.31-03", "MQDMPR-3.1.7.1.31-05")
def test_message_without_optional_headers_has_defaults(peer, sut, judge):
    """A message without optional headers, label and queues arrives after a message with all of them. It has neither a
    sender nor a tracing queue, and no other value of the earlier message. Two later messages with the same body have
    their own labels.
    """
    queue = UUID("6d71636f-6e66-4f72-8d00-0000000000d7")
    full = {
        "security": {"ST": QUEUE_MANAGER_SENDER_TYPE, "DE": 1, "SecurityID": peer.identifier.bytes_le},
        "properties": {"NR": 1, "ApplicationTag": 7, "ExtensionData": b"extended", "CorrelationID": b"c" * 20},
    }
    queues = {name: rf"TCP:{peer.address}\private$\mqc-{name.lower()}" for name in ("AdminQueue", "ResponseQueue")}
    bits = {"JP": 1, "JN": 1}
    packets = {
        "with both headers": peer.recoverable_message(
            queues | bits, base={"TR": 1}, debug={"QueueIdentifier": queue}, label="earlier", **full
        ),
        NO_OPTIONAL_HEADERS_CASE: peer.recoverable_message(label="", body=b""),
    }
    labels = {"one": "one", "the other": "the other"}
    packets |= {label: peer.recoverable_message(label=label, body=b"the same body") for label in labels}
    messages, sent = _send_and_read_messages(peer, sut, packets)
    _judge_property(judge, "MQDMPR-3.1.7.1.31-03", "label", labels, messages, sent)
    without = (
        {NO_OPTIONAL_HEADERS_CASE: messages[NO_OPTIONAL_HEADERS_CASE]} if NO_OPTIONAL_HEADERS_CASE in messages else {}
    )
    for name in ("trace_queue", "security"):
        _judge_property(judge, "MQDMPR-3.1.7.1.31-05", name, {NO_OPTIONAL_HEADERS_CASE: None}, without, sent)
    _judge_property(judge, "MQDMPR-3.1.7.1.31-05", "delivery", {NO_OPTIONAL_HEADERS_CASE: "recoverable"}, without, sent)
    shown = without.get(NO_OPTIONAL_HEADERS_CASE, {})
    wanted = {name: one for name, one in describe_packet(sent[1], sut.guid).items() if name in shown}
    wanted.pop("message_id", None)
    judge(
        "MQDMPR-3.1.7.1.31-03",
        "MQDMPR-3.1.7.1.31-05",
        expected=fields(wanted),
        observed={name: shown[name] for name in wanted},
        evidence=sent,
    )
