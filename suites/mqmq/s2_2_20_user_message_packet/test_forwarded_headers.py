"""MS-MQMQ 2.2.20 UserMessage Packet: the headers of messages that the SUT forwards."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.expectations import between, fields
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire import MQFAddressHeader, MQFDirectQueueFormatName, MQFFormatNameElement, MQFSignatureHeader
from harness.wire.blobs import SimpleBlob
from suites.messages import Sequence
from suites.mqmq.steps.forwarding import forward_message
from suites.mqmq.steps.layout import Layout

CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ce")
TRACE_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000c4")
HEADER_ORDER_FIELD, TRAILING_BYTES_FIELD = "headers", "bytes after the last header"
MULTI_QUEUE_HEADER_PREFIX, LIST_SIGNATURE_PREFIX = "MultiQueueFormatHeader.", "MultiQueueFormatHeader.Signature."
LIST_NAMES = ("Destination", "Administration", "Response")
PADDED_SIZE_FIELD = "padded size"
LARGE_BODY = b"an odd number of bytes, " * 300 + b"!"
LIST_SIGNATURE_BYTES = b"\x5a" * 0x104
"""A signature whose size needs two bytes."""
DESTINATION_LIST_FIXED_BYTES, LIST_ELEMENT_BYTES_BESIDE_NAME = 12, 4
"""The size of an MQFAddressHeader without names, and of FormatType and the null of a direct name, in bytes."""


def _build_list(header_id, *names):
    """Build a list of direct names whose size is not a multiple of 4 bytes."""
    if (DESTINATION_LIST_FIXED_BYTES + sum(LIST_ELEMENT_BYTES_BESIDE_NAME + 2 * len(name) for name in names)) % 4 == 0:
        names = (*names[:-1], f"{names[-1]}x")
    elements = [MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name)) for name in names]
    return MQFAddressHeader(HeaderID=header_id, FormatNameList=elements)


def _build_multi_queue_lists(**more):
    named = {
        "Destination": _build_list(0x64, r"OS:a\private$\b", r"TCP:10.0.0.9\private$\cd", r"OS:e\f"),
        "Administration": _build_list(0xC8, r"OS:a\private$\acks", r"OS:b\private$\acks2"),
        "Response": _build_list(0x12C, r"OS:a\private$\answers", r"OS:bc\private$\answers"),
    }
    return named | more


def _build_paths_of_list_field(name):
    return [f"{MULTI_QUEUE_HEADER_PREFIX}{one}.{name}" for one in LIST_NAMES]


HEADER_FIELDS_BY_RULE = {
    "MQDMPR-3.1.1.12-D51": ["UserHeader.SourceQueueManager"],
    "MQMQ-2.2.20-01": [HEADER_ORDER_FIELD, "UserHeader.SourceQueueManager", "MessagePropertiesHeader.Label"],
    "MQMQ-2.2.20-03": [HEADER_ORDER_FIELD, "UserHeader.Flags.TH", TRAILING_BYTES_FIELD],
    "MQMQ-2.2.20-04": [
        HEADER_ORDER_FIELD,
        "UserHeader.Flags.SH",
        "MessagePropertiesHeader.Label",
        TRAILING_BYTES_FIELD,
    ],
    "MQMQ-2.2.20-05": [HEADER_ORDER_FIELD, "UserHeader.Flags.MP", "MessagePropertiesHeader.Label"],
    "MQMQ-2.2.20-06": [HEADER_ORDER_FIELD, "BaseHeader.Flags.DH", TRAILING_BYTES_FIELD],
    "MQMQ-2.2.20-07": [HEADER_ORDER_FIELD, "UserHeader.Flags.HH", TRAILING_BYTES_FIELD],
    "MQMQ-2.2.20-08": [HEADER_ORDER_FIELD, "UserHeader.Flags.MQ", TRAILING_BYTES_FIELD],
    "MQMQ-2.2.20-D02": [
        HEADER_ORDER_FIELD,
        "MessagePropertiesHeader.Label",
        "MessagePropertiesHeader.MessageBody",
        TRAILING_BYTES_FIELD,
    ],
}
"""For each rule about the headers or the source, the fields of the forwarded message that the check judges."""
LIST_FIELDS_BY_RULE = {
    "MQMQ-2.2.20.2-01": [*_build_paths_of_list_field("HeaderSize"), TRAILING_BYTES_FIELD],
    "MQMQ-2.2.20.2-04": _build_paths_of_list_field("ElementCount"),
    "MQMQ-2.2.20.2-05": _build_paths_of_list_field("FormatNameList"),
    "MQMQ-2.2.20.2-06": [
        *_build_paths_of_list_field("ElementCount"),
        *_build_paths_of_list_field("FormatNameList"),
        f"{LIST_SIGNATURE_PREFIX}ID",
        TRAILING_BYTES_FIELD,
    ],
    "MQMQ-2.2.20.2-D01": _build_paths_of_list_field("HeaderID"),
    "MQMQ-2.2.20.2-D02": [
        *_build_paths_of_list_field("HeaderSize"),
        *_build_paths_of_list_field("HeaderID"),
        *_build_paths_of_list_field("ElementCount"),
    ],
    "MQMQ-2.2.20.2-D03": [
        *_build_paths_of_list_field(PADDED_SIZE_FIELD),
        *_build_paths_of_list_field("HeaderID"),
        f"{LIST_SIGNATURE_PREFIX}ID",
        TRAILING_BYTES_FIELD,
    ],
    "MQMQ-2.2.20.3-01": [f"{LIST_SIGNATURE_PREFIX}ID"],
    "MQMQ-2.2.20.3-03": [f"{LIST_SIGNATURE_PREFIX}Size", TRAILING_BYTES_FIELD],
    "MQMQ-2.2.20.3-04": [f"{LIST_SIGNATURE_PREFIX}Size", f"{LIST_SIGNATURE_PREFIX}Signature", TRAILING_BYTES_FIELD],
    "MQMQ-2.2.20.3-D01": [
        f"{LIST_SIGNATURE_PREFIX}ID",
        f"{LIST_SIGNATURE_PREFIX}Size",
        f"{LIST_SIGNATURE_PREFIX}Signature",
        TRAILING_BYTES_FIELD,
    ],
}
"""For each rule about the lists, the fields of the forwarded message that the check judges."""
TRACE_FIELDS_BY_RULE = {
    "MQMQ-2.2.20.8-01": ["DebugHeader.Flags.QT"],
    "MQMQ-2.2.20.8-17": ["DebugHeader.Flags.QT", "DebugHeader.QueueIdentifier", TRAILING_BYTES_FIELD],
}
CONNECTOR_FIELDS_BY_RULE = {
    "MQMQ-2.2.20.5-03": ["TransactionHeader.ConnectorQMGuid", "MessagePropertiesHeader.Label"],
    "MQMQ-2.2.20.5-20": ["TransactionHeader.Flags.CG", "TransactionHeader.ConnectorQMGuid", TRAILING_BYTES_FIELD],
}
RC2_ALGORITHM = 0x6602
CERTIFIED_SECURITY_FIELDS = {"DE": 1}
"""Fields of a SecurityHeader to which the check adds a certificate."""
ADMIN_QUEUE_NAME = r"TCP:10.0.0.9\private$\acks"
RSA_SIGNATURE = b"\x5a" * 0x100
ENCRYPTED_SECURITY_FIELDS = {
    "DE": 1,
    "EB": 1,
    "AI": 1,
    "EncryptionKey": bytes(SimpleBlob(sessionKeyAlgorithm=RC2_ALGORITHM)),
    "Signature": RSA_SIGNATURE,
}
DEBUG_HEADER_FIELDS_OF_TRACED_MESSAGE = {"QueueIdentifier": TRACE_QUEUE_GUID}
HEADERS_AND_FIELDS_BY_CASE: dict[str, tuple[dict[str, Any], dict[str, list[str]]]] = {
    "every header after the properties": (
        {
            "mqf": _build_multi_queue_lists(),
            "debug": DEBUG_HEADER_FIELDS_OF_TRACED_MESSAGE,
            "soap": {"Header": "<a/>", "Body": "b"},
        },
        LIST_FIELDS_BY_RULE | TRACE_FIELDS_BY_RULE,
    ),
    "lists with a signature": (
        {
            "mqf": _build_multi_queue_lists(Signature=MQFSignatureHeader(Signature=LIST_SIGNATURE_BYTES)),
            "security": CERTIFIED_SECURITY_FIELDS,
            "body": b"",
        },
        LIST_FIELDS_BY_RULE,
    ),
    "destinations only": ({"mqf": {"Destination": _build_multi_queue_lists()["Destination"]}}, LIST_FIELDS_BY_RULE),
    "last message of a transaction": (
        {
            "transaction": {"TxSequenceNumber": 2, "LM": 1},
            "debug": DEBUG_HEADER_FIELDS_OF_TRACED_MESSAGE,
            "body": LARGE_BODY,
        },
        CONNECTOR_FIELDS_BY_RULE | TRACE_FIELDS_BY_RULE,
    ),
    "encrypted message of a connector": (
        {
            "transaction": {"ConnectorQMGuid": CONNECTOR_GUID},
            "security": ENCRYPTED_SECURITY_FIELDS,
            "properties": {"PrivacyLevel": 1, "EncryptionAlgorithm": RC2_ALGORITHM},
            "body": b"\xa5" * 16,
            "debug": {},
        },
        CONNECTOR_FIELDS_BY_RULE | TRACE_FIELDS_BY_RULE,
    ),
}
"""The optional headers of each message, and the fields that the check judges besides the headers, by rule."""


@needs("private_names")
@covers(*HEADER_FIELDS_BY_RULE)
@pytest.mark.parametrize(
    ("headers", "more"),
    [
        pytest.param(headers, more, id=name, marks=covers(*more))
        for name, (headers, more) in HEADERS_AND_FIELDS_BY_CASE.items()
    ],
)
def test_forwarded_message_has_headers_that_its_flags_announce(peer, sut, judge, headers, more):
    """The SUT forwards a message with several optional headers. The forwarded message has the same headers in the same
    order, and the flags and fields of these headers are unchanged.
    """
    given = dict(headers)
    if "transaction" in given:
        place = {"TxSequenceID": Sequence(peer).identifier, "TxSequenceNumber": 1, "FM": 1}
        given["transaction"] = place | given["transaction"]
    if "security" in given:
        given["security"] = given["security"] | {"SenderCert": ALICE.certificate}
    user = {"DM": 1, "AdminQueue": ADMIN_QUEUE_NAME} if "transaction" in given else {}
    sent, frame = forward_message(peer, sut, user=user, base={"PR": 0}, label="every header", **given)
    before, after = _read_fields(sent), _read_fields(frame)
    for name in _build_paths_of_list_field("HeaderSize"):
        if name in before:
            header = name.removesuffix("HeaderSize")
            before[name] = between(after.get(f"{header}size", 0), after.get(f"{header}{PADDED_SIZE_FIELD}", 0))
    for rule, names in (HEADER_FIELDS_BY_RULE | more).items():
        wanted, observed = ({name: one.get(name, Layout.MISSING) for name in names} for one in (before, after))
        judge(rule, expected=fields(wanted), observed=observed, evidence=[sent, frame])


def _read_fields(frame):
    """Return the fields of a message and the order of its headers, without the SessionHeader."""
    layout = Layout(frame)
    return {**layout.fields, HEADER_ORDER_FIELD: [name for name in layout.order if name != "SessionHeader"]}
