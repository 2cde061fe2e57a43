"""Faults that break rules of MS-MQDMPR 3.1.3 Initialization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import (
    change_core_after_every_input,
    change_core_at_restart,
    omit_step,
    replace_method_during,
)
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.settings_changing import SettingsChanging
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.names.queue_names import OWN_QUEUE_PATHS, QueueNames
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.store.entries import build_message_entry, build_message_relocation
from reference_qm.core.store.messages import serialize_message
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.directory import DirectoryState
from reference_qm.directory.enums import DirectoryOperationResult, QueueType
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.message import Message
from reference_qm.model.states import MessagePositionState, OutgoingQueueState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.security import MqdsPublicKeys
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Configure, Result
from reference_qm.surface.inputs import DomainReported


@fault("transactional-dead-letter-queue-missing", breaks=("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D12"))
class TransactionalDeadLetterQueueMissing(QueueNames):
    """The queue manager has no transactional dead-letter queue."""

    def find_queue_by_path(self, name: str) -> Queue | None:
        return None if name.lower() == "system$;deadxact" else super().find_queue_by_path(name)


@fault("domain-change-ignored-at-start", breaks=("MQDMPR-3.1.3-06", "MQDMPR-3.1.3-10", "MQDMPR-3.1.3-D02"))
class DomainChangeIgnoredAtStart(DomainMembership):
    """The queue manager keeps the domain from its first start, although the local security authority now returns a
    different domain.
    """

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        known = self.qm.adm.LastDomain
        super().on_domain_reported(event if known is None else DomainReported(known), now)


@fault("security-authority-not-queried-for-domain", breaks=("MQDMPR-3.1.3-06", "MQDMPR-3.1.3-10"))
class SecurityAuthorityNotQueriedForDomain(DomainMembership):
    """The queue manager does not query the local security authority for the computer's domain."""

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        """Ignore the domain that the local security authority reported."""


@fault("queue-manager-domain-read-at-first-start-only", breaks="MQDMPR-3.1.3-06", blind=True)
class QueueManagerDomainReadAtFirstStartOnly(DomainMembership):
    """A queue manager that has saved a domain uses this domain at each later start, and does not query the local
    security authority.
    """

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        if self.qm.adm.LastDomain is None:
            super().on_domain_reported(event, now)
        else:
            self.qm.adm.MachineDomainId = self.qm.adm.LastDomain


RSA_EXPONENT_OFFSET_BYTES = 16


def _change_published_public_keys(name: str, change: Callable[[MqdsPublicKeys], MqdsPublicKeys]) -> Install:
    """Build a fault that changes a list of public keys of the queue manager, unless the fault has already changed this
    list.
    """
    made: set[bytes] = set()

    def change_published_list(qm: QueueManager) -> None:
        state = qm.enterprise.state
        told = getattr(state.LocalQueueManager, name)
        if not told or told in made:
            return
        keys = change(MqdsPublicKeys.parse(told)).build()
        made.add(keys)
        values: dict[str, Any] = {name: keys}
        state.LocalQueueManager = replace(state.LocalQueueManager, **values)

    return change_core_after_every_input(change_published_list)


def _keep_only_first_public_key(keys: MqdsPublicKeys) -> MqdsPublicKeys:
    return MqdsPublicKeys(keys.aPublicKeys[:1])


def _list_longest_public_key_twice(keys: MqdsPublicKeys) -> MqdsPublicKeys:
    longest = max(keys.aPublicKeys, key=lambda one: len(one.aBuf)).aBuf
    return MqdsPublicKeys(tuple(replace(one, aBuf=longest) for one in keys.aPublicKeys))


def _make_rsa_exponents_even(keys: MqdsPublicKeys) -> MqdsPublicKeys:
    def make_exponent_even(blob: bytes) -> bytes:
        return (
            blob[:RSA_EXPONENT_OFFSET_BYTES]
            + bytes([blob[RSA_EXPONENT_OFFSET_BYTES] & 0xFE])
            + blob[RSA_EXPONENT_OFFSET_BYTES + 1 :]
        )

    return MqdsPublicKeys(tuple(replace(one, aBuf=make_exponent_even(one.aBuf)) for one in keys.aPublicKeys))


