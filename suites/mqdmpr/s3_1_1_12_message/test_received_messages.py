"""MS-MQDMPR 3.1.1.12 Message: attributes that a queue manager does not change, and attributes that it
adds on arrival.
"""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, holds, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.wire import ProviderInfo
from suites.messages import Sequence
from suites.mqmq.steps.forwarding import forward_message
from suites.mqqb.steps.exchanges import deliver_message, describe_accepted_outcome
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S

CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ce")
QUEUE_MANAGER_GUID_SENDER_TYPE = 2
SECONDS_PER_HOUR = 3_600
PAUSE_BEFORE_SECOND_MESSAGE_MS = 2_000
LARGEST_LOOKUP_ID = 0xFFFF_FFFF_FFFF_FFFF
LOW_SEVEN_BYTES_MASK = LARGEST_LOOKUP_ID >> 8
VT_LPWSTR = 0x1F

PROPERTY_AND_FIELD_BY_RULE = {
    "MQDMPR-3.1.1.12-31": ("application_tag", "ApplicationTag"),
    "MQDMPR-3.1.1.12-32": ("body_base64", "MessageBody"),
    "MQDMPR-3.1.1.12-33": ("body_type", "BodyType"),
    "MQDMPR-3.1.1.12-34": ("correlation_id", "CorrelationID"),
    "MQDMPR-3.1.1.12-46": ("label", "Label"),
    "MQDMPR-3.1.1.12-57": ("extension_base64", "ExtensionData"),
}
"""For each rule, the name of the property on the control channel, and the field of the property in a packet."""
ALWAYS_SHOWN_MESSAGE_PROPERTIES = ("label", "body_base64")
RECEIVED_MESSAGE_FIELDS_BY_CASE: dict[str, dict[str, Any]] = {
    "text that is none": {
        "ApplicationTag": 0xFFFF_FFFF,
        "body": b"\xff\xfe<xml> \r\n\0 odd",
        "BodyType": VT_LPWSTR,
        "CorrelationID": b"\xff" * 20,
        "label": "  %s {0} \t\u200b ",
        "ExtensionData": b"\0\0ends with zeros\0\0",
    },
    "numbers": {
        "ApplicationTag": 0x0102_0304,
        "body": bytes(range(256)) + b"zeros at the end\0\0\0",
        "BodyType": 0x1011,
        "CorrelationID": bytes(range(20)),
        "label": "\U0001f4ec",
        "ExtensionData": bytes(range(255, 0, -1)),
    },
    "long values": {
        "ApplicationTag": 0x8000_0000,
        "body": bytes(range(256)) * 0x101 + b"end",
        "BodyType": 0x2011,
        "CorrelationID": bytes(19) + b"\1",
        "label": "".join(chr(0x100 + number) for number in range(249)),
        "ExtensionData": bytes(range(256)) * 2,
    },
}
"""Sets of values of properties. A transactional message has the long values: a body of more than 65,536 bytes and a
label of 249 characters.
"""
LATER_RECEIVED_MESSAGE_FIELDS_BY_CASE: dict[str, dict[str, Any]] = {
    "text that is none": RECEIVED_MESSAGE_FIELDS_BY_CASE["text that is none"]
    | {"ApplicationTag": 1, "body": "text\0".encode("utf-16-le"), "label": "next"},
    "numbers": RECEIVED_MESSAGE_FIELDS_BY_CASE["numbers"]
    | {"ApplicationTag": 2, "body": b"", "CorrelationID": bytes(16) + b"\1\2\3\4"},
    "long values": RECEIVED_MESSAGE_FIELDS_BY_CASE["numbers"]
    | {"ApplicationTag": 3, "label": "next", "ExtensionData": b"\1"},
}
"""For each set of values, the values of the next message."""


