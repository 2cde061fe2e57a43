from __future__ import annotations

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Session


class DispatchCollection(QueueManagerPart):
    """Manages the dispatch collection, which contains the messages to be sent.

    Spec: MS-MQDMPR 3.1.1.18, 3.1.7.1.28, 3.1.7.1.29, 3.1.7.1.34.

    In the document, the queue manager has a single collection, in which the message with the highest priority of all
    queues is sent first. In this implementation, sessions do not wait for each other: each session's
    OutgoingMessageTable contains its own part of the collection, in the order that 3.1.7.3.9 requires. The ProtocolData
    of an entry is its OutgoingMessagePosition. SendInProgress is never visible, because a message is sent in one step.
    After one or more calls of ``add``, the caller raises Dispatch Send Message once (``sending.dispatch_messages``).
    """

    __slots__ = ()

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Permit the sending of a message that is in the table of a session.

        Spec: MS-MQQB 3.1.7.12, 3.1.5.9, 3.1.7.14, MS-MQDMPR 3.1.7.1.28.
        """
        session.OutgoingMessageTable.dispatch(position)

    def remove(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Remove a message that was sent from the dispatch collection. Spec: MS-MQDMPR 3.1.7.1.29, MS-MQQB
        3.1.7.16.

        The message stays in the table of its session until it is acknowledged.
        """
        session.OutgoingMessageTable.withhold_position(position)

    def remove_queue(self, queue: OutgoingQueue) -> None:
        """Remove all messages of a queue from the dispatch collection, so that they are not sent. Spec: MS-MQDMPR
        3.1.7.1.34, MS-MQQB 3.1.7.1.6, 3.1.7.13.
        """
        queue.session.OutgoingMessageTable.withhold_all_positions()
