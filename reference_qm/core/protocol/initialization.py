from __future__ import annotations

from collections import deque

from reference_qm.codec import SequenceInfo, StreamFramer
from reference_qm.core.part import Part
from reference_qm.core.protocol.durability import Change, history_name
from reference_qm.model.adm import INFINITE, OutgoingTransferSequence, Session
from reference_qm.model.attributes import INITIALIZATION_RETRY_S, ServiceState
from reference_qm.model.states import SessionState
from reference_qm.model.timers import SESSION_TIMERS, TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import StartAgain

ORDER_ACK_TIMEOUT_MS = 500
MAXIMUM_ORDER_ACK_DELAY_S = 10
RETRY_LATER_S = 900
"""InitializationRetryTimerDuration after the first attempt, s. Spec: MS-MQSO 6.6.2."""


class Initialization(Part):
    """Initialization. Spec: MS-MQQB 3.1.3."""

    __slots__ = ()

    def begin(self, now: Now) -> None:
        """Begin to be a queue manager, in its enterprise if it has one. Spec: MS-MQQB 3.1.4.1."""
        self.qm.adm.QueueManagerState = ServiceState.READY
        retry_s = self.qm.adm.InitializationRetryTimerDuration
        if retry_s != INITIALIZATION_RETRY_S:
            self.qm.disk.save({"initialization_retry_s": retry_s})
        self.initialize_globally(now)
        self.qm.administering.establish_waiting(now)

    def fail(self, why: str) -> None:
        """Do nothing of what comes later in the initialization: stay Stopped. Spec: MS-MQSO 5.1.1.1, 5.5.5, 6.6.2."""
        self.qm.halted = f"the queue manager could not start (MQ_ERROR_SERVICE_NOT_AVAILABLE): {why}"

    def give_up(self, why: str, now: Now) -> None:
        """End an initialization in which an error was raised, and try again later. Spec: MS-MQSO 6.6.2."""
        self.fail(why)
        self.qm.begun = True
        self.await_retry(now)

    def await_retry(self, now: Now) -> None:
        """Try again later: after 120 s the first time, then every 900 s. Spec: MS-MQSO 5.1.1.1, 6.4.4.1, 6.6.2."""
        duration_ms = self.qm.settings.scaled(self.qm.adm.InitializationRetryTimerDuration * 1_000)
        self.qm.timers.start(TimerKey(TimerName.INITIALIZATION_RETRY, 0), now.monotonic_ms, duration_ms)
        self.qm.adm.InitializationRetryTimerDuration = RETRY_LATER_S

    def on_initialization_retry_timer(self) -> None:
        """Initialize anew. Spec: MS-MQSO 6.4.4.1."""
        self.qm.emit(StartAgain())

    def initialize_globally(self, now: Now) -> None:
        """Initialize what all sessions share. Spec: MS-MQQB 3.1.3.1."""
        adm = self.qm.adm
        adm.ResendTimerTable = (
            (adm.ResendTimeoutsShort,) * 3
            + (adm.ResendTimeoutsMedium,) * 3
            + (adm.ResendTimeoutsLong,) * 3
            + (adm.ResendTimeoutsFinal,)
        )
        self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
        if len(adm.MessageIDHistoryTable):
            self.start_history_timer(now)
        for queue in adm.OutgoingQueues.values():
            self.qm.destinations.begin(queue, now)
        self.qm.expiring.recover_deadlines()

    def initialize_session(self, session: Session, now: Now) -> None:
        """Initialize a session before its first packet. Spec: MS-MQQB 3.1.3.2.

        PingCookie is not reset here: it has to identify the pings of the host (note <54> starts it at 0 with the
        process).
        """
        self.initialize_counts(session)
        self.initialize_timers(session, now)
        self.initialize_transfer_sequence(session, now)
        self.initialize_messages(session)
        self.initialize_parameters(session, now)
        session.framer = StreamFramer()
        session.refused = False
        session.SessionState = SessionState.WAITING_EC_MSG

    def initialize_counts(self, session: Session) -> None:
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

    def initialize_timers(self, session: Session, now: Now) -> None:
        """Stop the timers of an earlier connection, start those of this one. Spec: MS-MQQB 3.1.3.2."""
        for name in SESSION_TIMERS:
            self.qm.session_timers.stop(session, name)
        self.qm.session_timers.start(session, TimerName.SESSION_CLEANUP, self.qm.settings.session_cleanup_ms, now)
        if len(session.OutgoingMessageTable):
            self.qm.session_timers.start(
                session, TimerName.SESSION_RETRY_CONNECT, self.qm.settings.session_retry_connect_ms, now
            )

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        """Make the session's OutgoingTransferSequence anew. Spec: MS-MQQB 3.1.3.2, 3.1.1.3.1.1.

        Messages keep the numbers they were first sent with (see update_transaction_header), so they are unacknowledged
        in the new instance too.
        """
        session.TxOutgoingSequence = OutgoingTransferSequence(
            ResendInterval=self.qm.adm.ResendTimerTable[0],
            TimeOfLastAck=now.utc_s,
            UnackedSequence=[
                SequenceInfo(
                    int(session.OutgoingTxSequenceID), position.TxSequenceNumber, position.TxSequenceNumber - 1
                )
                for position in session.OutgoingMessageTable
                if position.TxSequenceNumber
            ],
        )

    def initialize_messages(self, session: Session) -> None:
        """Let every message of the table be sent on this session. Spec: MS-MQQB 3.1.3.2.

        UnAckedMessageCount counts messages that were sent (3.1.1.3.1), so it is 0 now. Counting the unsent ones too, as
        3.1.3.2 can be read, would count each of them twice and close the window for ever once WindowSize of them wait.
        """
        session.OutgoingMessageTable.rewind()
        for position in session.OutgoingMessageTable:
            position.ReceivedSessionAck = position.ReceivedOrderAck = position.Transmitted = False
            self.qm.expiring.watch_sent(session, position)
            self.qm.dispatch_collection.add(session, position)
        session.UnAckedMessageCount = 0

    def initialize_parameters(self, session: Session, now: Now) -> None:
        """Set timeouts, window and marks. Spec: MS-MQQB 3.1.3.2; notes <50>, <51>, <52>."""
        session.WindowSize = self.qm.config.window_size
        session.SessionActive = False
        session.ReceivedAck = False
        session.AckWaitTimeout = self.qm.settings.ack_wait_timeout_ms
        session.OrderAckTimeout = ORDER_ACK_TIMEOUT_MS
        session.DirectFormatSession = False
        session.MaximumOrderAckDelay = MAXIMUM_ORDER_ACK_DELAY_S
        session.LastOrderAckSendTime = now.utc_s
        session.order_acks_due = {}
        session.RecoverableAckSendTimeout = INFINITE
        session.RemoteQMPublicKey = bytes(4)

    def start_history_timer(self, now: Now) -> None:
        """Start the MessageIDHistory Cleanup Timer. Spec: MS-MQQB 3.1.2.8."""
        duration_ms = self.qm.settings.scaled(self.qm.settings.message_id_history_cleanup_ms)
        self.qm.timers.start(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0), now.monotonic_ms, duration_ms)

    def on_history_timer(self, now: Now) -> None:
        """Forget the messages of long ago. Spec: MS-MQQB 3.1.6.7."""
        table = self.qm.adm.MessageIDHistoryTable
        oldest_s = now.utc_s - self.qm.settings.scaled(self.qm.settings.message_id_history_cleanup_ms) // 1000
        forgotten: Change = {}
        for entry in table:
            if entry.TimeStamp < oldest_s:  # behind it there are older ones, if the clock was set back since
                table.remove(entry)
                forgotten[history_name(entry)] = None
        self.qm.disk.save(forgotten)
        if len(table):
            self.start_history_timer(now)