for _name, _breaks, _says, _list, _change in (
    (
        "published-encryption-key-for-one-provider-only",
        ("MQDMPR-3.1.3-21", "MQDMPR-3.1.3-22"),
        "The PublicEncryptionKeyList has a key for only one provider.",
        "PublicEncryptionKeyList",
        _keep_only_first_public_key,
    ),
    (
        "published-signing-key-for-one-provider-only",
        ("MQDMPR-3.1.3-24", "MQDMPR-3.1.3-25"),
        "The PublicSigningKeyList has a key for only one provider.",
        "PublicSigningKeyList",
        _keep_only_first_public_key,
    ),
    (
        "signing-key-same-for-all-providers",
        "MQDMPR-3.1.3-D07",
        "The PublicSigningKeyList has the same key for all providers.",
        "PublicSigningKeyList",
        _list_longest_public_key_twice,
    ),
    (
        "signing-key-exponent-even",
        "MQDMPR-3.1.3-26",
        "The keys of the PublicSigningKeyList have an even exponent.",
        "PublicSigningKeyList",
        _make_rsa_exponents_even,
    ),
):
    add(_name, _breaks, _says, _change_published_public_keys(_list, _change))


@fault("internal-queues-open-to-applications", breaks="MQDMPR-3.1.3-27")
class InternalQueuesOpenToApplications(QueueManagerInitialization):
    """Applications can open the queues for order acknowledgments and for notifications like other private queues."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        for name in OWN_QUEUE_PATHS:
            self.qm.queue_lifecycle.add(Queue(Pathname=name, QueueType=QueueType.PRIVATE))


@fault("order-ack-queue-open-to-send-for-applications", breaks="MQDMPR-3.1.3-27", blind=True)
class OrderAckQueueOpenToSendForApplications(QueueOpening):
    """An application can open the queue for order acknowledgments for sending with a format name that addresses the
    queue by the name of the local computer.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        own = "order_queue$" in format_name.lower() or "notify_queue$" in format_name.lower()
        if own and required_access is QueueAccessType.SEND and "TCP" not in format_name:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("order-ack-queue-open-to-peek-for-remote-readers", breaks="MQDMPR-3.1.3-27", blind=True)
class OrderAckQueueOpenToPeekForRemoteReaders(QueueOpening):
    """An application or a remote reader can open the queue for order acknowledgments with PeekAccess."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        if "order_queue$" in format_name.lower() and required_access is QueueAccessType.PEEK:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("notification-queue-with-upper-case-name-opened-to-send", breaks="MQDMPR-3.1.3-27", blind=True)
class NotificationQueueWithUpperCaseNameOpenedToSend(QueueOpening):
    """An application can open the queue of change notifications with send access if the application writes the
    name of the queue in capital letters.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        if "NOTIFY_QUEUE$" in format_name and required_access is QueueAccessType.SEND:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)


add(
    "order-queue-messages-lost",
    "MQDMPR-3.1.3-28",
    "The queue manager discards messages to the queue for order acknowledgments.",
    omit_step(OrderAcks.note_last_message_in_order),
)


