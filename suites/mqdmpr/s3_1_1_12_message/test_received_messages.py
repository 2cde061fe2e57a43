"""MS-MQDMPR 3.1.1.12 Message: attributes that a queue manager leaves unchanged, and attributes that it adds on
arrival.
"""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, holds, one_of
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.wire import ProviderInfo
from suites.mqmq.steps.handing_on import handed_on
from suites.mqqb.steps.exchanges import reception, taken
from suites.mqqb.steps.opening import CLOCK_S

CONNECTOR = UUID("6d71636f-6e66-4f72-8d00-0000000000ce")
SENDER_TYPE_QUEUE_MANAGER = 2
HOUR_S = 3_600
MAX_ULONGLONG = 0xFFFF_FFFF_FFFF_FFFF
LOW_7_BYTES_MASK = MAX_ULONGLONG >> 8
VT_LPWSTR = 0x1F

SHOWN_FIELDS = {
    "MQDMPR-3.1.1.12-31": ("application_tag", "ApplicationTag"),
    "MQDMPR-3.1.1.12-32": ("body_base64", "MessageBody"),
    "MQDMPR-3.1.1.12-33": ("body_type", "BodyType"),
    "MQDMPR-3.1.1.12-34": ("correlation_id", "CorrelationID"),
    "MQDMPR-3.1.1.12-46": ("label", "Label"),
    "MQDMPR-3.1.1.12-57": ("extension_base64", "ExtensionData"),
}
"""By rule: the property as control shows it, and its field in a packet."""
ALWAYS_SHOWN = ("label", "body_base64")
GIVEN_ATTRIBUTES: dict[str, dict[str, Any]] = {
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
}


@needs("receive")
@covers(*SHOWN_FIELDS)
@pytest.mark.parametrize("given", list(GIVEN_ATTRIBUTES))
def test_application_attributes_are_delivered_unchanged(peer, sut, judge, given):
    """The application tag, body, body type, correlation identifier, label and extension of a received message are
    those that the peer sent.
    """
    values = GIVEN_ATTRIBUTES[given]
    connection = peer.open_raw()
    packet = connection.send(peer.recoverable_message(**values))
    connection.check_alive()
    expected = {
        "application_tag": values["ApplicationTag"],
        "body_base64": base64.b64encode(values["body"]).decode(),
        "body_type": values["BodyType"],
        "correlation_id": values["CorrelationID"].hex(),
        "label": values["label"],
        "extension_base64": base64.b64encode(values["ExtensionData"]).decode(),
    }
    observed = _read_received(peer, sut, packet)
    for rule, (name, _) in SHOWN_FIELDS.items():
        if name not in observed and name not in ALWAYS_SHOWN:
            judge.mark_not_exercised(rule, reason=f"control shows no {name}", evidence=packet)
        else:
            judge(rule, expected={name: expected[name]}, observed={name: observed.get(name)}, evidence=packet)


@needs("private_names")
@covers(*(rule for rule in SHOWN_FIELDS if rule != "MQDMPR-3.1.1.12-31"))
@pytest.mark.parametrize("given", list(GIVEN_ATTRIBUTES))
def test_application_attributes_are_forwarded_unchanged(peer, sut, judge, given):
    """The body, body type, correlation identifier, label and extension of a forwarded message are those that the
    peer sent.
    """
    sent_frame, forwarded_frame = handed_on(
        peer, sut, **{name: value for name, value in GIVEN_ATTRIBUTES[given].items() if name != "ApplicationTag"}
    )
    for rule, (_, field) in SHOWN_FIELDS.items():
        if rule != "MQDMPR-3.1.1.12-31":
            sent_value, forwarded_value = (
                each["MessagePropertiesHeader"].getfieldval(field) for each in (sent_frame, forwarded_frame)
            )
            judge(
                rule,
                expected={field: sent_value},
                observed={field: forwarded_value},
                evidence=[sent_frame, forwarded_frame],
            )


def _read_received(peer, sut, sent) -> dict[str, Any]:
    """Return a message of the peer as control shows it in the queue; ConformanceFailure when it is not there."""
    ending = f"\\{sent['UserHeader'].MessageID}"

    def find_messages() -> list[dict[str, Any]]:
        return [one for one in sut.messages() if one["message_id"].endswith(ending)]

    if not peer.eventually(lambda: bool(find_messages())):
        raise ConformanceFailure("the message did not come into its queue")
    return find_messages()[0]


PROVIDERS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "a type",
        "MQDMPR-3.1.1.12-60",
        {"ProviderType": 0x0BAD, "ProviderName": "Microsoft Base Cryptographic Provider, v1.0"},
    ),
    ("a name", "MQDMPR-3.1.1.12-61", {"ProviderType": 1, "ProviderName": "Contoso Connector Provider"}),
)


