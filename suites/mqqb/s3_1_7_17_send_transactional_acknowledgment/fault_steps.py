"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import PartMethod
from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.surface.clock import Now

AckAttributesComputation = Callable[..., dict[str, Any]]
"""The type of functions that compute wrong attributes of an acknowledgment. The first arguments are the queue
manager and the acknowledgment (a Message); the further arguments are those of the step that sends the acknowledgment.
"""


def change_final_ack_of_removal(compute: AckAttributesComputation) -> Install:
    """Return an installer of a fault that changes the FinalAck for a message that has left its queue. ``compute`` gets
    the queue manager, the acknowledgment, the position of the message, and the reason.
    """
    return _change_sent_acknowledgment(FinalAcks.send_final_ack_of_message, compute)


def change_final_ack_of_refusal(compute: AckAttributesComputation) -> Install:
    """Return an installer of a fault that changes the FinalAck for a refused packet. ``compute`` gets the
    queue manager, the acknowledgment, the session, the packet, and the class of the acknowledgment.
    """
    return _change_sent_acknowledgment(FinalAcks.send_negative_final_ack, compute)


def change_scheduled_order_ack(compute: AckAttributesComputation) -> Install:
    """Return an installer of a fault that changes the OrderAcks that the Order Ack Send Timer sends. ``compute`` gets
    the queue manager, the acknowledgment and the session.
    """
    return _change_sent_acknowledgment(OrderAcks.on_order_ack_send_timer, compute)


def _change_sent_acknowledgment(outer: PartMethod, compute: AckAttributesComputation) -> Install:
    def make_changed_send(original: Callable[..., None], qm: QM, *arguments: Any) -> Callable[..., None]:
        def send_changed_acknowledgment(qm: QM, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
            ack = position.MessageReference
            position.MessageReference = replace(ack, **compute(qm, ack, *arguments[:-1]))
            original(qm, queue, position, now)

        return send_changed_acknowledgment

    return replace_method_during(outer, MessageSending.on_message_position_available, make_changed_send)
