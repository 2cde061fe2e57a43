"""Faults that break rules of MS-MQDMPR 3.1.7.3.2 only for some searches, messages or states of the queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition
from reference_qm.model.enums import SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState

FORWARD_DIRECTION, BACKWARD_DIRECTION = SeekDirection.FORWARD, SeekDirection.BACKWARD


@fault("queue-manager-search-at-end-turns-backward", breaks="MQDMPR-3.1.7.3.2-03")
class QueueManagerSearchAtEndTurnsBackward(MessageSearch):
    """A forward search that reaches the end of the queue proceeds backward from the message where the search began."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None and seek_direction is FORWARD_DIRECTION and not isinstance(initial_position, Boundary):
            return super().seek_available(initial_position, peek_operation, BACKWARD_DIRECTION)
        return found


@fault("queue-manager-search-from-unavailable-message-turns-backward", breaks="MQDMPR-3.1.7.3.2-03")
class QueueManagerSearchFromUnavailableMessageTurnsBackward(MessageSearch):
    """A forward search that starts at a locked message proceeds backward."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        locked = not isinstance(initial_position, Boundary) and initial_position.State is MessagePositionState.LOCKED
        return super().seek_available(
            initial_position, peek_operation, BACKWARD_DIRECTION if locked else seek_direction
        )


@fault("queue-manager-search-after-backward-search-proceeds-backward", breaks="MQDMPR-3.1.7.3.2-03")
class QueueManagerSearchAfterBackwardSearchProceedsBackward(MessageSearch):
    """The first search by cursor after a backward search from a message proceeds backward too."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection | None = None
    ) -> MessagePosition | None:
        used = seek_direction or (
            FORWARD_DIRECTION if isinstance(initial_position, Boundary) else self._get_last_direction()
        )
        if not isinstance(initial_position, Boundary):
            self.__dict__["last"] = seek_direction or FORWARD_DIRECTION
        return super().seek_available(initial_position, peek_operation, used)

    def _get_last_direction(self) -> SeekDirection:
        last: SeekDirection = self.__dict__.get("last", FORWARD_DIRECTION)
        return last


@fault("queue-manager-backward-search-of-receive-proceeds-forward", breaks="MQDMPR-3.1.7.3.2-04")
class QueueManagerBackwardSearchOfReceiveProceedsForward(MessageSearch):
    """A backward search from a message proceeds forward if the search is for a receive."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        if not peek_operation and not isinstance(initial_position, Boundary):
            seek_direction = FORWARD_DIRECTION
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault("queue-manager-backward-search-at-front-continues-at-end", breaks="MQDMPR-3.1.7.3.2-04")
class QueueManagerBackwardSearchAtFrontContinuesAtEnd(MessageSearch):
    """A backward search that reaches the front of the queue continues at the end of the queue."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None and seek_direction is BACKWARD_DIRECTION and not isinstance(initial_position, Boundary):
            end = initial_position.QueueReference.MessagePositionList.End
            return super().seek_available(end, peek_operation, BACKWARD_DIRECTION)
        return found


@fault("queue-manager-backward-search-from-locked-message-proceeds-forward", breaks="MQDMPR-3.1.7.3.2-04")
class QueueManagerBackwardSearchFromLockedMessageProceedsForward(MessageSearch):
    """A backward search that starts at a locked message proceeds forward."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        if not isinstance(initial_position, Boundary) and initial_position.State is MessagePositionState.LOCKED:
            seek_direction = FORWARD_DIRECTION
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault("queue-manager-search-from-start-skips-message-found-earlier", breaks="MQDMPR-3.1.7.3.2-06")
class QueueManagerSearchFromStartSkipsMessageFoundEarlier(MessageSearch):
    """A search that starts before the first message begins at the second message if an earlier search found the first
    message locked.
    """

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if not isinstance(initial_position, Boundary) or seek_direction is BACKWARD_DIRECTION:
            return found
        passed: set[Entry] = self.__dict__.setdefault("passed", set())
        head = initial_position.Next
        if not isinstance(head, Boundary) and head.State is MessagePositionState.LOCKED:
            passed.add(head)
        return super().seek_available(found, peek_operation) if found is not None and found in passed else found


@fault("queue-manager-receive-from-start-skips-first-message-after-peek", breaks="MQDMPR-3.1.7.3.2-06")
class QueueManagerReceiveFromStartSkipsFirstMessageAfterPeek(MessageSearch):
    """A search for a receive that starts before the first message begins at the second message if the first message was
    peeked at twice.
    """

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or not isinstance(initial_position, Boundary) or seek_direction is BACKWARD_DIRECTION:
            return found
        peeks: dict[Entry, int] = self.__dict__.setdefault("peeks", {})
        if peek_operation:
            peeks[found] = peeks.get(found, 0) + 1
            return found
        return (super().seek_available(found, False) or found) if peeks.get(found, 0) > 1 else found


@fault("queue-manager-search-from-start-passes-urgent-message", breaks="MQDMPR-3.1.7.3.2-06")
class QueueManagerSearchFromStartPassesUrgentMessage(MessageSearch):
    """A search that starts before the first message begins at the second message if the first message arrived after the
    second message.
    """

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or not isinstance(initial_position, Boundary) or seek_direction is BACKWARD_DIRECTION:
            return found
        following = super().seek_available(found, peek_operation)
        return following if following is not None and following.order < found.order else found


@fault("queue-manager-search-without-result-returns-start-message", breaks="MQDMPR-3.1.7.3.2-27")
class QueueManagerSearchWithoutResultReturnsStartMessage(MessageSearch):
    """A forward search that finds no message returns the available message at which the search started."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None and seek_direction is FORWARD_DIRECTION and not isinstance(initial_position, Boundary):
            return initial_position if self.is_message_readable(initial_position, peek_operation) else None
        return found


