"""What lists of queues, SOAP texts and trace headers of a message show.

Spec: MS-MQMQ 2.2.18.1.4, 2.2.20.1 to 2.2.20.3, 2.2.20.7, 2.2.20.8.

What makes a message malformed breaks the rule of the field that the strict codec stopped at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.judging.passive import MALFORMED, Context, Finding, Predicate, passive
from reference_qm.codec import (
    FormatError,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    parse_format_name,
)

MESSAGE = "UserMessage"
SIGNATURE_ID, HEADER_ID, BODY_ID = 0x015E, 0x0320, 0x0384
LISTED = "MQFAddressHeader."


def structure(part: str, *fields: str) -> Predicate:
    """Demand a part that can be read; ``fields``: what the codec stops at when it cannot."""

    def predicate(packet: Any, context: Context) -> Finding:
        if isinstance(packet, FormatError):
            return (False, str(packet)) if packet.field.startswith(fields) else None
        return None if getattr(packet, part) is None else (True, f"the {part} is whole")

    return predicate


for _rule, _expected, _part, _fields in (
    ("2.2.18.1.4-01", "FormatType is 1, 2, 3 or 6", "MultiQueueFormatHeader", ("MQFFormatNameElement.FormatType",)),
    ("2.2.20.2-01", "HeaderSize is the size of the list", "MultiQueueFormatHeader", (f"{LISTED}HeaderSize",)),
    ("2.2.20.2-04", "ElementCount is that of the list", "MultiQueueFormatHeader", (f"{LISTED}ElementCount",)),
    ("2.2.20.2-06", "the list has ElementCount elements", "MultiQueueFormatHeader", (f"{LISTED}ElementCount",)),
    ("2.2.20.2-05", "the list is made of elements", "MultiQueueFormatHeader", ("MQFFormatNameElement", LISTED)),
    ("2.2.20.3-03", "Size is that of Signature", "MultiQueueFormatHeader", ("MQFSignatureHeader.",)),
    ("2.2.20.3-04", "Signature has Size bytes", "MultiQueueFormatHeader", ("MQFSignatureHeader.",)),
    ("2.2.20.8-17", "QueueIdentifier is there with QT 1", "DebugHeader", ("DebugHeader.QueueIdentifier",)),
):
    passive(f"MQMQ-{_rule}", (MESSAGE, MALFORMED), _expected)(structure(_part, *_fields))


# -- lists of queues -----------------------------------------------------------------------------------------------


def elements(packet: Any) -> list[Any]:
    """Give the names in the three lists of a message."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return []
    lists = (header.Destination, header.Administration, header.Response)
    return [element.FormatName for each in lists for element in each.FormatNameList]


def named(rule: str, expected: str, kind: type, *fields: str) -> None:
    """Register a rule of the structure of one FormatType."""

    def predicate(packet: Any, context: Context) -> Finding:
        if isinstance(packet, FormatError):
            return (False, str(packet)) if packet.field.startswith(fields) else None
        found = [name for name in elements(packet) if isinstance(name, kind)]
        return (True, f"{len(found)} such names") if found else None

    passive(rule, (MESSAGE, MALFORMED), expected)(predicate)


named("MQMQ-2.2.18.1.4-02", "FormatName is what FormatType tells", object, "MQF", "PublicQueue", "PrivateQueue")
named("MQMQ-2.2.18.1.4.1-01", "FormatType 3 has a text", MQFDirectQueueFormatName, "MQFDirectQueueFormatName")
named("MQMQ-2.2.18.1.4.2-01", "FormatType 6 has 16 bytes", MQFDistributionQueueFormatName, "MQFDistributionQueue")


@passive("MQMQ-2.2.18.1.4.1-02", MESSAGE, "the text of FormatType 3 is a direct format name")
def direct_name(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.18.1.4.1: with DIRECT= in front or without (E07)."""
    names = [name.DirectFormatName for name in elements(packet) if isinstance(name, MQFDirectQueueFormatName)]
    if not names:
        return None
    wrong = [name for name in names if not _is_direct(name)]
    return not wrong, f"{(wrong or names)[0]!a}"


def _is_direct(name: str) -> bool:
    try:
        parse_format_name(name if name.upper().startswith("DIRECT=") else f"DIRECT={name}")
    except FormatError:
        return False
    return True


@passive("MQMQ-2.2.20.3-01", MESSAGE, f"ID is 0x{SIGNATURE_ID:04X}")
def signature_id(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.20.3: what the signature is known by."""
    header = packet.MultiQueueFormatHeader
    return None if header is None else (header.Signature.ID == SIGNATURE_ID, f"ID is 0x{header.Signature.ID:04X}")


# -- SOAP texts, tracing --------------------------------------------------------------------------------------------


def soap(sees: Callable[[Any], Finding]) -> Predicate:
    """Show a predicate only messages that have a SoapHeader."""
    return lambda packet, context: None if packet.SoapHeader is None else sees(packet.SoapHeader)


def section(name: str, value: int) -> Predicate:
    """Demand the number that a section is known by."""
    return soap(lambda header: (getattr(header, name) == value, f"{name} is 0x{getattr(header, name):04X}"))


def counted(name: str) -> Predicate:
    """Demand that a length counts the null of its text."""
    told = f"{name}DataLength"
    return soap(lambda header: (getattr(header, f"{name}Terminated"), f"{told} is {getattr(header, told)}"))


passive("MQMQ-2.2.20.7-01", MESSAGE, f"HeaderSectionID is 0x{HEADER_ID:04X}")(section("HeaderSectionID", HEADER_ID))
passive("MQMQ-2.2.20.7-04", MESSAGE, f"BodySectionID is 0x{BODY_ID:04X}")(section("BodySectionID", BODY_ID))
passive("MQMQ-2.2.20.7-03", MESSAGE, "HeaderDataLength counts the null of Header")(counted("Header"))
passive("MQMQ-2.2.20.7-06", MESSAGE, "BodyDataLength counts the null of Body")(counted("Body"))


@passive("MQMQ-2.2.20.8-01", MESSAGE, "QT is 0 or 1")
def queue_type(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.20.8: a public queue, or none."""
    header = packet.DebugHeader
    return None if header is None else (header.QT in (0, 1), f"QT is {header.QT}")