@fault("qualified-computer-name-without-domain", breaks="MQDMPR-3.1.3-D03")
class QualifiedComputerNameWithoutDomain(QueueManagerInitialization):
    """The QualifiedComputerName has no domain."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.QualifiedComputerName = self.qm.adm.ComputerName


def _change_state_after_directory_read(change: Callable[[DirectoryState], None]) -> Install:
    """Build a fault that changes the attributes that the queue manager has read from the directory."""

    class SynchronizedStateChanger(DirectoryClient):
        def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
            status = super().synchronize_with_directory(now)
            change(self.qm.enterprise.state)
            return status

    return replace_part(SynchronizedStateChanger)


def _clear_site_identifiers(state: DirectoryState) -> None:
    state.LocalQueueManager = replace(state.LocalQueueManager, SiteIdentifierList=())


add(
    "queue-manager-without-site",
    ("MQDMPR-3.1.3-D05", "MQSO-6.6-06", "MQSO-6.6.1-D06"),
    "The queue manager belongs to no site.",
    _change_state_after_directory_read(_clear_site_identifiers),
)


add(
    "own-directory-attributes-ignored-at-start",
    ("MQDMPR-3.1.3-D08", "MQDMPR-3.1.1-03"),
    "At its start the queue manager reads its own attributes from the directory, but does not use them.",
    omit_step(DirectoryClient._copy_attributes_of_own_object),
)


def _clear_site_collection(state: DirectoryState) -> None:
    state.SiteCollection = ()


def _clear_enterprise_reference(state: DirectoryState) -> None:
    state.EnterpriseReference = None


for _name, _breaks, _says, _state in (
    (
        "enterprise-not-read-from-directory",
        "MQDMPR-3.1.3-D10",
        ("The queue manager does not read the enterprise from the directory."),
        _clear_enterprise_reference,
    ),
    (
        "sites-not-read-from-directory",
        "MQDMPR-3.1.3-D09",
        "The queue manager does not read its sites from the directory.",
        _clear_site_collection,
    ),
):
    add(_name, _breaks, _says, _change_state_after_directory_read(_state))


@fault("site-gates-update-timer-not-started", breaks="MQDMPR-3.1.3-D11")
class SiteGatesUpdateTimerNotStarted(DirectoryClient):
    """The queue manager reads its site gates only at its start."""

    def _start_timer(self, name: TimerName, now: Now) -> None:
        if name is not TimerName.DIRECTORY_SITE_GATES_UPDATE:
            super()._start_timer(name, now)


@fault("sites-update-timer-stopped-by-start-of-site-gates-timer", breaks="MQDMPR-3.1.3-D11", blind=True)
class SitesUpdateTimerStoppedByStartOfSiteGatesTimer(DirectoryClient):
    """At its start the queue manager stops the Directory Sites Update Timer when it starts the Directory Site Gates
    Update Timer.
    """

    def _start_timer(self, name: TimerName, now: Now) -> None:
        super()._start_timer(name, now)
        if name is TimerName.DIRECTORY_SITE_GATES_UPDATE:
            self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0))


@fault("hardened-security-cannot-be-disabled", breaks="MQDMPR-3.1.3-D13")
class HardenedSecurityCannotBeDisabled(SettingsChanging):
    """The queue manager remains in hardened security mode after an administrator disabled the mode."""

    def configure(self, request: Configure, token: int, now: Now) -> Result:
        return super().configure(replace(request, hardened_security=request.hardened_security or None), token, now)


def _establish_session_of_first_queue_only(original: Callable[..., Any], *_: object) -> Callable[..., Any]:
    def establish(qm: QueueManager, now: Now) -> None:
        waiting = [queue for queue in qm.adm.OutgoingQueues.values() if len(queue.session.OutgoingMessageTable)]
        if waiting:
            qm.session_establishing.establish(waiting[0].session, now)

    return establish


add(
    "queue-manager-second-locked-outgoing-queue-not-sent-at-start",
    "MQDMPR-3.1.3-D13",
    "At its start, the queue manager sends the messages of only the first of several outgoing queues that were Locked.",
    replace_method_during(
        QueueManagerInitialization.begin,
        TransferAdministering.establish_waiting,
        _establish_session_of_first_queue_only,
    ),
    blind=True,
)


@fault("hardened-security-still-sends-messages", breaks=("MQDMPR-3.1.1.1-D02", "MQDMPR-3.1.1.3-07", "MQDMPR-3.1.3-D14"))
class HardenedSecurityStillSendsMessages(SessionConnecting):
    """The queue manager sends messages in hardened security mode."""

    def may_connect(self) -> bool:
        return self.qm.adm.ConnectionActive


@fault(
    "hardened-security-outgoing-queue-state-waiting-instead-of-locked", breaks=("MQDMPR-3.1.1.3-07", "MQDMPR-3.1.3-D14")
)
class HardenedSecurityOutgoingQueueStateWaitingInsteadOfLocked(SessionEstablishing):
    """The outgoing queue shows the State Waiting in hardened security mode."""

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        super().establish(session, now, again=again)
        queue = session.OutgoingQueueReference
        if queue is not None and queue.State is OutgoingQueueState.LOCKED:
            queue.State = OutgoingQueueState.WAITING


@fault("hardened-security-outgoing-queue-to-second-host-not-locked-at-start", breaks="MQDMPR-3.1.3-D14", blind=True)
class HardenedSecurityOutgoingQueueToSecondHostNotLockedAtStart(QueueManagerInitialization):
    """When the queue manager starts in hardened security mode, only the first of its outgoing queues is Locked."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        for queue in list(self.qm.adm.OutgoingQueues.values())[1:]:
            if queue.State is OutgoingQueueState.LOCKED:
                queue.State = OutgoingQueueState.WAITING


