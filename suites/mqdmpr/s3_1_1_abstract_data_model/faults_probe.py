"""Faults of MS-MQDMPR 3.1.1 Abstract Data Model, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.codec import parse_format_name
from reference_qm.codec.format_names import PublicName
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now


class PublicOutgoingQueueInitiallyInactive(Destinations):
    """In hardened security mode, the State of a new outgoing queue to a public queue is Inactive."""

    def initial_state(self, text: str) -> OutgoingQueueState:
        if isinstance(parse_format_name(text), PublicName):
            return OutgoingQueueState.INACTIVE
        return super().initial_state(text)


class PublicOutgoingQueueNotLocked(Establishing):
    """In hardened security mode, the sender sets the State of an outgoing queue to a public queue to Inactive instead
    of Locked when it does not connect.
    """

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        super().establish(session, now, again=again)
        queue = session.OutgoingQueueReference
        if (
            queue is not None
            and queue.State is OutgoingQueueState.LOCKED
            and isinstance(parse_format_name(queue.DestinationFormatName), PublicName)
        ):
            queue.State = OutgoingQueueState.INACTIVE


add(
    "sender-hardened-public-queue-not-locked",
    "MQDMPR-3.1.1.3-07",
    "In hardened security mode, the sender leaves the outgoing queues to public queues Inactive.",
    both(replace_part(PublicOutgoingQueueInitiallyInactive), replace_part(PublicOutgoingQueueNotLocked)),
    blind=True,
)
