"""Faults that break rules of MS-MQQB 3.1.1.3 Queue Manager State and of 3.1.1.3.2."""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from harness.faults.timed_caches import LastEntryCache, delay_cleanup_timer, replace_cache
from reference_qm.codec import NULL_GUID, MessageIdentifier
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message, MessageIDHistoryEntry, Session
from reference_qm.model.tables import MessageIDHistoryTable
from reference_qm.surface.clock import Now

add(
    "sender-symmetric-key-cache-has-one-entry",
    ("MQQB-3.1.1.3-10", "MQQB-3.1.1.3-11"),
    "The sender's SendSymmetricKeyCache has one entry: a new key replaces the previous key.",
    replace_cache("SendSymmetricKeyCache", LastEntryCache),
)


for _name, _cache in (
    ("sender-send", "SendSymmetricKeyCache"),
    ("receiver-receive", "ReceiveSymmetricKeyCache"),
):
    add(
        f"{_name}-symmetric-key-cache-lifetime-doubled",
        "MQQB-3.1.1.3-14",
        f"The cleanup timer of {_cache} expires after two lifetimes.",
        delay_cleanup_timer(_cache),
    )


@fault("receiver-message-history-not-empty-at-first-start", breaks="MQQB-3.1.1.3-21")
class ReceiverMessageHistoryNotEmptyAtFirstStart(QueueManagerInitialization):
    """The receiver begins with an entry in MessageIDHistoryTable."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.MessageIDHistoryTable.insert(MessageIDHistoryEntry(MessageIdentifier(NULL_GUID, 1), now.utc_s))


def _clear_message_id_history(qm: QueueManager) -> None:
    qm.adm.MessageIDHistoryTable = MessageIDHistoryTable()


add(
    "receiver-message-history-lost-by-restart",
    "MQQB-3.1.1.3-22",
    "The receiver clears MessageIDHistoryTable at a restart.",
    change_core_at_restart(_clear_message_id_history),
)


@fault("sender-message-id-increased-by-two-for-each-message", breaks="MQQB-3.1.1.3-24")
class SenderMessageIdIncreasedByTwoForEachMessage(MessageNumbering):
    """The sender increases the MessageID by two for each message."""

    def assign_message_ordinal(self) -> int:
        super().assign_message_ordinal()
        return super().assign_message_ordinal()


@fault("sender-message-id-incremented-twice-for-own-message", breaks="MQQB-3.1.1.3-24", blind=True)
class SenderMessageIdIncrementedTwiceForOwnMessage(OwnMessageSending):
    """The sender increments MessageIdOrdinal by two for an administration acknowledgment or a report."""

    def send(self, message: Message, now: Now) -> None:
        before = self.qm.adm.MessageIdOrdinal
        super().send(message, now)
        if self.qm.adm.MessageIdOrdinal != before:
            self.qm.message_numbering.assign_message_ordinal()


@fault("sender-message-id-increased-by-two-for-every-fourth-message", breaks="MQQB-3.1.1.3-24", blind=True)
class SenderMessageIdIncreasedByTwoForEveryFourthMessage(MessageNumbering):
    """The sender increases MessageID by two, instead of one, for every fourth message."""

    def assign_message_ordinal(self) -> int:
        number = super().assign_message_ordinal()
        return super().assign_message_ordinal() if number % 4 == 0 else number


@fault("sender-message-id-increased-by-two-with-several-queues", breaks="MQQB-3.1.1.3-24", blind=True)
class SenderMessageIdIncreasedByTwoWithSeveralQueues(MessageNumbering):
    """When several outgoing queues exist, the sender increases MessageID by two for each message."""

    def assign_message_ordinal(self) -> int:
        number = super().assign_message_ordinal()
        return super().assign_message_ordinal() if len(self.qm.adm.OutgoingQueues) > 1 else number


def _reset_message_id_ordinal(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


add(
    "sender-message-id-reset-by-restart",
    "MQQB-3.1.1.3-25",
    "The sender begins with the first MessageID again after a restart.",
    change_core_at_restart(_reset_message_id_ordinal),
)


def _reset_message_id_ordinal_without_messages(qm: QueueManager) -> None:
    waiting = sum(len(queue.session.OutgoingMessageTable) for queue in qm.adm.OutgoingQueues.values())
    if not waiting:
        qm.adm.MessageIdOrdinal = qm.disk.reserved = 0


add(
    "sender-message-ids-from-1-after-restart-without-waiting-messages",
    "MQQB-3.1.1.3-25",
    "After a restart without waiting messages, the sender's MessageIDs start at 1 again.",
    change_core_at_restart(_reset_message_id_ordinal_without_messages),
    blind=True,
)


def _decrease_message_id_ordinal(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = max(0, qm.adm.MessageIdOrdinal - 0x4000)


add(
    "sender-message-ids-of-last-run-again-after-restart",
    "MQQB-3.1.1.3-25",
    "After a restart, the sender's MessageIDs begin with the first MessageID of the previous run.",
    change_core_at_restart(_decrease_message_id_ordinal),
    blind=True,
)


@fault("initiator-ping-request-cookie-constant", breaks="MQQB-3.1.1.3-26")
class InitiatorPingRequestCookieConstant(PingHandling):
    """The initiator sends the same Cookie in all its Ping Requests."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.adm.PingCookie = 6
        super().send_request(session, now)