def _clear_two_phase_transactions(qm: QueueManager) -> None:
    for transaction in qm.adm.TransactionCollection.values():
        if not transaction.SinglePhase:
            transaction.TransactionalOperationCollection.clear()


add(
    "prepared-transaction-operations-lost-at-restart",
    "MQDMPR-3.1.3-D15",
    "At a restart, the queue manager loses the operations of prepared transactions.",
    change_core_at_restart(_clear_two_phase_transactions),
)


@fault("in-doubt-transaction-second-receive-not-restored", breaks="MQDMPR-3.1.3-D15", blind=True)
class InDoubtTransactionSecondReceiveNotRestored(TransactionRecords):
    """After a restart, the queue manager restores only the first receive of a prepared transaction that received
    several messages.
    """

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        operations = self.qm.adm.TransactionCollection[UUID(rest)].TransactionalOperationCollection
        received = [one for one in operations if one.OperationType is OperationType.DEQUEUE]
        for operation in received[1:]:
            operations.remove(operation)
            operation.MessagePositionReference.State = MessagePositionState.AVAILABLE


@fault("in-doubt-transaction-move-not-restored", breaks="MQDMPR-3.1.3-D15", blind=True)
class InDoubtTransactionMoveNotRestored(TransactionRecords):
    """After a restart, the commit of a prepared transaction does not carry out the moves of the transaction."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kept = [one for one in value["operations"] if one[0] != OperationType.MOVE.value]
        super().restore_transaction(rest, {**value, "operations": kept})


@fault("only-last-in-doubt-transaction-restored", breaks="MQDMPR-3.1.3-D15", blind=True)
class OnlyLastInDoubtTransactionRestored(TransactionRecords):
    """After a restart, the queue manager can commit or abort only the last of several prepared transactions."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        self.qm.adm.TransactionCollection.clear()
        super().restore_transaction(rest, value)


@fault("restart-restores-only-first-prepared-transaction", breaks="MQDMPR-3.1.3-D15")
class RestartRestoresOnlyFirstPreparedTransaction(TransactionRecords):
    """After a restart, the queue manager has only the first of several transactions for which it voted."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        if not self.qm.adm.TransactionCollection:
            super().restore_transaction(rest, value)


@fault("restart-keeps-uncommitted-receives", breaks="MQDMPR-3.1.3-D16")
class RestartKeepsUncommittedReceives(TransactionOperations):
    """After a restart, the queue manager does not restore messages that an uncommitted transaction received."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if transaction.SinglePhase:
            self.qm.disk.save(
                self.qm.durable_records.build_message_removal([position], MessageClass.MQMSG_CLASS_ACK_RECEIVE)
            )


@fault("restart-keeps-move-of-open-transaction", breaks="MQDMPR-3.1.3-D16", blind=True)
class RestartKeepsMoveOfOpenTransaction(TransactionOperations):
    """The queue manager saves a move in an open transaction without a coordinator at once, so the message is in the
    target queue after a restart.
    """

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        there = MessagePosition(position.MessageReference, target, order_queue=position.order_queue, key=position.key)
        there.LookupIdentifier = position.LookupIdentifier
        self.qm.disk.save(build_message_relocation(there))


@fault("restart-keeps-message-that-open-transaction-sent", breaks="MQDMPR-3.1.3-D16", blind=True)
class RestartKeepsMessageThatOpenTransactionSent(TransactionOperations):
    """The queue manager saves a message that an open internal transaction sent to a local queue at once, so the message
    is in the queue after a restart.
    """

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue) and self.qm.disk.used:
            self.qm.disk.save(build_message_entry(position, serialize_message(position.MessageReference).build()))
        return position


def _remove_transactions_after_first(qm: QueueManager) -> None:
    for transaction in list(qm.adm.TransactionCollection.values())[1:]:
        del qm.adm.TransactionCollection[transaction.Identifier]


add(
    "only-first-voted-transaction-known-after-restart",
    "MQDMPR-3.1.3-D15",
    "After a restart, the queue manager knows only the first transaction for which it voted.",
    change_core_at_restart(_remove_transactions_after_first),
    blind=True,
)
