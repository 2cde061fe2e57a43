"""Faults in how messages of several queues, sessions and kinds become available. Spec: MS-MQQB 3.1.7.12."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, UserMessagePacket, parse_format_name
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Queue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


def _get_host_of_http_name(text: str) -> str:
    found = re.search(r"//([^:/\\]+)", text)
    return found.group(1) if found else ""


class _NextHopsWithHostsOfHttpNames(NextHops):
    """Resolves the host of an HTTP or HTTPS name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        if getattr(parse_format_name(format_name), "Protocol", "") in ("HTTP", "HTTPS"):
            return Destination(_get_host_of_http_name(format_name), NULL_GUID)
        return super().get_destination_info(format_name)


class _DestinationsWithHttpsNames(DestinationResolving):
    """Accepts HTTPS names as destinations."""

    def find_local_queue(self, text: str) -> Queue | None:
        if getattr(parse_format_name(text), "Protocol", "") == "HTTPS":
            return None
        return super().find_local_queue(text)


class _DestinationsWithHttpNamesOfKnownHosts(DestinationResolving):
    """Accepts an HTTP name as a destination if an outgoing queue for the host of the name exists."""

    def find_local_queue(self, text: str) -> Queue | None:
        host = _get_host_of_http_name(text)
        if getattr(parse_format_name(text), "Protocol", "") == "HTTP" and any(
            host in one.DestinationFormatName for one in self.qm.adm.OutgoingQueues.values()
        ):
            return None
        return super().find_local_queue(text)


add(
    "sender-session-for-https-name-opened",
    "MQQB-3.1.7.12-05",
    "The sender opens a session to the host of a direct format name with the protocol HTTPS.",
    combine_installers(replace_part(_NextHopsWithHostsOfHttpNames), replace_part(_DestinationsWithHttpsNames)),
    blind=True,
)
add(
    "sender-session-for-http-name-of-known-host-opened",
    "MQQB-3.1.7.12-05",
    "The sender opens a session for a direct format name with the protocol HTTP if it has an outgoing queue for the "
    "host.",
    combine_installers(
        replace_part(_NextHopsWithHostsOfHttpNames), replace_part(_DestinationsWithHttpNamesOfKnownHosts)
    ),
    blind=True,
)


@fault("sender-recoverable-number-of-new-express-entry-not-0", breaks="MQQB-3.1.7.12-12", blind=True)
class SenderRecoverableNumberOfNewExpressEntryNot0(MessageSending):
    """The sender sets RecoverableSequenceNumber of a new entry for an express message to the number of recoverable
    messages sent.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if not position.recoverable:
            position.RecoverableSequenceNumber = session.RecoverableMessageSentCount
        super().add_message_to_session_table(session, position, now)


@fault("sender-recoverable-number-of-entry-in-paused-queue-not-0", breaks="MQQB-3.1.7.12-12", blind=True)
class SenderRecoverableNumberOfEntryInPausedQueueNot0(MessageSending):
    """The sender sets RecoverableSequenceNumber of a new entry in a paused queue to the next number."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if position.recoverable and queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            position.RecoverableSequenceNumber = session.RecoverableMessageSentCount + 1
        super().add_message_to_session_table(session, position, now)


@fault("sender-dispatches-nothing-while-other-queue-is-unacknowledged", breaks="MQQB-3.1.7.12-14", blind=True)
class SenderDispatchesNothingWhileOtherQueueIsUnacknowledged(MessageSending):
    """The sender does not dispatch a message to a destination while messages to another destination are
    unacknowledged.
    """

    def dispatch_messages(self, session: Session, now: Now) -> None:
        others = (queue.session for queue in self.qm.adm.OutgoingQueues.values() if queue.session is not session)
        if not any(one.OutgoingMessageTable.awaiting_ack for one in others):
            super().dispatch_messages(session, now)


@fault("sender-message-on-later-session-waits-for-acknowledgment", breaks="MQQB-3.1.7.12-14", blind=True)
class SenderMessageOnLaterSessionWaitsForAcknowledgment(MessageSending):
    """On a later session, the sender dispatches a message only when no message is unacknowledged."""

    def dispatch_messages(self, session: Session, now: Now) -> None:
        first = self.__dict__.setdefault("first_connections", {}).setdefault(session.number, session.transport)
        if first == session.transport or not session.OutgoingMessageTable.awaiting_ack:
            super().dispatch_messages(session, now)


@fault("sender-packets-on-later-session-repeat-content-of-last-entry", breaks="MQQB-3.1.7.12-16", blind=True)
class SenderPacketsOnLaterSessionRepeatContentOfLastEntry(MessageSending):
    """On a later session, the sender sends each message with the properties and the body of the last entry."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        first = self.__dict__.setdefault("first_connections", {}).setdefault(session.number, session.transport)
        if first != session.transport:
            last = list(session.OutgoingMessageTable)[-1]
            packet = replace(packet, MessagePropertiesHeader=last.UserMessage.MessagePropertiesHeader)
        super().transmit(session, position, packet)


@fault("sender-packets-after-pause-repeat-content-of-first-entry", breaks="MQQB-3.1.7.12-16", blind=True)
class SenderPacketsAfterPauseRepeatContentOfFirstEntry(MessageSending):
    """When a paused queue is resumed, the sender sends all waiting messages with the properties and the body of the
    first waiting message.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = session.OutgoingQueueReference
        waiting = self.__dict__.setdefault("waiting", {})
        if queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            first = waiting.setdefault(session.number, position.UserMessage.MessagePropertiesHeader)
            position.UserMessage = replace(position.UserMessage, MessagePropertiesHeader=first)
        super().add_message_to_session_table(session, position, now)


@fault("sender-dispatches-nothing-while-other-destination-unreachable", breaks="MQQB-3.1.7.12-14")
class SenderDispatchesNothingWhileOtherDestinationUnreachable(MessageSending):
    """The sender does not dispatch a message to a destination while another destination is unreachable."""

    def dispatch_messages(self, session: Session, now: Now) -> None:
        others = (queue.session for queue in self.qm.adm.OutgoingQueues.values() if queue.session is not session)
        if not any(len(one.OutgoingMessageTable) and one.SessionState is not SessionState.OPEN for one in others):
            super().dispatch_messages(session, now)
