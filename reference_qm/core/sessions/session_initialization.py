from __future__ import annotations

from collections import deque

from reference_qm.codec import SequenceInfo, StreamFramer
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import INFINITE_TIMEOUT, OutgoingTransferSequence, Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import SESSION_TIMERS, TimerName
from reference_qm.surface.clock import Now

ORDER_ACK_TIMEOUT_MS = 500


MAXIMUM_ORDER_ACK_DELAY_S = 10


class SessionInitialization(QueueManagerPart):
    """Sets the initial state of a session. Spec: MS-MQQB 3.1.3.2."""

    __slots__ = ()

    def initialize_session(self, session: Session, now: Now) -> None:
        """Initialize a session before its first packet is sent or received. Spec: MS-MQQB 3.1.3.2.

        PingCookie is not reset here, because it identifies the pings of this queue manager (note <54> sets it to 0
        when the process starts).
        """
        self.initialize_counts(session)
        self.initialize_timers(session, now)
        self.initialize_transfer_sequence(session, now)
        self.initialize_messages(session)
        self.initialize_parameters(session, now)
        session.framer = StreamFramer()
        session.was_session_refused = False
        session.SessionState = SessionState.WAITING_EC_MSG

    def initialize_counts(self, session: Session) -> None:
        """Initialize the counters of the received and the sent messages. Spec: MS-MQQB 3.1.3.2, 3.1.1.4."""
        session.MessageSentCount = 0
        session.RecoverableMessageSentCount = 0
        session.MessageReceivedCount = 0
        session.RecoverableMessageReceivedCount = 0
        session.RecoverableMsgAckFlags = 0
        session.LastAckedRecoverableMsgSeqNumber = 0
        session.UnackedReceivedMsgCount = 0
        session.last_ack_number = session.already_acknowledged_count = 0
        session.unacknowledged_receipts = deque()

    def initialize_timers(self, session: Session, now: Now) -> None:
        """Stop the timers that were started for an earlier connection, and start the timers for the present
        connection.

        Spec: MS-MQQB 3.1.3.2.
        """
        for name in SESSION_TIMERS:
            self.qm.session_timers.stop(session, name)
        self.qm.session_timers.start(session, TimerName.SESSION_CLEANUP, self.qm.settings.session_cleanup_ms, now)
        if len(session.OutgoingMessageTable):
            self.qm.session_timers.start(
                session, TimerName.SESSION_RETRY_CONNECT, self.qm.settings.session_retry_connect_ms, now
            )

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        """Create a new OutgoingTransferSequence for the session. Spec: MS-MQQB 3.1.3.2, 3.1.1.3.1.1.

        Messages keep the numbers with which they were first sent (see update_transaction_header). Therefore the new
        OutgoingTransferSequence lists them as unacknowledged.
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
        """Permit the sending of every message in the table on this session. Spec: MS-MQQB 3.1.3.2.

        UnAckedMessageCount counts sent messages (3.1.1.3.1), so it is 0 after the initialization. 3.1.3.2 could also be
        read as counting unsent messages. With that reading, each message would count twice, and the window would stay
        closed forever if WindowSize messages were waiting.
        """
        session.OutgoingMessageTable.move_cursor_to_start()
        for position in session.OutgoingMessageTable:
            position.ReceivedSessionAck = position.ReceivedOrderAck = position.Transmitted = False
            self.qm.message_lifetimes.record_deadline_of_message_to_send(session, position)
            self.qm.dispatch_collection.add(session, position)
        session.UnAckedMessageCount = 0

    def initialize_parameters(self, session: Session, now: Now) -> None:
        """Set the timeouts, the window size and the flags of a session.

        Spec: MS-MQQB 3.1.3.2; notes <50>, <51>, <52>.
        """
        session.WindowSize = self.qm.config.window_size
        session.SessionActive = False
        session.ReceivedAck = False
        session.AckWaitTimeout = self.qm.settings.ack_wait_timeout_ms
        session.OrderAckTimeout = ORDER_ACK_TIMEOUT_MS
        session.DirectFormatSession = False
        session.MaximumOrderAckDelay = MAXIMUM_ORDER_ACK_DELAY_S
        session.LastOrderAckSendTime = now.utc_s
        session.order_acks_due = {}
        session.RecoverableAckSendTimeout = INFINITE_TIMEOUT
        session.RemoteQMPublicKey = bytes(4)
