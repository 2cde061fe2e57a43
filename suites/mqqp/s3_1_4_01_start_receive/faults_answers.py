"""Faults that break rules of MS-MQQP 3.1.4.1 and 3.1.4.10 about the responses to reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call

UNKNOWN_INFORMATION_STATUS = 0x400E0000
"""A success status other than MQ_OK."""


@fault(
    "server-successful-receive-returns-null-context-handle",
    breaks=(
        "MQQP-3.1.4.1-05",
        "MQQP-3.1.4.10-02",
        "MQQP-3.1.4.11-02",
        "MQQP-3.1.4.11-57",
        "MQQP-2.2.1.2-01",
        "MQQP-3.1.4.1-D19",
        "MQQP-3.1.4.10-54",
    ),
)
class ServerSuccessfulReceiveReturnsNullContextHandle(RemoteReads):
    """The server returns the context handle NULL for a successful receive."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None:
            entry.Action = ReadAction.MQ_ACTION_PEEK_CURRENT
        super().answer_read(call, status, entry)


@fault(
    "server-successful-peek-returns-context-handle",
    breaks=(
        "MQQP-3.1.4.1-06",
        "MQQP-3.1.4.10-03",
        "MQQP-3.1.4.10-54",
        "MQQP-3.1.4.11-03",
        "MQQP-3.1.4.1-D01",
        "MQQP-3.1.4.1-D19",
    ),
)
class ServerSuccessfulPeekReturnsContextHandle(RemoteReads):
    """The server returns a context handle for a successful peek."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None:
            entry.Action = ReadAction.MQ_ACTION_RECEIVE
        super().answer_read(call, status, entry)


@fault(
    "server-read-success-returns-informational-status",
    breaks=(
        "MQQP-3.1.4.10-09",
        "MQQP-3.1.4.10-55",
        "MQQP-3.1.4.1-10",
        "MQQP-3.1.4.11-58",
        "MQQP-3.1.4.1-D20",
        "MQQP-3.1.4.11-18",
    ),
)
class ServerReadSuccessReturnsInformationalStatus(RemoteReads):
    """The server returns an informational status instead of MQ_OK for a successful read."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        informed = change_answer_values(call, Return=UNKNOWN_INFORMATION_STATUS) if status is Status.MQ_OK else call
        super().answer_read(informed, status, entry)


@fault(
    "server-read-answer-packet-has-wrong-label",
    breaks=(
        "MQQP-3.1.4.1-13",
        "MQQP-3.1.4.1-14",
        "MQQP-3.1.4.10-44",
        "MQQP-3.1.4.10-45",
        "MQQP-3.1.4.11-47",
        "MQQP-3.1.4.11-48",
    ),
)
class ServerReadAnswerPacketHasWrongLabel(RemoteReads):
    """The server returns a packet with a wrong label."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet = super().serialize_remote_message(position)
        return packet.replace("first".encode("utf-16-le"), "other".encode("utf-16-le"))


EMPTY_VALUE_BY_PROPERTY: dict[str, Any] = {"CorrelationIdentifier": bytes(20)}
"""The replacement value of a removed property, for each property that needs a value other than the default of its type.
"""


def _remove_property_of_answered_message(name: str) -> Install:
    """Build a fault in which the server removes one property of a message from the packet that it returns."""

    class MessagePropertyRemover(RemoteReads):
        def serialize_remote_message(self, position: MessagePosition) -> bytes:
            message = position.MessageReference
            lost = replace(message, **{name: EMPTY_VALUE_BY_PROPERTY.get(name) or type(getattr(message, name))()})
            return super().serialize_remote_message(replace(position, MessageReference=lost))

    return replace_part(MessagePropertyRemover)


for _name in ("Extension", "CorrelationIdentifier", "AppSpecific", "BodyType", "SentTime"):
    add(
        f"server-answer-packet-without-{_name}",
        (
            *("MQQP-3.1.4.1-13", "MQQP-3.1.4.1-14", "MQQP-3.1.4.1-16", "MQQP-3.1.4.1-19"),
            *("MQQP-3.1.4.10-44", "MQQP-3.1.4.10-45", "MQQP-3.1.4.10-47", "MQQP-3.1.4.10-50"),
            *("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
        ),
        f"The server returns a packet without the message's {_name}.",
        _remove_property_of_answered_message(_name),
    )


@fault(
    "server-answer-packet-padded-by-4-bytes",
    breaks=(
        "MQQP-3.1.4.1-16",
        "MQQP-3.1.4.1-20",
        "MQQP-3.1.4.10-47",
        "MQQP-3.1.4.10-51",
        "MQQP-3.1.4.11-50",
        "MQQP-3.1.4.11-54",
        "MQQP-2.2.2.1-03",
        "MQQP-2.2.2.1-D04",
        "MQQP-2.2.2.1-10",
    ),
)
class ServerAnswerPacketPaddedBy4Bytes(RemoteReads):
    """The server returns four extra bytes after the packet, and counts these bytes in dwSize."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position) + bytes(4)


@fault(
    "server-answer-sequential-id-one-too-high",
    breaks=(
        "MQQP-3.1.4.10-05",
        "MQQP-3.1.4.10-52",
        "MQQP-3.1.4.11-06",
        "MQQP-3.1.4.11-55",
        "MQQP-3.1.4.10-D01",
    ),
)
class ServerAnswerSequentialIdOneTooHigh(RemoteReads):
    """The server returns a SequentialId that is greater by 1 than the correct value."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        return super().get_sequential_id(position) + 1
