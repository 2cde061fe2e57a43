from __future__ import annotations

from reference_qm.core.part import Part
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Session


class DispatchCollection(Part):
    """The dispatch collection: what may be sent next. Spec: MS-MQDMPR 3.1.1.18, 3.1.7.1.28, 3.1.7.1.29, 3.1.7.1.34.

    Printed, it is one collection of the queue manager, searched for the highest priority among all queues. Sessions do
    not wait for each other, so each has its part of it in its OutgoingMessageTable, which orders it as 3.1.7.3.9 does;
    the ProtocolData of an entry is the OutgoingMessagePosition that is in it, and SendInProgress is never seen, a
    message being sent in one step. Whoever adds raises Dispatch Send Message (``sending.dispatch_messages``), once for
    all that it adds.
    """

    __slots__ = ()

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Let a message of a session's table be sent.

        Spec: MS-MQQB 3.1.7.12, 3.1.5.9, 3.1.7.14, MS-MQDMPR 3.1.7.1.28.
        """
        session.OutgoingMessageTable.dispatch(position)

    def remove(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Take out a message that was sent. Spec: MS-MQDMPR 3.1.7.1.29, MS-MQQB 3.1.7.16.

        It stays in its table until it is acknowledged.
        """
        session.OutgoingMessageTable.withhold(position)

    def remove_queue(self, queue: OutgoingQueue) -> None:
        """Let nothing of a queue be sent any more. Spec: MS-MQDMPR 3.1.7.1.34, MS-MQQB 3.1.7.1.6, 3.1.7.13."""
        queue.session.OutgoingMessageTable.withhold_all()
