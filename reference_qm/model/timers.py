"""Stores the running timers, such as the timers of MS-MQQB 3.1.2. The caller passes the current time."""

from __future__ import annotations

import heapq
from enum import Enum
from typing import NamedTuple

_TIMER_SWEEP_MARGIN = 64
"""The heap is rebuilt when its number of entries exceeds twice the number of running timers plus this value."""


class TimerName(Enum):
    """The names of the timers in the documents. Spec: MS-MQQB 3.1.2, MS-MQDMPR 3.1.2, MS-MQBR 3.1.2, MS-MQSO
    5.1.1.2, 6.4.3.2, 6.4.4.1.
    """

    __hash__ = object.__hash__  # members are compared by identity, and looked up for every packet

    SESSION_INITIALIZATION = "SessionInitialization"
    SESSION_CLEANUP = "SessionCleanup"
    SESSION_RETRY_CONNECT = "SessionRetryConnect"
    SESSION_ACK_WAIT = "SessionAckWait"
    SESSION_ACK_SEND = "SessionAckSend"
    TRANSACTIONAL_ACK_WAIT = "TransactionalAckWait"
    ORDER_ACK_SEND = "OrderAckSend"
    MESSAGE_ID_HISTORY_CLEANUP = "MessageIDHistoryCleanup"
    USER_CERT_CACHE_CLEANUP = "UserCertCacheCleanup"
    RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP = "ReceiveSymmetricKeyCacheCleanup"
    SEND_SYMMETRIC_KEY_CACHE_CLEANUP = "SendSymmetricKeyCacheCleanup"
    SEND_BASE_SYMMETRIC_KEY_CACHE_CLEANUP = "SendBaseSymmetricKeyCacheCleanup"
    PING_RESPONSE = "PingResponse"
    WAITING_MESSAGE_READ = "WaitingMessageRead"
    MESSAGE_EXPIRATION = "TimeToBeReceived"
    DIRECTORY_SITES_UPDATE = "DirectorySitesUpdate"
    DIRECTORY_SITE_GATES_UPDATE = "DirectorySiteGatesUpdate"
    DIRECTORY_ONLINE = "DirectoryOnline"
    QUEUE_MANAGER_QUERY = "QueueManagerQuery"
    RPC_RESPONSE_TIMEOUT = "RpcResponseTimeout"
    REMOTE_CALL = "RemoteCall"
    INITIALIZATION_RETRY = "InitializationRetry"
    OUTGOING_QUEUE_IDLE = "OutgoingQueueIdle"
    PUBLIC_KEY_CACHE_VALIDITY = "QueueManagerPublicKeyCacheValidity"


SESSION_TIMERS = (
    TimerName.SESSION_INITIALIZATION,
    TimerName.SESSION_CLEANUP,
    TimerName.SESSION_RETRY_CONNECT,
    TimerName.SESSION_ACK_WAIT,
    TimerName.SESSION_ACK_SEND,
    TimerName.TRANSACTIONAL_ACK_WAIT,
    TimerName.ORDER_ACK_SEND,
)


class TimerKey(NamedTuple):
    """The key of a timer.

    ``owner`` is the number of a session, a waiting read or a DCE/RPC association, the GUID of another queue manager
    as an integer, or 0 for the queue manager itself.
    """

    name: TimerName
    owner: int


class _RunningTimer(NamedTuple):
    started_ms: int
    due_ms: int
    start_order: int


class Timers:
    """The running timers, by key. All times are int ms of the monotonic clock."""

    __slots__ = ("_heap", "_last_start_order", "_running")

    def __init__(self) -> None:
        self._running: dict[TimerKey, _RunningTimer] = {}
        self._heap: list[tuple[int, int, TimerKey]] = []
        self._last_start_order = 0

    def start(self, key: TimerKey, now_ms: int, duration_ms: int) -> None:
        """Start or restart a timer. The minimum duration is 1 ms, so that a timer never expires while the event that
        starts it is still being handled.
        """
        self._last_start_order += 1
        running = _RunningTimer(now_ms, now_ms + max(1, duration_ms), self._last_start_order)
        self._running[key] = running
        heapq.heappush(self._heap, (running.due_ms, running.start_order, key))
        if len(self._heap) > 2 * len(self._running) + _TIMER_SWEEP_MARGIN:
            self._heap = [(one.due_ms, one.start_order, name) for name, one in self._running.items()]
            heapq.heapify(self._heap)

    def stop(self, key: TimerKey) -> None:
        """Stop a timer if it is running."""
        self._running.pop(key, None)

    def stop_all_timers(self) -> None:
        """Stop every timer."""
        self._running.clear()
        self._heap.clear()

    def is_running(self, key: TimerKey) -> bool:
        """Return whether a timer is running."""
        return key in self._running

    def get_remaining_ms(self, key: TimerKey, now_ms: int) -> int | None:
        """Return the time in ms until a timer expires, or None if the timer is not running."""
        running = self._running.get(key)
        return None if running is None else max(0, running.due_ms - now_ms)

    def compute_elapsed_share(self, key: TimerKey, now_ms: int) -> float:
        """Return the elapsed fraction of a timer's duration, from 0.0 to 1.0. The fraction of a stopped timer is
        0.0.
        """
        running = self._running.get(key)
        if running is None:
            return 0.0
        return min(1.0, (now_ms - running.started_ms) / (running.due_ms - running.started_ms))

    def next_due(self) -> int | None:
        """Return the time when the first timer expires, or None if no timer is running."""
        while self._heap:
            due_ms, turn, key = self._heap[0]
            running = self._running.get(key)
            if running is not None and running.start_order == turn:
                return due_ms
            heapq.heappop(self._heap)
        return None

    def pop_due_timer(self, now_ms: int) -> TimerKey | None:
        """Remove and return the first timer that is due, or return None if no timer is due."""
        due_ms = self.next_due()
        if due_ms is None or due_ms > now_ms:
            return None
        key = heapq.heappop(self._heap)[2]
        del self._running[key]
        return key
