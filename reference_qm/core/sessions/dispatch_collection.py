from __future__ import annotations

from reference_qm.core.part import Part
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Session


class DispatchCollection(Part):
    """Manages the dispatch collection of messages to be sent.

    Spec: MS-MQDMPR 3.1.1.18, 3.1.7.1.28, 3.1.7.1.29, 3.1.7.1.34.

    The document has one collection for the queue manager, and searches all queues for the highest priority. Sessions do
    not wait for each other, so here each session keeps its own part of the collection in its OutgoingMessageTable,
    ordered as 3.1.7.3.9 requires. The ProtocolData of an entry is its OutgoingMessagePosition. SendInProgress is never
    visible, because a message is sent in one step. The caller of ``add`` raises Dispatch Send Message
    (``sending.dispatch_messages``) once for all added messages.
    """

    __slots__ = ()

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Release a message of a session's table for sending.

        Spec: MS-MQQB 3.1.7.12, 3.1.5.9, 3.1.7.14, MS-MQDMPR 3.1.7.1.28.
        """
        session.OutgoingMessageTable.dispatch(position)

    def remove(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Remove a message that was sent. Spec: MS-MQDMPR 3.1.7.1.29, MS-MQQB 3.1.7.16.

        The message stays in its table until it is acknowledged.
        """
        session.OutgoingMessageTable.withhold(position)

    def remove_queue(self, queue: OutgoingQueue) -> None:
        """Stop the sending of all messages of a queue. Spec: MS-MQDMPR 3.1.7.1.34, MS-MQQB 3.1.7.1.6, 3.1.7.13."""
        queue.session.OutgoingMessageTable.withhold_all()