@covers("MQDMPR-3.1.1.12-60", "MQDMPR-3.1.1.12-61")
def test_message_with_unknown_connector_provider_is_accepted(peer, sut, judge):
    """An unsigned message of a connector with an unknown provider type or an unknown provider name is acknowledged
    and stored.
    """
    for name, rule, provider in PROVIDERS:
        label = f"{name} {peer.message_id()}"
        security = {
            "ST": SENDER_TYPE_QUEUE_MANAGER,
            "DE": 0,
            "SecurityID": peer.identifier.bytes_le,
            "ProviderInfo": bytes(ProviderInfo(**provider)),
        }
        packet = peer.recoverable_message({"ConnectorType": CONNECTOR}, label=label, security=security)
        disposition = reception(peer, packet, label)
        judge(rule, expected=taken(sut), observed=disposition.outcome, evidence=disposition.frames)


@needs("receive")
@covers("MQDMPR-3.1.1.12-D01", "MQDMPR-3.1.1.12-D48")
def test_lookup_identifiers_are_unique_and_follow_queue_order(peer, sut, judge):
    """Eight messages of different priorities get different LookupIdentifiers, which grow in the order of the queue,
    or in order of arrival if their high byte is always 0 (erratum E59).
    """
    connection = peer.open_raw()
    packets = [connection.send(peer.message(base={"PR": priority})) for priority in (3, 7, 0, 5, 7, 3, 1, 0)]
    connection.check_alive()
    mine = {str(frame["UserHeader"].MessageID): frame["BaseHeader"].PR for frame in packets}
    stored = [one for one in sut.messages() if one["message_id"].rpartition("\\")[2] in mine]
    if len(stored) != len(packets):
        raise ConformanceFailure(f"of {len(packets)} messages {len(stored)} are in their queue")
    observed = {str(one["message_id"]).rpartition("\\")[2]: lookup_id(one) for one in stored}
    orders = [list(observed)]
    if max(observed.values()) <= LOW_7_BYTES_MASK:
        orders.append(list(mine))
    by_identifier = sorted(observed, key=lambda one: observed[one])
    distinct = len(set(observed.values())) == len(observed) and all(
        0 <= one <= MAX_ULONGLONG for one in observed.values()
    )
    judge(
        "MQDMPR-3.1.1.12-D01",
        expected={"identifiers": holds("different ones of 8 bytes"), "order": one_of(*orders)},
        observed={"identifiers": distinct or list(observed.values()), "order": by_identifier},
        evidence=packets,
    )
    by_priority = [sorted(mine.values(), reverse=True), *(list(mine.values()) for _ in orders[1:])]
    priorities = [mine[one] for one in by_identifier]
    judge("MQDMPR-3.1.1.12-D48", expected=one_of(*by_priority), observed=priorities, evidence=packets)


@needs("send", "receive", "transactions", "queue_control")
@covers("MQDMPR-3.1.1.12-D03")
def test_message_received_in_transaction_cannot_be_peeked(peer, sut, judge):
    """A message that a transaction has received cannot be peeked until the transaction is aborted."""
    queue = sut.new_queue("locked", transactional=True)
    sut.send(sut.direct_name(queue), label="locked", delivery="transactional")
    transaction = sut.control.call("begin")["transaction"]
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    peeked = sut.read_label("peek_message", queue=queue)
    sut.control.call("abort", transaction=transaction)
    judge(
        "MQDMPR-3.1.1.12-D03",
        expected={"locked": Outcome.NOTHING, "aborted": "locked"},
        observed={"locked": peeked, "aborted": sut.read_label("peek_message", queue=queue)},
    )


@needs("receive")
@covers("MQDMPR-3.1.1.12-D04")
def test_arrival_time_is_second_of_arrival(peer, sut, judge):
    """The ArrivalTime of a message in its queue, and of an expired message in the dead-letter queue, lies within the
    check; their SentTime is an hour earlier.
    """
    before_s = peer.environment.now().utc_s
    connection = peer.open_raw()
    long_ago = {"SentTime": before_s - HOUR_S}
    packet = connection.send(peer.recoverable_message(long_ago))
    label = f"late {sut.own}"
    connection.send(peer.recoverable_message(long_ago | {"JN": 1}, base={"TimeToReachQueue": 1}, label=label))
    connection.check_alive()
    observed = _read_received(peer, sut, packet)
    after_s = peer.environment.now().utc_s
    if "arrived_time" not in observed:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D04", reason="control shows no arrived_time", evidence=packet)
        return
    expected = between(before_s - CLOCK_S, after_s + CLOCK_S)
    dead = [one for one in sut.kept_messages("system$;deadletter") if one["label"] == label]
    for one in (observed, *dead):
        judge("MQDMPR-3.1.1.12-D04", expected=expected, observed=one["arrived_time"], evidence=packet)
