"""Faults of MS-MQMQ 2.2.20.2, 2.2.20.3, 2.2.20.7 and 2.2.20.8 that hide a part of a message instead of refusing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import packets, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import DebugHeader, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

Check = Callable[[Any], Any]
LARGE_BODY = 4096


def _change_received(when: Check, changes: dict[str, Any]) -> Install:
    """Let the receiver change fields of a received message if a condition is true for the message."""

    class Changing(Receiving):
        def take_message(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            changed = set_fields(packet, changes) if when(packet) else packet
            super().take_message(session, changed, receipt, now)

    return replace_part(Changing)


_HIDDEN_QUEUE = {
    "DebugHeader.Flags": lambda old: old & ~DebugHeader.flags(QT=3),
    "DebugHeader.QueueIdentifier": None,
}
for _number, _rule in ((2, "MQMQ-2.2.20.8-02"), (8, "MQMQ-2.2.20.8-08"), (14, "MQMQ-2.2.20.8-14")):
    _bit = 1 << _number
    add(
        f"receiver-debug-header-x{_number}-hides-queue",
        _rule,
        f"The receiver sends no report on a traced message whose DebugHeader has X{_number} set.",
        _change_received(
            lambda packet, bit=_bit: packet.DebugHeader is not None and packet.DebugHeader.Flags & bit,  # type: ignore[misc]
            _HIDDEN_QUEUE,
        ),
    )

for _name, _rule, _says, _when, _changes in (
    (
        "debug-header-reserved-odd-hides-queue",
        "MQMQ-2.2.20.8-16",
        "The receiver sends no report on a traced message whose DebugHeader has an odd Reserved.",
        lambda packet: packet.DebugHeader is not None and packet.DebugHeader.Reserved & 1,
        _HIDDEN_QUEUE,
    ),
    (
        "administration-list-reserved-hides-list",
        "MQMQ-2.2.20.2-03",
        "The receiver ignores the list of administration queues if its Reserved is not 0.",
        lambda packet: (
            packet.MultiQueueFormatHeader is not None and packet.MultiQueueFormatHeader.Administration.Reserved
        ),
        {
            "MultiQueueFormatHeader.Administration.FormatNameList": (),
            "MultiQueueFormatHeader.Administration.Padding": None,
        },
    ),
    (
        "response-list-reserved-hides-list",
        "MQMQ-2.2.20.2-03",
        "The receiver ignores the list of response queues if its Reserved is not 0.",
        lambda packet: packet.MultiQueueFormatHeader is not None and packet.MultiQueueFormatHeader.Response.Reserved,
        {"MultiQueueFormatHeader.Response.FormatNameList": (), "MultiQueueFormatHeader.Response.Padding": None},
    ),
    (
        "destination-list-reserved-hides-list",
        "MQMQ-2.2.20.2-03",
        "The receiver ignores the list of destinations if its Reserved is not 0.",
        lambda packet: packet.MultiQueueFormatHeader is not None and packet.MultiQueueFormatHeader.Destination.Reserved,
        {"MultiQueueFormatHeader.Destination.FormatNameList": (), "MultiQueueFormatHeader.Destination.Padding": None},
    ),
    (
        "soap-header-reserved-hides-body",
        "MQMQ-2.2.20.7-02",
        "The receiver stores an empty body if Reserved of the SoapHeader is not 0.",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Reserved,
        {"MessagePropertiesHeader.MessageBody": b"", "MessagePropertiesHeader.Padding": None},
    ),
    (
        "soap-header-reserved1-hides-body",
        "MQMQ-2.2.20.7-05",
        "The receiver stores an empty body if Reserved1 of the SoapHeader is not 0.",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Reserved1,
        {"MessagePropertiesHeader.MessageBody": b"", "MessagePropertiesHeader.Padding": None},
    ),
    (
        "body-of-message-with-soap-header-cut",
        "MQMQ-2.2.20-D01",
        "The receiver stores only the first 4,096 bytes of the body of a message with a SoapHeader.",
        lambda packet: packet.SoapHeader is not None,
        {"MessagePropertiesHeader.MessageBody": lambda old: old[:LARGE_BODY], "MessagePropertiesHeader.Padding": None},
    ),
):
    add(f"receiver-{_name}", _rule, _says, _change_received(_when, _changes))


def _change_sent(when: Check, change: Callable[[bytes, UserMessagePacket], bytes]) -> Install:
    return packets(UserMessagePacket, lambda packet: change(packet.build(), packet), when)


def _patch_list(which: str, at: int, size: int, change: Callable[[int], int]) -> Callable[[bytes, Any], bytes]:
    """Return a function that changes a number in a list of the MultiQueueFormatHeader."""

    def patch(data: bytes, packet: Any) -> bytes:
        lists = packet.MultiQueueFormatHeader
        start = data.rindex(lists.build())
        for name in ("Destination", "Administration", "Response"):
            if name == which:
                break
            start += len(getattr(lists, name).build())
        place = slice(start + at, start + at + size)
        number = change(int.from_bytes(data[place], "little")) & (1 << 8 * size) - 1
        return data[: place.start] + number.to_bytes(size, "little") + data[place.stop :]

    return patch


def _has_names(which: str, least: int) -> Check:
    return lambda packet: (
        packet.MultiQueueFormatHeader is not None
        and len(getattr(packet.MultiQueueFormatHeader, which).FormatNameList) >= least
    )


for _name, _rules, _says, _install in (
    (
        "administration-list-header-id-0x64",
        "MQMQ-2.2.20.2-D01",
        "The sender sends HeaderID 0x64 in the list of administration queues.",
        _change_sent(_has_names("Administration", 1), _patch_list("Administration", 4, 2, lambda old: 0x64)),
    ),
    (
        "response-list-header-size-too-small",
        "MQMQ-2.2.20.2-01",
        "The sender sends a HeaderSize that is 4 too small in the list of response queues.",
        _change_sent(_has_names("Response", 1), _patch_list("Response", 0, 4, lambda old: old - 4)),
    ),
    (
        "administration-list-element-count-0",
        ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
        "The sender sends ElementCount 0 in the list of administration queues.",
        _change_sent(_has_names("Administration", 1), _patch_list("Administration", 8, 4, lambda old: 0)),
    ),
    (
        "response-list-element-count-1",
        ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
        "The sender sends ElementCount 1 in a list of several response queues.",
        _change_sent(_has_names("Response", 2), _patch_list("Response", 8, 4, lambda old: 1)),
    ),
):
    add(f"sender-{_name}", _rules, _says, _install)