@fault("receiver-send-insecure-nacks-true-by-default", breaks="MQQB-3.1.1.3-27")
class ReceiverSendInsecureNacksTrueByDefault(QueueManagerInitialization):
    """The receiver's SendInsecureNacks is TRUE unless another value is configured."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.SendInsecureNacks = True


def _clear_send_insecure_nacks(qm: QueueManager) -> None:
    qm.adm.SendInsecureNacks = False


add(
    "receiver-send-insecure-nacks-lost-by-restart",
    "MQQB-3.1.1.3-27",
    "The receiver sets SendInsecureNacks to FALSE at a restart.",
    change_core_at_restart(_clear_send_insecure_nacks),
)


def _increment_queue_manager_element_at_restart(element: str) -> Install:
    def increment_element(qm: QueueManager) -> None:
        setattr(qm.adm, element, getattr(qm.adm, element) + 1)

    return change_core_at_restart(increment_element)


for _name, _rule, _element in (
    ("sender-resend-timeouts-short-changed-by-restart", "MQQB-3.1.1.3-28", "ResendTimeoutsShort"),
    ("sender-resend-timeouts-medium-changed-by-restart", "MQQB-3.1.1.3-29", "ResendTimeoutsMedium"),
    ("sender-resend-timeouts-long-changed-by-restart", "MQQB-3.1.1.3-30", "ResendTimeoutsLong"),
    ("sender-resend-timeouts-final-changed-by-restart", "MQQB-3.1.1.3-31", "ResendTimeoutsFinal"),
):
    add(
        _name,
        _rule,
        f"The sender's {_element} is one second longer after a restart.",
        _increment_queue_manager_element_at_restart(_element),
    )


for name, rule, element in (
    ("short", "MQQB-3.1.1.3-28", "ResendTimeoutsShort"),
    ("medium", "MQQB-3.1.1.3-29", "ResendTimeoutsMedium"),
    ("long", "MQQB-3.1.1.3-30", "ResendTimeoutsLong"),
    ("final", "MQQB-3.1.1.3-31", "ResendTimeoutsFinal"),
):

    def _double_element(qm: QueueManager, element: str = element) -> None:
        setattr(qm.adm, element, 2 * getattr(qm.adm, element))

    add(
        f"sender-resend-timeout-{name}-doubled-at-restart",
        rule,
        f"The sender doubles {element} after a restart.",
        change_core_at_restart(_double_element),
        blind=True,
    )


@fault("sender-resend-timeouts-final-equals-long-after-restart", breaks="MQQB-3.1.1.3-31", blind=True)
class SenderResendTimeoutsFinalEqualsLongAfterRestart(StateRestoring):
    """After a restart, the sender's ResendTimeoutsFinal has the value of ResendTimeoutsLong."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        if entries:
            self.qm.adm.ResendTimeoutsFinal = self.qm.adm.ResendTimeoutsLong


@fault("sender-outgoing-tx-sequence-number-counted-anew-at-restart", breaks="MQQB-3.1.1.3.2-02", blind=True)
class SenderOutgoingTxSequenceNumberCountedAnewAtRestart(StateRestoring):
    """After a restart, the sender sets OutgoingTxSequenceNumber to the number of transactional messages in
    OutgoingMessageTable plus one, so that it uses a number again that was already sent and acknowledged.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.OutgoingQueues.values():
            waiting = sum(position.TxSequenceNumber > 0 for position in queue.session.OutgoingMessageTable)
            queue.session.OutgoingTxSequenceNumber = waiting + 1


@fault("sender-resend-timeouts-medium-lost-with-unacked-sequence", breaks="MQQB-3.1.1.3-29", blind=True)
class SenderResendTimeoutsMediumLostWithUnackedSequence(StateRestoring):
    """The sender sets ResendTimeoutsMedium to ResendTimeoutsShort when it restarts with transactional messages in an
    outgoing queue.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        adm = self.qm.adm
        tables = [queue.session.OutgoingMessageTable for queue in adm.OutgoingQueues.values()]
        if any(position.TxSequenceNumber for table in tables for position in table):
            adm.ResendTimeoutsMedium = adm.ResendTimeoutsShort
