"""Initialization. Spec: MS-MQQB 3.1.3."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from reference_qm.codec import SequenceInfo, StreamFramer
from reference_qm.core.protocol.durability import Change, history_name
from reference_qm.model.adm import INFINITE, OutgoingTransferSequence
from reference_qm.model.states import SessionState
from reference_qm.model.timers import SESSION_TIMERS, TimerKey, TimerName

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Session
    from reference_qm.surface.clock import Now

ORDER_ACK_TIMEOUT_MS = 500
MAXIMUM_ORDER_ACK_DELAY_S = 10


def initialize_globally(qm: QueueManager, now: Now) -> None:
    """Begin to be a queue manager. Spec: MS-MQQB 3.1.3.1."""
    adm = qm.adm
    adm.ResendTimerTable = (
        (adm.ResendTimeoutsShort,) * 3
        + (adm.ResendTimeoutsMedium,) * 3
        + (adm.ResendTimeoutsLong,) * 3
        + (adm.ResendTimeoutsFinal,)
    )
    qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
    if len(adm.MessageIDHistoryTable):
        qm.procedures.start_history_timer(qm, now)
    qm.procedures.recover_deadlines(qm)


def initialize_session(qm: QueueManager, session: Session, now: Now) -> None:
    """Initialize a session before its first packet. Spec: MS-MQQB 3.1.3.2.

    PingCookie is not reset here: it has to identify the pings of the host (note <54> starts it at 0 with the process).
    """
    qm.procedures.initialize_counts(qm, session)
    qm.procedures.initialize_timers(qm, session, now)
    qm.procedures.initialize_transfer_sequence(qm, session, now)
    qm.procedures.initialize_messages(qm, session)
    qm.procedures.initialize_parameters(qm, session, now)
    session.framer = StreamFramer()
    session.refused = False
    session.SessionState = SessionState.WAITING_EC_MSG


def initialize_counts(qm: QueueManager, session: Session) -> None:
    """Begin both message sequences. Spec: MS-MQQB 3.1.3.2, 3.1.1.4."""
    session.MessageSentCount = 0
    session.RecoverableMessageSentCount = 0
    session.MessageReceivedCount = 0
    session.RecoverableMessageReceivedCount = 0
    session.RecoverableMsgAckFlags = 0
    session.LastAckedRecoverableMsgSeqNumber = 0
    session.UnackedReceivedMsgCount = 0
    session.last_ack = session.carried = 0
    session.receipts = deque()


def initialize_timers(qm: QueueManager, session: Session, now: Now) -> None:
    """Stop the timers of an earlier connection, start those of this one. Spec: MS-MQQB 3.1.3.2."""
    for name in SESSION_TIMERS:
        qm.procedures.stop_timer(qm, session, name)
    qm.procedures.start_timer(qm, session, TimerName.SESSION_CLEANUP, qm.settings.session_cleanup_ms, now)
    if len(session.OutgoingMessageTable):
        qm.procedures.start_timer(
            qm, session, TimerName.SESSION_RETRY_CONNECT, qm.settings.session_retry_connect_ms, now
        )


def initialize_transfer_sequence(qm: QueueManager, session: Session, now: Now) -> None:
    """Make the session's OutgoingTransferSequence anew. Spec: MS-MQQB 3.1.3.2, 3.1.1.3.1.1.

    Messages keep the numbers they were first sent with (see update_transaction_header), so they are unacknowledged in
    the new instance too.
    """
    session.TxOutgoingSequence = OutgoingTransferSequence(
        ResendInterval=qm.adm.ResendTimerTable[0],
        TimeOfLastAck=now.utc_s,
        UnackedSequence=[
            SequenceInfo(int(session.OutgoingTxSequenceID), position.TxSequenceNumber, position.TxSequenceNumber - 1)
            for position in session.OutgoingMessageTable
            if position.TxSequenceNumber
        ],
    )


def initialize_messages(qm: QueueManager, session: Session) -> None:
    """Let every message of the table be sent on this session. Spec: MS-MQQB 3.1.3.2.

    UnAckedMessageCount counts messages that were sent (3.1.1.3.1), so it is 0 now. Counting the unsent ones too, as
    3.1.3.2 can be read, would count each of them twice and close the window for ever once WindowSize of them wait.
    """
    session.OutgoingMessageTable.rewind()
    for position in session.OutgoingMessageTable:
        position.ReceivedSessionAck = position.ReceivedOrderAck = position.Transmitted = False
        qm.procedures.watch_sent(qm, session, position)
        qm.procedures.add_to_dispatch_collection(qm, session, position)
    session.UnAckedMessageCount = 0


def initialize_parameters(qm: QueueManager, session: Session, now: Now) -> None:
    """Set timeouts, window and marks. Spec: MS-MQQB 3.1.3.2; notes <50>, <51>, <52>."""
    session.WindowSize = qm.config.window_size
    session.SessionActive = False
    session.ReceivedAck = False
    session.AckWaitTimeout = qm.settings.ack_wait_timeout_ms
    session.OrderAckTimeout = ORDER_ACK_TIMEOUT_MS
    session.DirectFormatSession = False
    session.MaximumOrderAckDelay = MAXIMUM_ORDER_ACK_DELAY_S
    session.LastOrderAckSendTime = now.utc_s
    session.order_acks_due = {}
    session.RecoverableAckSendTimeout = INFINITE
    session.RemoteQMPublicKey = bytes(4)


def start_timer(qm: QueueManager, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
    """Start a timer of a session, or start it again. Spec: MS-MQQB 3.1.2. ``duration_ms``: as specified, unscaled."""
    qm.timers.start(TimerKey(name, session.number), now.monotonic_ms, duration_ms // qm.settings.scale)


def stop_timer(qm: QueueManager, session: Session, name: TimerName) -> None:
    """Stop a timer of a session. Spec: MS-MQQB 3.1.2."""
    qm.timers.stop(TimerKey(name, session.number))


def start_history_timer(qm: QueueManager, now: Now) -> None:
    """Start the MessageIDHistory Cleanup Timer. Spec: MS-MQQB 3.1.2.8."""
    duration_ms = qm.settings.message_id_history_cleanup_ms // qm.settings.scale
    qm.timers.start(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0), now.monotonic_ms, duration_ms)


def on_history_timer(qm: QueueManager, now: Now) -> None:
    """Forget the messages of long ago. Spec: MS-MQQB 3.1.6.7."""
    table = qm.adm.MessageIDHistoryTable
    oldest_s = now.utc_s - qm.settings.message_id_history_cleanup_ms // qm.settings.scale // 1000
    forgotten: Change = {}
    for entry in table:
        if entry.TimeStamp >= oldest_s:
            break  # the table is in order of TimeStamp
        table.remove(entry)
        forgotten[history_name(entry)] = None
    qm.disk.save(forgotten)
    if len(table):
        qm.procedures.start_history_timer(qm, now)
