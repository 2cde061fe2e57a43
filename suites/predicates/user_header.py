"""What every message shows of its UserHeader. Spec: MS-MQMQ 2.2.18.1.3, 2.2.19.2."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.judging.passive import MALFORMED, Context, Finding, Predicate, passive
from reference_qm.codec import NULL_GUID, FormatError
from suites.predicates.raw import is_message, user_flags

MESSAGE = "UserMessage"
DIRECT = 7
LONGEST_WAY = 0x1D
"""RC of a message that passed as many routing servers as may be."""


def own_identifier(context: Context) -> UUID | None:
    """Give the GUID that the SUT set the session up with; None when that was not seen."""
    for frame in context.earlier:
        if frame.from_sut and frame.kind == "EstablishConnection":
            try:
                header = frame.record.EstablishConnectionHeader  # type: ignore[union-attr]
            except FormatError:
                return None
            guid: UUID = header.ClientGuid if context.sut_role == "initiator" else header.ServerGuid
            return guid
    return None


@passive("MQMQ-2.2.19.2-01", MESSAGE, "SourceQueueManager is the SUT's GUID in a message that comes from it")
@passive("MQMQ-2.2.18.1.3-01", MESSAGE, "SourceQueueManager is that of all messages that come from the SUT")
def source(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.18.1.3, 2.2.19.2: messages that were passed on (RC is not 0) name another."""
    identifier = own_identifier(context)
    if identifier is None or packet.UserHeader.RC:
        return None
    named = packet.UserHeader.SourceQueueManager
    return named == identifier, f"SourceQueueManager is {named}, the session was set up as {identifier}"


@passive("MQMQ-2.2.18.1.3-02", MESSAGE, "no other message of the SUT has the same MessageID")
def ordinal(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.18.1.3: the same identifier means the same message, sent again."""
    user, properties = packet.UserHeader, packet.MessagePropertiesHeader
    for frame in context.earlier:
        if not frame.from_sut or frame.kind != MESSAGE:
            continue
        other: Any = frame.record
        same = (other.UserHeader.SourceQueueManager, other.UserHeader.MessageID) == (
            user.SourceQueueManager,
            user.MessageID,
        )
        if same and other.MessagePropertiesHeader != properties:
            return False, f"MessageID {user.MessageID} is that of another message too"
    return True, f"MessageID is {user.MessageID}"


@passive("MQMQ-2.2.19.2-04", MESSAGE, "QueueManagerAddress is zero with DQ 7")
def address_of_direct_name(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.2: nothing is known of the host of a direct name."""
    user = packet.UserHeader
    if user.DQ != DIRECT:
        return None
    return user.QueueManagerAddress == NULL_GUID, f"QueueManagerAddress is {user.QueueManagerAddress}"


@passive("MQMQ-2.2.19.2-08", MESSAGE, f"RC is at most 0x{LONGEST_WAY:X}")
def hop_count(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.2: the range of RC."""
    return packet.UserHeader.RC <= LONGEST_WAY, f"RC is 0x{packet.UserHeader.RC:X}"


@passive("MQMQ-2.2.19.2-09", MESSAGE, "DM is 0 or 1")
def delivery_mode(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.2: the values of DM."""
    return packet.UserHeader.DM in (0, 1), f"DM is {packet.UserHeader.DM}"


@passive("MQMQ-2.2.19.2-20", MESSAGE, "DM is not 0 with TH 1")
def transactional_is_recoverable(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.2: DM of transactional messages."""
    if not packet.UserHeader.TH:
        return None
    return packet.UserHeader.DM != 0, f"TH is 1, DM is {packet.UserHeader.DM}"


@passive("MQMQ-2.2.19.2-25", MESSAGE, "AH is 0")
def not_over_http(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.2: AH is for messages that came over HTTP."""
    return packet.UserHeader.AH == 0, f"AH is {packet.UserHeader.AH}"


def one_of(flag: str, allowed: tuple[int, ...]) -> Predicate:
    """Demand that a type of queue is listed; with another there is no telling where the next header begins."""

    def predicate(packet: Any, context: Context) -> Finding:
        if not is_message(context.frame.data):
            return None
        value = getattr(user_flags(context.frame.data), flag)
        return value in allowed, f"{flag} is {value}"

    return predicate


for _rule, _flag, _allowed in (
    ("MQMQ-2.2.19.2-15", "DQ", (0, 3, 5, 7)),
    ("MQMQ-2.2.19.2-16", "AQ", (0, 2, 3, 5, 6, 7)),
):
    passive(_rule, (MESSAGE, MALFORMED), f"{_flag} is one of {', '.join(map(str, _allowed))}")(one_of(_flag, _allowed))