@needs("receive")
@covers(*PROPERTY_AND_FIELD_BY_RULE)
@pytest.mark.parametrize("given", list(RECEIVED_MESSAGE_FIELDS_BY_CASE))
def test_application_attributes_are_delivered_unchanged(peer, sut, judge, given):
    """Two received messages have the application tag, body, body type, correlation identifier, label and extension that
    the peer sent.
    """
    queue = "transactional" if given == "long values" else "plain"
    make = Sequence(peer).message if queue == "transactional" else peer.recoverable_message
    connection = peer.open_raw()
    packets = []
    for values in (RECEIVED_MESSAGE_FIELDS_BY_CASE[given], LATER_RECEIVED_MESSAGE_FIELDS_BY_CASE[given]):
        properties = {name: value for name, value in values.items() if name not in ("body", "label")}
        sent = connection.send(make(body=values["body"], label=values["label"], properties=properties))
        packets.append((values, sent))
    connection.require_session_ack_for_message()
    for values, sent in packets:
        found = _await_message_in_queue(peer, sut, sent, queue)
        wanted = {
            "application_tag": values["ApplicationTag"],
            "body_base64": base64.b64encode(values["body"]).decode(),
            "body_type": values["BodyType"],
            "correlation_id": values["CorrelationID"].hex(),
            "label": values["label"],
            "extension_base64": base64.b64encode(values["ExtensionData"]).decode(),
        }
        for rule, (name, _) in PROPERTY_AND_FIELD_BY_RULE.items():
            if name not in found and name not in ALWAYS_SHOWN_MESSAGE_PROPERTIES:
                judge.mark_not_exercised(rule, reason=f"the control channel shows no {name}", evidence=sent)
            else:
                subject = f"{name} of the message with label {values['label'][:20]}"
                judge(rule, expected={subject: wanted[name]}, observed={subject: found.get(name)}, evidence=sent)


@needs("private_names")
@covers(*PROPERTY_AND_FIELD_BY_RULE)
@pytest.mark.parametrize("given", list(RECEIVED_MESSAGE_FIELDS_BY_CASE))
@varied("queue quota", priority=("3", "0"), body=("short", "5,000 bytes"))
def test_application_attributes_are_forwarded_unchanged(peer, sut, judge, given):
    """A forwarded message has the application tag, body, body type, correlation identifier, label and extension that
    the peer sent.
    """
    sent, frame = forward_message(
        peer,
        sut,
        **{name: value for name, value in RECEIVED_MESSAGE_FIELDS_BY_CASE[given].items() if name != "ApplicationTag"},
    )
    for rule, (_, field) in PROPERTY_AND_FIELD_BY_RULE.items():
        gone, came = (each["MessagePropertiesHeader"].getfieldval(field) for each in (sent, frame))
        subject = f"{field} of the forwarded message"
        judge(rule, expected={subject: gone}, observed={subject: came}, evidence=[sent, frame])


def _await_message_in_queue(peer, sut, sent, queue="plain") -> dict[str, Any]:
    """Return a message from the peer as the control channel shows it in its queue; raise ConformanceFailure if it is
    missing.
    """
    ending = f"\\{sent['UserHeader'].MessageID}"

    def find_sent_message() -> list[dict[str, Any]]:
        return [one for one in sut.messages(queue) if one["message_id"].endswith(ending)]

    if not peer.eventually(lambda: bool(find_sent_message())):
        raise ConformanceFailure("the message did not arrive in its queue")
    return find_sent_message()[0]


KNOWN_PROVIDER_NAME = "Microsoft Base Cryptographic Provider, v1.0"
UNLISTED_SECURITY_PROVIDER_CASES: tuple[tuple[str, str, int, str], ...] = (
    ("an unknown type", "MQDMPR-3.1.1.12-60", 0x0BAD, KNOWN_PROVIDER_NAME),
    ("the type 0", "MQDMPR-3.1.1.12-60", 0, KNOWN_PROVIDER_NAME),
    ("the greatest type", "MQDMPR-3.1.1.12-60", 0xFFFF_FFFF, KNOWN_PROVIDER_NAME),
    ("an unknown name", "MQDMPR-3.1.1.12-61", 1, "Contoso Connector Provider"),
    ("a long name", "MQDMPR-3.1.1.12-61", 1, "Contoso " * 25),
    ("other letters", "MQDMPR-3.1.1.12-61", 1, "\u041f\u0440\u043e\u0432\u0430\u0439\u0434\u0435\u0440"),
)
"""For each case: its name, its rule, and the type and name of the provider."""


