"""Check data types in messages: the identifier of the message, and the queue names in lists.

Spec: MS-MQMQ 2.2.18.1.3, 2.2.18.1.4.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec import (
    FormatError,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    parse_format_name,
)
from suites.mqmq.steps.message_identifiers import check_message_id_ordinal
from suites.mqmq.steps.message_parts import make_well_formed_part_predicate
from suites.mqmq.steps.source_queue_manager import check_source_queue_manager

USER_MESSAGE_KIND = "UserMessage"

passive("MQMQ-2.2.18.1.3-01", USER_MESSAGE_KIND, "SourceQueueManager is the GUID of the SUT")(
    check_source_queue_manager
)

passive("MQMQ-2.2.18.1.3-02", USER_MESSAGE_KIND, "each message of the SUT has a unique MessageID")(
    check_message_id_ordinal
)

passive("MQMQ-2.2.18.1.4-01", (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), "FormatType is 1, 2, 3 or 6")(
    make_well_formed_part_predicate("MultiQueueFormatHeader", "MQFFormatNameElement.FormatType")
)


def list_queue_names(packet: Any) -> list[Any]:
    """Return the names in the three lists of a message: of destination, administration and response queues."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return []
    lists = (header.Destination, header.Administration, header.Response)
    return [element.FormatName for each in lists for element in each.FormatNameList]


def make_well_formed_names_predicate(kind: type, *fields: str) -> Predicate:
    """Return a predicate that checks that names of one kind are well-formed; `fields` are prefixes of the codec's names
    of malformed fields.
    """

    def judge_names(packet: Any, context: Context) -> Finding:
        if isinstance(packet, FormatError):
            return (False, str(packet)) if packet.field.startswith(fields) else None
        found = [name for name in list_queue_names(packet) if isinstance(name, kind)]
        return (True, f"number of well-formed names: {len(found)}") if found else None

    return judge_names


for rule, expected, kind, fields in (
    (
        "MQMQ-2.2.18.1.4-02",
        "FormatName has the form that FormatType specifies",
        object,
        ("MQF", "PublicQueue", "PrivateQueue"),
    ),
    (
        "MQMQ-2.2.18.1.4.1-01",
        "FormatName with FormatType 3 is a string",
        MQFDirectQueueFormatName,
        ("MQFDirectQueueFormatName",),
    ),
    (
        "MQMQ-2.2.18.1.4.2-01",
        "FormatName with FormatType 6 has 16 bytes",
        MQFDistributionQueueFormatName,
        ("MQFDistributionQueue",),
    ),
):
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), expected)(make_well_formed_names_predicate(kind, *fields))


@passive("MQMQ-2.2.18.1.4.1-02", USER_MESSAGE_KIND, "FormatName is a direct format name if FormatType is 3")
def check_direct_names(packet: Any, context: Context) -> Finding:
    """Check that names of FormatType 3 are direct format names, with or without DIRECT= (E07)."""
    names = [name.DirectFormatName for name in list_queue_names(packet) if isinstance(name, MQFDirectQueueFormatName)]
    if not names:
        return None
    wrong = [name for name in names if not _is_direct_name(name)]
    return not wrong, f"FormatName is {(wrong or names)[0]!a}"


def _is_direct_name(name: str) -> bool:
    try:
        parse_format_name(name if name.upper().startswith("DIRECT=") else f"DIRECT={name}")
    except FormatError:
        return False
    return True
