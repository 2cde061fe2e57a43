"""Check the headers of a message, its lists of queues and its DebugHeader.

Spec: MS-MQMQ 2.2.20, 2.2.20.1 to 2.2.20.3, 2.2.20.8.

A malformed message breaks the rule about the field that the strict codec refuses.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Context, Finding, passive
from reference_qm.codec import DebugHeader
from suites.mqmq.steps.message_bytes import BASE_HEADER_NAME, USER_HEADER_NAME, is_valid_after_flag_is_set
from suites.mqmq.steps.message_parts import (
    check_properties_present,
    judge_message_part,
    make_part_presence_predicate,
    make_well_formed_part_predicate,
)
from suites.mqmq.steps.unused import make_zero_value_predicate, register_unused_bit_predicates

USER_MESSAGE_KIND = "UserMessage"

# -- headers (2.2.20) ---------------------------------------------------------------------------------------------

for rule in ("MQMQ-2.2.20-01", "MQMQ-2.2.20-05"):
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), "MP is 1, and the message has a MessagePropertiesHeader")(
        check_properties_present
    )


@passive("MQMQ-2.2.20-02", (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND, "unknown internal"), "IN is 0 in a message")
def check_in_bit_is_clear(packet: Any, context: Context) -> Finding:
    """Check that IN is 0 in a message. An internal packet breaks the rule if its bytes would be a
    message if IN were 0.
    """
    data = context.frame.data
    if context.frame.kind == "UserMessage":
        return True, "IN is 0"
    return (
        (False, "IN is 1 in a message that is otherwise well-formed")
        if is_valid_after_flag_is_set(data, BASE_HEADER_NAME, "IN", 0)
        else None
    )


for rule, header, flag, part in (
    ("MQMQ-2.2.20-03", USER_HEADER_NAME, "TH", "TransactionHeader"),
    ("MQMQ-2.2.20-04", USER_HEADER_NAME, "SH", "SecurityHeader"),
    ("MQMQ-2.2.20-06", BASE_HEADER_NAME, "DH", "DebugHeader"),
    ("MQMQ-2.2.20-07", USER_HEADER_NAME, "HH", "SoapHeader"),
    ("MQMQ-2.2.20-08", USER_HEADER_NAME, "MQ", "MultiQueueFormatHeader"),
):
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), f"{part} is present if and only if {flag} is set")(
        make_part_presence_predicate(header, flag, part)
    )

# -- lists of queues (2.2.20.2, 2.2.20.3) -------------------------------------------------------------------------

for rule, expected, fields in (
    ("MQMQ-2.2.20.2-01", "HeaderSize is the size of the MQFAddressHeader", ("MQFAddressHeader.HeaderSize",)),
    (
        "MQMQ-2.2.20.2-04",
        "ElementCount is the number of elements in FormatNameList",
        ("MQFAddressHeader.ElementCount",),
    ),
    (
        "MQMQ-2.2.20.2-05",
        "each element of the MQFAddressHeader is well-formed",
        ("MQFFormatNameElement", "MQFAddressHeader."),
    ),
    ("MQMQ-2.2.20.2-06", "FormatNameList has ElementCount elements", ("MQFAddressHeader.ElementCount",)),
    ("MQMQ-2.2.20.3-03", "Size is the size of the signature", ("MQFSignatureHeader.",)),
    ("MQMQ-2.2.20.3-04", "the signature has the size that Size states", ("MQFSignatureHeader.",)),
):
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), expected)(
        make_well_formed_part_predicate("MultiQueueFormatHeader", *fields)
    )


@passive("MQMQ-2.2.20.3-01", USER_MESSAGE_KIND, "ID of the MQFSignatureHeader is 0x015E")
@judge_message_part("MultiQueueFormatHeader")
def check_signature_id(header: Any, packet: Any) -> Finding:
    """Check that ID of the MQFSignatureHeader is 0x015E."""
    return header.Signature.ID == 0x015E, f"ID is 0x{header.Signature.ID:04X}"


def read_reserved_fields_of_lists(header: Any) -> int:
    """Return the first nonzero Reserved of the three lists of a MultiQueueFormatHeader, or 0."""
    lists = (header.Destination, header.Administration, header.Response)
    return next((one.Reserved for one in lists if one.Reserved), 0)


for rule, name, read in (
    ("MQMQ-2.2.20.2-03", "Reserved of the MQFAddressHeader", read_reserved_fields_of_lists),
    ("MQMQ-2.2.20.3-02", "Reserved of the MQFSignatureHeader", attrgetter("Signature.Reserved")),
):
    passive(rule, USER_MESSAGE_KIND, f"{name} is 0 when sent", advice=True)(
        make_zero_value_predicate("MultiQueueFormatHeader", read, name)
    )

# -- tracing (2.2.20.8) -------------------------------------------------------------------------------------------


UNUSED_BIT_BY_RULE = {
    "MQMQ-2.2.20.8-02": "X2",
    "MQMQ-2.2.20.8-03": "X3",
    "MQMQ-2.2.20.8-04": "X4",
    "MQMQ-2.2.20.8-05": "X5",
    "MQMQ-2.2.20.8-06": "X6",
    "MQMQ-2.2.20.8-07": "X7",
    "MQMQ-2.2.20.8-08": "X8",
    "MQMQ-2.2.20.8-09": "X9",
    "MQMQ-2.2.20.8-10": "X10",
    "MQMQ-2.2.20.8-11": "X11",
    "MQMQ-2.2.20.8-12": "X12",
    "MQMQ-2.2.20.8-13": "X13",
    "MQMQ-2.2.20.8-14": "X14",
    "MQMQ-2.2.20.8-15": "X15",
}
"""The unused bits of Flags, by rule."""

register_unused_bit_predicates(USER_MESSAGE_KIND, DebugHeader, UNUSED_BIT_BY_RULE)
passive("MQMQ-2.2.20.8-16", USER_MESSAGE_KIND, "Reserved of the DebugHeader is 0 when sent", advice=True)(
    make_zero_value_predicate("DebugHeader", attrgetter("Reserved"), "Reserved")
)


@passive("MQMQ-2.2.20.8-01", USER_MESSAGE_KIND, "QT of the DebugHeader is 0 or 1")
@judge_message_part("DebugHeader")
def check_trace_queue_type(header: Any, packet: Any) -> Finding:
    """Check that QT has a defined value."""
    return header.QT in (0, 1), f"QT is {header.QT}"


passive(
    "MQMQ-2.2.20.8-17",
    (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND),
    "the DebugHeader contains a QueueIdentifier if QT is 1",
)(make_well_formed_part_predicate("DebugHeader", "DebugHeader.QueueIdentifier"))
