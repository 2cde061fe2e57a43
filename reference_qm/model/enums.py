"""The enumerations for queues and cursors. Spec: MS-MQDMPR 3.1.1.16, 3.1.1.17, 3.1.7.3.2, 3.2.1.2."""

from __future__ import annotations

from enum import Enum


class QueueAccessType(Enum):
    """The access for which a queue is opened. Spec: MS-MQDMPR 3.1.1.17."""

    RECEIVE = "ReceiveAccess"
    SEND = "SendAccess"
    PEEK = "PeekAccess"
    MOVE = "MoveAccess"
    RECEIVE_ADMIN = "ReceiveAdminAccess"
    PEEK_ADMIN = "PeekAdminAccess"


class QueueShareMode(Enum):
    """The access that other users of the queue may have. Spec: MS-MQDMPR 3.1.1.17."""

    DENY_NONE = "DenyNone"
    DENY_RECEIVE = "DenyReceive"


class RemoteReadState(Enum):
    """The values of OpenQueueDescriptor.RemoteReadState. Spec: MS-MQDMPR 3.1.1.16."""

    NONE = "None"
    OPENED = "Opened"
    READY_FOR_READ = "ReadyForRead"


class MessageSeekAction(Enum):
    """The direction or place of the message to find. Spec: MS-MQDMPR 3.1.1.17."""

    FIRST = "SeekFirst"
    PREVIOUS = "SeekPrevious"
    CURRENT = "SeekCurrent"
    NEXT = "SeekNext"
    LAST = "SeekLast"


class SeekDirection(Enum):
    """The values of iSeekDirection. Spec: MS-MQDMPR 3.1.7.3.2."""

    FORWARD = "Forward"
    BACKWARD = "Backward"


class CursorState(Enum):
    """The values of Cursor.CursorState. Spec: MS-MQDMPR 3.2.1.2."""

    UNREAD = "Unread"
    WAIT_RECEIVE = "WaitReceive"
    WAIT_PEEK = "WaitPeek"
    READ = "Read"
