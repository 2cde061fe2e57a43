"""Faults in which messages do not contain a part that their flags announce, or in which the receiver does not measure a
time limit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.fields import clear_bits
from harness.faults.parts import fault, faulty_only_if
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import PublicQueueFormatName, UserMessagePacket
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.model.adm import MessagePosition
from suites.mqmq.steps.kinds_of_messages import is_transactional

add(
    "router-soap-header-kept-without-hh",
    "MQMQ-2.2.19.2-27",
    "The router clears UserHeader.Flags.HH of a message with a SoapHeader, but forwards the header.",
    clear_bits(UserMessagePacket, "UserHeader.HH", has_header("SoapHeader")),
)
add(
    "router-soap-header-removed-with-hh-set",
    "MQMQ-2.2.19.2-27",
    "The router forwards a message without its SoapHeader, but leaves UserHeader.Flags.HH set.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: correct_packet_size(packet.build().replace(packet.SoapHeader.build(), b"", 1)),
        has_header("SoapHeader"),
    ),
)


def _omit_response_queue(when: Callable[[Any], bool]) -> Install:
    """Let the sender omit ResponseQueue of the messages that meet a condition, and leave RQ unchanged."""

    def omit_last_name(packet: Any) -> bytes:
        before, _, after = packet.build().rpartition(packet.UserHeader.ResponseQueue.build())
        return correct_packet_size(before + after)

    return change_packets_of_kind(
        UserMessagePacket, omit_last_name, lambda packet: packet.UserHeader.ResponseQueue is not None and when(packet)
    )


for _name, _says, _condition in (
    (
        "public",
        "ResponseQueue is a public name",
        lambda packet: isinstance(packet.UserHeader.ResponseQueue, PublicQueueFormatName),
    ),
    ("private-of-other-queue-manager", "RQ is 6", lambda packet: packet.UserHeader.RQ == 6),
    ("transactional", "the message is transactional", is_transactional),
    ("beside-admin-queue", "the message has an AdminQueue", lambda packet: packet.UserHeader.AdminQueue is not None),
):
    add(
        f"sender-response-queue-{_name}-missing",
        "MQMQ-2.2.19.2-35",
        f"The sender sets RQ, but omits ResponseQueue if {_says}.",
        _omit_response_queue(_condition),
    )


@fault("receiver-transactional-message-time-to-be-received-not-measured", breaks="MQMQ-2.2.19.2-D04")
class ReceiverTransactionalMessageTimeToBeReceivedNotMeasured(MessageLifetimes):
    """The receiver does not measure TimeToBeReceived of a transactional message."""

    @faulty_only_if(lambda self, position: position.MessageReference.TransactionIdentifier is not None)
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        pass


@fault("receiver-second-message-time-to-be-received-not-measured", breaks="MQMQ-2.2.19.2-D04")
class ReceiverSecondMessageTimeToBeReceivedNotMeasured(MessageLifetimes):
    """The receiver does not measure TimeToBeReceived of a message while the queue contains an earlier message."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        if next(iter(position.QueueReference.MessagePositionList), position) is position:
            super().start_time_to_be_received_timer(position)


@fault(
    "receiver-kept-message-time-to-be-received-not-measured-after-restart",
    breaks=("MQMQ-2.2.19.2-D04", "MQMQ-2.2.19.2-05"),
)
class ReceiverKeptMessageTimeToBeReceivedNotMeasuredAfterRestart(MessageLifetimes):
    """The receiver does not measure TimeToBeReceived of the messages that were in its queues before a restart."""

    def recover_message_deadlines(self) -> None:
        pass
