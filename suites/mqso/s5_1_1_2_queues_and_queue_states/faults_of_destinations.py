"""Faults in outgoing queues of one kind, and in the queue of order acknowledgments."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import PrivateName, parse_format_name
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.surface.clock import Now


@fault("sender-private-queues-of-one-host-share-outgoing-queue", breaks="MQSO-5.1.1.2-D07")
class SenderPrivateQueuesOfOneHostShareOutgoingQueue(DestinationResolving):
    """The sender has one outgoing queue for all queues of a queue manager that are addressed by private names."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PrivateName):
            for known in self.qm.adm.OutgoingQueues.values():
                other = parse_format_name(known.DestinationFormatName)
                if isinstance(other, PrivateName) and other.ComputerGuid == name.ComputerGuid:
                    return known
        return super().open_outgoing_queue(text, now)


@fault("sender-direct-queues-of-one-host-share-outgoing-queue", breaks="MQSO-5.1.1.2-D07")
class SenderDirectQueuesOfOneHostShareOutgoingQueue(DestinationResolving):
    """The sender has one outgoing queue for all queues of an address that are addressed by direct names."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        host = text.partition("\\")[0].lower()
        found = [one for name, one in self.qm.adm.OutgoingQueues.items() if name.startswith("direct=")]
        shared = next((one for one in found if one.Pathname.partition("\\")[0].lower() == host), None)
        return super().open_outgoing_queue(text, now) if shared is None else shared


@fault("sender-outgoing-queue-not-connected-again-after-second-loss", breaks="MQSO-5.1.1.2-D09")
class SenderOutgoingQueueNotConnectedAgainAfterSecondLoss(SessionClosing):
    """The sender does not wait to connect an outgoing queue again if its connection is lost a second time."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        lost = self.__dict__.setdefault("lost", set())
        self.__dict__["again"] = session.number in lost
        lost.add(session.number)
        super().on_transport_lost(session, reason, now)
        self.__dict__["again"] = False

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not self.__dict__.get("again"):
            super().await_reconnect(session, now)


@fault("sender-reconnects-only-one-lost-outgoing-queue", breaks="MQSO-5.1.1.2-D09")
class SenderReconnectsOnlyOneLostOutgoingQueue(SessionClosing):
    """The sender does not wait to connect an outgoing queue again while a different outgoing queue waits."""

    @faulty_only_if(
        lambda self, session, now: any(
            one.SessionState.value == "WAITING_RECONNECT" for one in self.qm.sessions.values() if one is not session
        )
    )
    def await_reconnect(self, session: Session, now: Now) -> None:
        pass


@fault("receiver-order-ack-for-private-name-sent-to-admin-queue", breaks="MQSO-5.1.1.2-D14")
class ReceiverOrderAckForPrivateNameSentToAdminQueue(OrderAcks):
    """The receiver sends an OrderAck to queue 1 of the sender if the message was addressed by a private name."""

    def build_order_queue_name(self, session: Session, source: Any) -> str:
        name = super().build_order_queue_name(session, source)
        return f"PRIVATE={source}\\00000001" if name.startswith("PRIVATE=") else name