@covers("MQDMPR-3.1.1.12-60", "MQDMPR-3.1.1.12-61")
@pytest.mark.parametrize("queue", ["plain", "transactional"])
def test_message_with_unknown_connector_provider_is_accepted(peer, sut, judge, queue):
    """The peer sends unsigned messages from a connector to a queue of each kind. Each message has a different unknown
    provider type or provider name. The SUT acknowledges and stores each message.
    """
    make = peer.recoverable_message if queue == "plain" else Sequence(peer).message
    for name, rule, provider_type, provider_name in UNLISTED_SECURITY_PROVIDER_CASES:
        label = f"{name} {peer.next_message_id()}"
        provider = ProviderInfo(ProviderType=provider_type, ProviderName=provider_name)
        security = {
            "ST": QUEUE_MANAGER_GUID_SENDER_TYPE,
            "DE": 0,
            "SecurityID": peer.identifier.bytes_le,
            "ProviderInfo": bytes(provider),
        }
        packet = make({"ConnectorType": CONNECTOR_GUID}, queue=queue, label=label, security=security)
        done = deliver_message(peer, packet, label, queue)
        judge(
            rule,
            expected=describe_accepted_outcome(sut),
            observed=done.outcome,
            evidence=done.frames,
            case=f"message of a provider with {name}",
        )


@needs("receive")
@covers("MQDMPR-3.1.1.12-D01", "MQDMPR-3.1.1.12-D48")
@varied("time to reach queue", acknowledgments=("none", "of receipt"), body=("short", "5,000 bytes"))
def test_lookup_identifiers_are_unique_and_follow_queue_order(peer, sut, judge):
    """Twelve messages of all priorities have different LookupIdentifiers. These increase in the order of the queue or,
    if their high byte is always 0, in the order of arrival (erratum E59).
    """
    connection = peer.open_raw()
    sent = [connection.send(peer.message(base={"PR": priority})) for priority in (3, 6, 7, 0, 5, 2, 7, 3, 6, 1, 0, 4)]
    connection.require_session_ack_for_message()
    mine = {str(frame["UserHeader"].MessageID): frame["BaseHeader"].PR for frame in sent}
    there = [one for one in sut.messages() if one["message_id"].rpartition("\\")[2] in mine]
    if len(there) != len(sent):
        raise ConformanceFailure(f"only {len(there)} of {len(sent)} messages are in their queue")
    found = {str(one["message_id"]).rpartition("\\")[2]: lookup_id(one) for one in there}
    orders = [list(found)]
    if max(found.values()) <= LOW_SEVEN_BYTES_MASK:
        orders.append(list(mine))
    by_identifier = sorted(found, key=lambda one: found[one])
    distinct = len(set(found.values())) == len(found) and all(0 <= one <= LARGEST_LOOKUP_ID for one in found.values())
    judge(
        "MQDMPR-3.1.1.12-D01",
        expected={
            "LookupIdentifiers": holds("different values of 8 bytes"),
            "numbers of the messages in the order of their LookupIdentifiers": one_of(*orders),
        },
        observed={
            "LookupIdentifiers": distinct or list(found.values()),
            "numbers of the messages in the order of their LookupIdentifiers": by_identifier,
        },
        evidence=sent,
    )
    by_priority = [sorted(mine.values(), reverse=True), *(list(mine.values()) for _ in orders[1:])]
    priorities = [mine[one] for one in by_identifier]
    judge(
        "MQDMPR-3.1.1.12-D48",
        expected=one_of(*by_priority),
        observed=priorities,
        evidence=sent,
        case="priorities in the order of the LookupIdentifiers",
    )


