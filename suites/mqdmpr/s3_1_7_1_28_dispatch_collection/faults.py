"""Faults of MS-MQDMPR 3.1.7.1.28, 3.1.7.1.29, 3.1.7.3.9: what waits to be sent."""

from __future__ import annotations

import heapq
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields, skip, skip_during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session

_ORDER = ("MQDMPR-3.1.7.1.28-06", "MQDMPR-3.1.7.3.9-04")


@fault("dispatched-as-added", breaks=_ORDER)
class AsAdded(DispatchCollection):
    """What waits is sent in the order in which it was added."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (0, position.order))


@fault("dispatched-lowest-first", breaks=_ORDER)
class LowestFirst(DispatchCollection):
    """What waits is sent from the lowest priority to the highest."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (position.priority, position.order))


@fault("dispatched-one-of-a-priority", breaks=("MQDMPR-3.1.7.1.28-03", "MQDMPR-3.1.7.1.28-08"))
class OneOfAPriority(DispatchCollection):
    """Of what waits with one priority only the last that was added is sent."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        unsent = session.OutgoingMessageTable._unsent
        unsent[:] = [entry for entry in unsent if entry[0] != -position.priority]
        heapq.heapify(unsent)
        super().add(session, position)


add(
    "dispatched-never",
    ("MQDMPR-3.1.7.1.28-07", "MQDMPR-3.1.7.1.28-08"),
    "What is added counts as being sent, so that it never is.",
    skip(DispatchCollection.add),
)


@fault("dispatched-with-the-body-of-the-first", breaks="MQDMPR-3.1.7.1.28-04")
class WithTheBodyOfTheFirst(DispatchCollection):
    """What is added has the contents of what was added first."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        first = next(iter(session.OutgoingMessageTable)).UserMessage
        position.UserMessage = replace(position.UserMessage, MessagePropertiesHeader=first.MessagePropertiesHeader)
        super().add(session, position)


@fault("dispatched-as-another-message", breaks=("MQDMPR-3.1.7.1.28-05", "MQDMPR-3.1.7.3.9-07"))
class AsAnotherMessage(DispatchCollection):
    """The packet made of a message is not kept: when it is added, another is made, with its own number."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        number = self.qm.numbering.assign_identifier()
        position.UserMessage = set_fields(position.UserMessage, {"UserHeader.MessageID": number})
        super().add(session, position)


add(
    "dispatched-with-the-next-session",
    "MQDMPR-3.1.7.1.28-09",
    "What is added to a session that is open is sent when something else lets it be.",
    skip_during(Sending.put_outgoing, Sending.dispatch_messages),
)


@fault("dispatched-twice", breaks=("MQDMPR-3.1.7.1.29-03", "MQDMPR-3.1.7.3.9-06"))
class Twice(Sending):
    """What was sent is chosen once more."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        for _ in range(2):
            super().transmit(session, position, packet)


@fault("dispatched-one-at-a-time", breaks="MQDMPR-3.1.7.1.29-04")
class OneAtATime(Sending):
    """The next message is sent when the one before is acknowledged."""

    def may_send(self, session: Session) -> bool:
        return not session.OutgoingMessageTable.awaiting_ack and bool(super().may_send(session))
