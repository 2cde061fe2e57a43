"""Faults of FinalAcks that come. Spec: MS-MQQB 3.1.5.7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import procedure
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.protocol.final_acks import FinalAcks
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingMessagePosition

Original = Callable[..., Any]
FINAL = "MQQB-3.1.5.7"


def _class_unread(original: Original) -> Original:
    def journal(qm: QueueManager, position: OutgoingMessagePosition, message_class: int) -> None:
        wants = position.UserMessage.UserHeader.JP
        original(qm, position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if wants else message_class)

    return journal


def _never_dead(original: Original) -> Original:
    def journal(qm: QueueManager, position: OutgoingMessagePosition, message_class: int) -> None:
        original(qm, position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)

    return journal


def _elsewhere(original: Original) -> Original:
    """Put what is kept into the dead letters of messages that are not transactional."""

    def journal(qm: QueueManager, position: OutgoingMessagePosition, message_class: int) -> None:
        header = position.UserMessage.UserHeader
        if header.JP if message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE else header.JN:
            qm.positions.move_message(position.MessagePosition, qm.adm.SystemDeadletterQueue)
        else:
            original(qm, position, message_class)

    return journal


for _name, _breaks, _says, _make in (
    ("class-unread", ("02",), "A message with JP is journaled whatever the class of its FinalAck is.", _class_unread),
    ("never-dead", ("05",), "No message becomes a dead letter.", _never_dead),
    ("elsewhere", ("04", "07"), "What is kept goes to the dead letters of messages without transaction.", _elsewhere),
):
    add(
        f"final-ack-{_name}",
        [f"{FINAL}-{_each}" for _each in _breaks],
        _says,
        procedure(FinalAcks.journal_final, _make),
    )