@needs("send", "receive", "transactions", "queues")
@covers("MQDMPR-3.1.1.12-D03")
@pytest.mark.parametrize("origin", ["the peer", "an application"])
@varied("positive journaling", "time to be received", "read by")
def test_message_received_in_transaction_cannot_be_peeked(peer, sut, judge, origin):
    """A transaction has received a message from the peer or from a local application. Until the transaction is aborted,
    no peek finds this message, not even by its LookupIdentifier, or as the first or last message of its queue.
    """
    queue = sut.new_queue("locked", transactional=True)
    if origin == "the peer":
        to = rf"TCP:{sut.address}\{queue}"
        peer.open_raw().send(Sequence(peer).message(label="message of the transaction", destination=to))
        if not peer.await_label("message of the transaction", queue):
            raise ConformanceFailure("the message did not arrive in its queue")
    else:
        sut.send(sut.direct_name(queue), label="message of the transaction", delivery="transactional")
    known = lookup_id(sut.control.call("peek", queue=queue)["messages"][0])
    transaction = sut.control.call("begin")["transaction"]
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    meanwhile = sut.read_label("peek_message", queue=queue)
    by_identifier = sut.attempt("peek_by_lookup_id", queue=queue, lookup_id=known)
    by_place = [sut.attempt("peek_by_lookup_id", queue=queue, lookup_id=0, seek=one) for one in ("first", "last")]
    sut.control.call("abort", transaction=transaction)
    judge(
        "MQDMPR-3.1.1.12-D03",
        expected={
            "message peeked before the abort": Outcome.NOTHING,
            "peek by the LookupIdentifier before the abort": Outcome.REFUSED,
            "peeks at the first and last message before the abort": [Outcome.REFUSED, Outcome.REFUSED],
            "message peeked after the abort": "message of the transaction",
        },
        observed={
            "message peeked before the abort": meanwhile,
            "peek by the LookupIdentifier before the abort": by_identifier,
            "peeks at the first and last message before the abort": by_place,
            "message peeked after the abort": sut.read_label("peek_message", queue=queue),
        },
    )


@needs("receive")
@covers("MQDMPR-3.1.1.12-D04")
@varied("queue quota", "queue privacy", acknowledgments=("none", "of arrival"))
def test_arrival_time_is_second_of_arrival(peer, sut, judge):
    """ArrivalTime of a message is within the duration of the check, although its SentTime is an hour earlier. This
    holds for two recoverable messages, which arrive 2 s apart, for a transactional message, and for an expired message
    in the dead-letter queue.
    """
    before_s = peer.environment.now().utc_s
    connection = peer.open_raw()
    long_ago = {"SentTime": before_s - SECONDS_PER_HOUR}
    sent = connection.send(peer.recoverable_message(long_ago))
    late = f"late {sut.own}"
    connection.send(peer.recoverable_message(long_ago | {"JN": 1}, base={"TimeToReachQueue": 1}, label=late))
    transactional = connection.send(Sequence(peer).message(long_ago))
    connection.require_session_ack_for_message()
    peer.pass_time(PAUSE_BEFORE_SECOND_MESSAGE_MS)
    second = connection.send(peer.recoverable_message(long_ago))
    connection.require_session_ack_for_message()
    found = _await_message_in_queue(peer, sut, sent)
    later = _await_message_in_queue(peer, sut, second)
    in_sequence = _await_message_in_queue(peer, sut, transactional, "transactional")
    after_s = peer.environment.now().utc_s
    if "arrived_time" not in found:
        judge.mark_not_exercised(
            "MQDMPR-3.1.1.12-D04", reason="the control channel shows no arrived_time", evidence=sent
        )
        return
    expected = between(before_s - CLOCK_TOLERANCE_S, after_s + CLOCK_TOLERANCE_S)
    dead = [one for one in sut.read_kept_messages("system$;deadletter") if one["label"] == late]
    judge(
        "MQDMPR-3.1.1.12-D04",
        expected=holds("the second message arrived at least 1 s after the first message"),
        observed=later["arrived_time"] - found["arrived_time"] >= 1,
        evidence=second,
    )
    for one in (found, later, in_sequence, *dead):
        judge(
            "MQDMPR-3.1.1.12-D04",
            expected=expected,
            observed=one["arrived_time"],
            evidence=sent,
            case="arrival time in seconds",
        )
