"""Faults of MS-MQMQ 2.2.19.1 BaseHeader, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.calls import replace_step_if
from harness.faults.parts import fault
from harness.faults.primitives import both, during
from harness.faults.registry import add
from reference_qm.codec import ConnectionParametersPacket, MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.admission import Admission, Outcome
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now


@fault("receiver-user-message-expired-when-time-is-just-over", breaks="MQMQ-2.2.19.1-24", blind=True)
class ReceiverUserMessageExpiredWhenTimeIsJustOver(Admission):
    """The receiver treats a message as expired when the age of the message equals its TimeToReachQueue."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if now.utc_s - packet.UserHeader.SentTime == packet.BaseHeader.TimeToReachQueue:
            return MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT
        return super().check_expiration(session, packet, queue, now)


HasExpired = Callable[[QM, UserMessagePacket, Now], bool]


def _never_if_transactional(original: HasExpired, *_: object) -> HasExpired:
    return lambda qm, packet, now: packet.TransactionHeader is None and original(qm, packet, now)


add(
    "sender-transactional-message-sent-though-expired",
    "MQMQ-2.2.19.1-24",
    "The sender does not check TimeToReachQueue of transactional messages, and sends expired transactional messages.",
    both(
        during(Sending.send_user_message, Lifetimes.has_expired, _never_if_transactional),
        replace_step_if(
            Lifetimes.watch_message_to_send,
            lambda given: given.position.UserMessage.TransactionHeader is not None,
            lambda given: None,
        ),
    ),
    blind=True,
)


@fault("initiator-connection-parameters-response-reserved-refused", breaks="MQMQ-2.2.19.1-02", blind=True)
class InitiatorConnectionParametersResponseReservedRefused(SessionOpening):
    """The initiator closes the session on a ConnectionParameters response whose BaseHeader.Reserved is not zero."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.BaseHeader.Reserved:
            self.qm.closing.close(session, "a fault", now)
        else:
            super().receive_parameters_response(session, packet, now)
