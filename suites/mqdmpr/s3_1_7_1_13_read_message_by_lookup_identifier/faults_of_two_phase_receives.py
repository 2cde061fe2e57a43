"""Faults in which a two-phase receive by LookupIdentifier does not leave its message in its position."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction


class BegunTwoPhaseLookupChanger(MessageReading):
    """A part of the queue manager that changes something when a two-phase receive by LookupIdentifier begins; a
    subclass defines the change.
    """

    def change_begun_two_phase_receive(self, position: MessagePosition) -> None:
        raise NotImplementedError

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: OnReadAnswered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        def change_and_answer(status: Status, position: MessagePosition | None) -> None:
            answered(status, position)
            if position is not None and two_phase_read and transaction is None and not peek_operation:
                self.change_begun_two_phase_receive(position)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, change_and_answer, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-message-of-two-phase-lookup-moved-to-end", breaks="MQDMPR-3.1.7.1.13-04", blind=True)
class QueueManagerMessageOfTwoPhaseLookupMovedToEnd(BegunTwoPhaseLookupChanger):
    """A two-phase receive by LookupIdentifier moves the message behind the other messages of its priority."""

    def change_begun_two_phase_receive(self, position: MessagePosition) -> None:
        messages = position.QueueReference.MessagePositionList
        messages.remove(position)
        messages.insert(position)


@fault(
    "queue-manager-message-of-two-phase-lookup-gets-new-lookup-identifier", breaks="MQDMPR-3.1.7.1.13-04", blind=True
)
class QueueManagerMessageOfTwoPhaseLookupGetsNewLookupIdentifier(BegunTwoPhaseLookupChanger):
    """A two-phase receive by LookupIdentifier gives the message a new LookupIdentifier, as if it entered its queue
    again.
    """

    def change_begun_two_phase_receive(self, position: MessagePosition) -> None:
        messages = position.QueueReference.MessagePositionList
        messages.remove(position)
        position.LookupIdentifier = self.qm.message_positions.assign_lookup_identifier(position.MessageReference)
        messages.insert(position)
