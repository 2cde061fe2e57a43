"""Predicates on the source queue manager of a message. Spec: MS-MQMQ 2.2.18.1.3, 2.2.19.2."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import ConnectionSummary, Context, Finding, parse_frame_strictly


class OwnQueueManagerIdentifier(ConnectionSummary):
    """The GUID that the SUT sent in its first EstablishConnection packet."""

    def __init__(self) -> None:
        self.guid: UUID | None = None

    def note(self, frame: Frame, connection: Connection) -> None:
        """Store the GUID in the first EstablishConnection packet from the SUT."""
        if self.guid is not None or not frame.from_sut or frame.kind != "EstablishConnection":
            return
        record = parse_frame_strictly(frame)
        if record is not None:
            header = record.EstablishConnectionHeader
            self.guid = header.ClientGuid if connection.sut_role == "initiator" else header.ServerGuid


def find_own_queue_manager_identifier(context: Context) -> UUID | None:
    """Return the GUID that the SUT sent during session setup, or None if the capture does not contain the setup."""
    return context.before(OwnQueueManagerIdentifier).guid


def check_source_queue_manager(packet: Any, context: Context) -> Finding:
    """Check that SourceQueueManager is the GUID of the SUT. Forwarded messages, whose RC is not 0, are not judged."""
    identifier = find_own_queue_manager_identifier(context)
    if identifier is None or packet.UserHeader.RC:
        return None
    named = packet.UserHeader.SourceQueueManager
    return (
        named == identifier,
        f"SourceQueueManager is {named}, and the SUT set up the session with the GUID {identifier}",
    )