@fault("queue-manager-search-of-locked-messages-returns-last-locked", breaks="MQDMPR-3.1.7.3.2-27")
class QueueManagerSearchOfLockedMessagesReturnsLastLocked(MessageSearch):
    """A peek whose search finds only locked messages returns the last of the locked messages."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is not None or not peek_operation or seek_direction is BACKWARD_DIRECTION:
            return found
        entry, last = initial_position.Next, None
        while entry is not None and not isinstance(entry, Boundary):
            if entry.State is MessagePositionState.LOCKED and not entry.is_disk_write_pending:
                last = entry
            entry = entry.Next
        return last


@fault("queue-manager-backward-search-without-result-returns-start-message", breaks="MQDMPR-3.1.7.3.2-27")
class QueueManagerBackwardSearchWithoutResultReturnsStartMessage(MessageSearch):
    """A backward search that finds no message returns the available message at which the search started."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None and seek_direction is BACKWARD_DIRECTION and not isinstance(initial_position, Boundary):
            return initial_position if self.is_message_readable(initial_position, peek_operation) else None
        return found


@fault("queue-manager-peek-from-start-returns-result-of-earlier-search", breaks="MQDMPR-3.1.7.3.2-09")
class QueueManagerPeekFromStartReturnsResultOfEarlierSearch(MessageSearch):
    """A peek whose search starts before the first message returns the message that an earlier search returned, although
    a message of a higher priority arrived.
    """

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or not peek_operation or not isinstance(initial_position, Boundary):
            return found
        known: dict[tuple[Entry, SeekDirection], MessagePosition] = self.__dict__.setdefault("known", {})
        earlier = known.setdefault((initial_position, seek_direction), found)
        return earlier if self.is_message_readable(earlier, peek_operation) else found


@fault("queue-manager-forward-search-skips-message-of-lower-priority", breaks="MQDMPR-3.1.7.3.2-11")
class QueueManagerForwardSearchSkipsMessageOfLowerPriority(MessageSearch):
    """A forward search that starts at a message begins with the second message of a lower priority."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is BACKWARD_DIRECTION or isinstance(initial_position, Boundary):
            return found
        if found.MessageReference.Priority < initial_position.MessageReference.Priority:
            return super().seek_available(found, peek_operation)
        return found


@fault("queue-manager-forward-search-from-locked-message-restarts", breaks="MQDMPR-3.1.7.3.2-11")
class QueueManagerForwardSearchFromLockedMessageRestarts(MessageSearch):
    """A forward search that starts at a locked message begins at the start of the queue."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        if (
            seek_direction is FORWARD_DIRECTION
            and isinstance(initial_position, MessagePosition)
            and initial_position.State is MessagePositionState.LOCKED
        ):
            initial_position = initial_position.QueueReference.MessagePositionList.Start
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault("queue-manager-search-from-end-ends-at-higher-priority", breaks="MQDMPR-3.1.7.3.2-19")
class QueueManagerSearchFromEndEndsAtHigherPriority(MessageSearch):
    """A search that starts after the last message finds no message if the last message is locked and the next message
    has a higher priority.
    """

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        last = initial_position.Previous
        if found is None or seek_direction is FORWARD_DIRECTION or not isinstance(last, MessagePosition):
            return found
        higher = found.MessageReference.Priority > last.MessageReference.Priority
        return None if isinstance(initial_position, Boundary) and higher else found


@fault("queue-manager-receive-from-end-skips-last-message", breaks="MQDMPR-3.1.7.3.2-19")
class QueueManagerReceiveFromEndSkipsLastMessage(MessageSearch):
    """A receive whose search starts after the last message receives the message before the last message."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = FORWARD_DIRECTION
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if (
            found is None
            or peek_operation
            or seek_direction is FORWARD_DIRECTION
            or not isinstance(initial_position, Boundary)
        ):
            return found
        return super().seek_available(found, peek_operation, seek_direction) or found
