"""Faults of MS-MQQB 3.1.1.3 Queue Manager State."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import Install, add
from harness.faults.timed_caches import OnlyTheLast, delay_cleanup_timer, replace_cache
from reference_qm.codec import NULL_GUID, MessageIdentifier
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import MessageIDHistoryEntry, Session
from reference_qm.model.tables import MessageIDHistoryTable
from reference_qm.surface.clock import Now


def _increment_element_at_restart(element: str) -> Install:
    def increment_element(qm: QueueManager) -> None:
        setattr(qm.adm, element, getattr(qm.adm, element) + 1)

    return at_restart(increment_element)


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
        _increment_element_at_restart(_element),
    )


@fault("receiver-message-history-not-empty-at-first-start", breaks="MQQB-3.1.1.3-21")
class ReceiverMessageHistoryNotEmptyAtFirstStart(Initialization):
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
    at_restart(_clear_message_id_history),
)


@fault("sender-message-id-two-higher", breaks="MQQB-3.1.1.3-24")
class SenderMessageIdTwoHigher(Numbering):
    """The sender increases the MessageID by two for each message."""

    def assign_identifier(self) -> int:
        super().assign_identifier()
        return super().assign_identifier()


def _reset_message_id_ordinal(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


add(
    "sender-message-id-reset-by-restart",
    "MQQB-3.1.1.3-25",
    "The sender begins with the first MessageID again after a restart.",
    at_restart(_reset_message_id_ordinal),
)


@fault("initiator-ping-request-cookie-constant", breaks="MQQB-3.1.1.3-26")
class InitiatorPingRequestCookieConstant(Ping):
    """The initiator sends the same Cookie in all its Ping Requests."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.adm.PingCookie = 6
        super().send_request(session, now)


@fault("receiver-send-insecure-nacks-true-by-default", breaks="MQQB-3.1.1.3-27")
class ReceiverSendInsecureNacksTrueByDefault(Initialization):
    """The receiver's SendInsecureNacks is TRUE unless another value is configured."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.SendInsecureNacks = True


def _forget_insecure_nacks(qm: QueueManager) -> None:
    qm.adm.SendInsecureNacks = False


add(
    "receiver-send-insecure-nacks-lost-by-restart",
    "MQQB-3.1.1.3-27",
    "The receiver sets SendInsecureNacks to FALSE at a restart.",
    at_restart(_forget_insecure_nacks),
)

add(
    "sender-symmetric-key-cache-has-one-entry",
    ("MQQB-3.1.1.3-10", "MQQB-3.1.1.3-11"),
    "The sender's SendSymmetricKeyCache has one entry: a new key replaces the previous key.",
    replace_cache("SendSymmetricKeyCache", OnlyTheLast),
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
