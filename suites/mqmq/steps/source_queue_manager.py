"""Predicates on the queue manager that a message comes from. Spec: MS-MQMQ 2.2.18.1.3, 2.2.19.2."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import Context, Finding, Summary, record_of


class OwnIdentifier(Summary):
    """The GUID that the SUT's first EstablishConnection names as its own."""

    def __init__(self) -> None:
        self.guid: UUID | None = None

    def note(self, frame: Frame, connection: Connection) -> None:
        """Look at the SUT's packets until it has named itself."""
        if self.guid is not None or not frame.from_sut or frame.kind != "EstablishConnection":
            return
        record = record_of(frame)
        if record is not None:
            header = record.EstablishConnectionHeader
            self.guid = header.ClientGuid if connection.sut_role == "initiator" else header.ServerGuid


def own_identifier(context: Context) -> UUID | None:
    """Return the GUID with which the SUT set the session up; None when that was not seen."""
    return context.before(OwnIdentifier).guid


def source(packet: Any, context: Context) -> Finding:
    """Demand the SUT's own GUID; messages that were passed on (RC is not 0) name another."""
    identifier = own_identifier(context)
    if identifier is None or packet.UserHeader.RC:
        return None
    named = packet.UserHeader.SourceQueueManager
    return named == identifier, f"SourceQueueManager is {named}, the session was set up as {identifier}"
