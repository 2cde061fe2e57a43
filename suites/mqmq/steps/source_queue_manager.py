"""Predicates on the queue manager that a message comes from. Spec: MS-MQMQ 2.2.18.1.3, 2.2.19.2."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.judging.passive import Context, Finding
from reference_qm.codec import FormatError


def own_identifier(context: Context) -> UUID | None:
    """Return the GUID with which the SUT set the session up; None when that was not seen."""
    for frame in context.earlier:
        if not frame.from_sut or frame.kind != "EstablishConnection":
            continue
        try:
            record: Any = frame.record
        except FormatError:
            continue
        header = record.EstablishConnectionHeader
        guid: UUID = header.ClientGuid if context.sut_role == "initiator" else header.ServerGuid
        return guid
    return None


def source(packet: Any, context: Context) -> Finding:
    """Demand the SUT's own GUID; messages that were passed on (RC is not 0) name another."""
    identifier = own_identifier(context)
    if identifier is None or packet.UserHeader.RC:
        return None
    named = packet.UserHeader.SourceQueueManager
    return named == identifier, f"SourceQueueManager is {named}, the session was set up as {identifier}"
