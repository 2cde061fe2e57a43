"""Check data types in messages: the message identifier and the queue names in lists.

Spec: MS-MQMQ 2.2.18.1.3, 2.2.18.1.4.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED, Connection, Frame
from harness.judging.passive import Context, Finding, NotExercised, Predicate, Recent, Summary, passive, record_of
from reference_qm.codec import (
    FormatError,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    parse_format_name,
)
from suites.mqmq.steps.message_parts import well_formed
from suites.mqmq.steps.source_queue_manager import source

MESSAGE = "UserMessage"

passive("MQMQ-2.2.18.1.3-01", MESSAGE, "SourceQueueManager is the GUID of the SUT")(source)


class Messages(Summary):
    """The messages of the SUT on a connection: by identifier, a hash of the first properties."""

    def __init__(self) -> None:
        self.first = Recent[tuple[Any, int], int]()

    def note(self, frame: Frame, connection: Connection) -> None:
        """Remember a message of the SUT."""
        record = record_of(frame) if frame.from_sut and frame.kind == MESSAGE else None
        if record is not None:
            user, properties = record.UserHeader, record.MessagePropertiesHeader
            self.first.keep((user.SourceQueueManager, user.MessageID), hash(properties))


@passive("MQMQ-2.2.18.1.3-02", MESSAGE, "each message of the SUT has its own MessageID")
def ordinal(packet: Any, context: Context) -> Finding:
    """Check that a message with an earlier identifier is the earlier message, sent again."""
    user, messages = packet.UserHeader, context.before(Messages)
    if not messages.first:
        return NotExercised("it is the first message on its connection")
    first = messages.first.get((user.SourceQueueManager, user.MessageID))
    if first is not None and first != hash(packet.MessagePropertiesHeader):
        return False, f"MessageID {user.MessageID} is also the MessageID of another message"
    return True, f"MessageID is {user.MessageID}"


passive("MQMQ-2.2.18.1.4-01", (MESSAGE, MALFORMED), "FormatType is 1, 2, 3 or 6")(
    well_formed("MultiQueueFormatHeader", "MQFFormatNameElement.FormatType")
)


def listed_names(packet: Any) -> list[Any]:
    """Return the names in the three lists of a message."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return []
    lists = (header.Destination, header.Administration, header.Response)
    return [element.FormatName for each in lists for element in each.FormatNameList]


def well_formed_names(kind: type, *fields: str) -> Predicate:
    """Return a predicate: names of a kind are well-formed; `fields` begin the codec's names of malformed fields."""

    def predicate(packet: Any, context: Context) -> Finding:
        if isinstance(packet, FormatError):
            return (False, str(packet)) if packet.field.startswith(fields) else None
        found = [name for name in listed_names(packet) if isinstance(name, kind)]
        return (True, f"{len(found)} such names") if found else None

    return predicate


for rule, expected, kind, fields in (
    ("MQMQ-2.2.18.1.4-02", "FormatName is of the kind of FormatType", object, ("MQF", "PublicQueue", "PrivateQueue")),
    (
        "MQMQ-2.2.18.1.4.1-01",
        "FormatType 3 has a string",
        MQFDirectQueueFormatName,
        ("MQFDirectQueueFormatName",),
    ),
    (
        "MQMQ-2.2.18.1.4.2-01",
        "FormatType 6 has 16 bytes",
        MQFDistributionQueueFormatName,
        ("MQFDistributionQueue",),
    ),
):
    passive(rule, (MESSAGE, MALFORMED), expected)(well_formed_names(kind, *fields))


@passive("MQMQ-2.2.18.1.4.1-02", MESSAGE, "the string of FormatType 3 is a direct format name")
def direct_name(packet: Any, context: Context) -> Finding:
    """Check that names of FormatType 3 are direct format names, with DIRECT= or without (E07)."""
    names = [name.DirectFormatName for name in listed_names(packet) if isinstance(name, MQFDirectQueueFormatName)]
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
