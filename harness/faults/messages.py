"""Faults of what messages are made of. Spec: MS-MQMQ 2.2.18.1, 2.2.19.2, 2.2.20."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults import registry
from harness.faults.primitives import byte, packets, procedure, refuse, wrong_bytes, wrong_fields
from harness.faults.registry import FaultyCore, Install
from reference_qm.codec import FormatError, UserHeader, UserMessagePacket
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions

MESSAGE = UserMessagePacket
USER = "MQMQ-2.2.19.2-"
BASE_FLAGS_AT, USER_FLAGS_AT, USER_FLAGS_END = 2, 60, 64
IN = 1 << 3
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""A queue manager that is nowhere."""
DIRECT, ON_DESTINATION, PUBLIC = 7, 3, 5
EARLIER_S = 3_600
GUID_SIZE = 16


def add(name: str, breaks: str | Iterable[str], says: str, install: Install) -> None:
    """Register a fault of messages."""
    registry.add(f"message-{name}", breaks, says, install)


def user_bits(**bits: int) -> Callable[[bytes], bytes]:
    """Set bits of UserHeader.Flags, whatever they announce."""
    clear = ~UserHeader.flags(**{name: vars(UserHeader)[name].mask for name in bits})
    value = UserHeader.flags(**bits)

    def change(data: bytes) -> bytes:
        flags = int.from_bytes(data[USER_FLAGS_AT:USER_FLAGS_END], "little") & clear | value
        return data[:USER_FLAGS_AT] + flags.to_bytes(4, "little") + data[USER_FLAGS_END:]

    return change


def resized(data: bytes) -> bytes:
    """Let PacketSize be the bytes that there are."""
    return data[:8] + len(data).to_bytes(4, "little") + data[12:]


def _announcements() -> None:
    """Set the flag of a header that is not there."""
    for flag, rules in (
        ("SH", (f"{USER}18", "MQMQ-2.2.20-04")),
        ("TH", (f"{USER}19", "MQMQ-2.2.20-03")),
        ("CQ", (f"{USER}22", f"{USER}38")),
        ("MQ", (f"{USER}23", "MQMQ-2.2.20-08")),
        ("HH", (f"{USER}27", "MQMQ-2.2.20-07")),
    ):
        says = f"A message has {flag} set, but not what it announces."
        add(f"announces-{flag.lower()}", rules, says, wrong_bytes(MESSAGE, user_bits(**{flag: 1})))
    for name, rule, says, bits, when in (
        (
            "administration-missing",
            "32",
            "AQ announces a queue that is not there.",
            {"AQ": PUBLIC},
            _without("AdminQueue"),
        ),
        ("administration-unannounced", "33", "AQ is 0 before an AdminQueue.", {"AQ": 0}, _with("AdminQueue")),
        ("response-unannounced", "36", "RQ is 0 before a ResponseQueue.", {"RQ": 0}, _with("ResponseQueue")),
    ):
        add(name, f"{USER}{rule}", says, wrong_bytes(MESSAGE, user_bits(**bits), when))
    add(
        "transactional-unannounced",
        (f"{USER}19", "MQMQ-2.2.20-03"),
        "TH is clear in a message with a TransactionHeader.",
        wrong_bytes(MESSAGE, user_bits(TH=0), lambda packet: packet.UserHeader.TH),
    )
    add(
        "without-properties-flag",
        (f"{USER}21", "MQMQ-2.2.20-01", "MQMQ-2.2.20-05"),
        "MP is clear.",
        wrong_bytes(MESSAGE, user_bits(MP=0)),
    )
    add(
        "internal",
        "MQMQ-2.2.20-02",
        "IN is set in a message.",
        wrong_bytes(MESSAGE, byte(BASE_FLAGS_AT, lambda b: b | IN)),
    )
    add(
        "without-session-header",
        "MQMQ-2.2.20-09",
        "SH is set in a message without SessionHeader.",
        packets(MESSAGE, lambda packet: packet.build()[:-16], lambda packet: packet.SessionHeader is not None),
    )


def _with(queue: str) -> Callable[[Any], bool]:
    return lambda packet: getattr(packet.UserHeader, queue) is not None


def _without(queue: str) -> Callable[[Any], bool]:
    return lambda packet: getattr(packet.UserHeader, queue) is None


def _sent() -> None:
    def header(when: Callable[[Any], bool] | None = None, **changes: Any) -> Install:
        return wrong_fields(MESSAGE, {f"UserHeader.{name}": change for name, change in changes.items()}, when)

    for name, rules, says, install in (
        (
            "source-changed",
            (f"{USER}01", "MQMQ-2.2.18.1.3-01"),
            "SourceQueueManager is another queue manager.",
            header(SourceQueueManager=OTHER),
        ),
        (
            "identifiers-equal",
            (f"{USER}07", "MQMQ-2.2.18.1.3-02"),
            "Every message has MessageID 7.",
            header(MessageID=7),
        ),
        (
            "address-of-direct-name",
            (f"{USER}02", f"{USER}04"),
            "QueueManagerAddress is not zero for a direct name.",
            header(_of_type(DIRECT), QueueManagerAddress=OTHER),
        ),
        (
            "address-of-private-name",
            (f"{USER}02", f"{USER}03", f"{USER}29"),
            "QueueManagerAddress is another queue manager than the private queue's.",
            header(_of_type(ON_DESTINATION), QueueManagerAddress=OTHER),
        ),
        ("sent-earlier", (f"{USER}06",), "SentTime is an hour ago.", header(SentTime=lambda old: old - EARLIER_S)),
        ("too-many-hops", (f"{USER}08",), "RC is 0x1E.", wrong_bytes(MESSAGE, user_bits(RC=0x1E))),
        ("delivery-mode", (f"{USER}09",), "DM is 2.", wrong_bytes(MESSAGE, user_bits(DM=2))),
        ("destination-type", (f"{USER}15",), "DQ is 1.", wrong_bytes(MESSAGE, user_bits(DQ=1))),
        ("administration-type", (f"{USER}16",), "AQ is 1.", wrong_bytes(MESSAGE, user_bits(AQ=1))),
        (
            "transactional-express",
            (f"{USER}20",),
            "DM is 0 in a transactional message.",
            wrong_bytes(MESSAGE, user_bits(DM=0), lambda packet: packet.UserHeader.TH),
        ),
        ("over-http", (f"{USER}25",), "AH is set.", wrong_bytes(MESSAGE, user_bits(AH=1))),
        (
            "acknowledgments-nowhere",
            (f"{USER}31",),
            "Acknowledgments are asked for without an administration queue.",
            packets(MESSAGE, _without_administration, _with("AdminQueue")),
        ),
    ):
        add(name, rules, says, install)


def _of_type(kind: int) -> Callable[[Any], bool]:
    return lambda packet: kind == packet.UserHeader.DQ


def _without_administration(packet: UserMessagePacket) -> bytes:
    user = packet.UserHeader
    nowhere = replace(user, AdminQueue=None, Flags=user.Flags & ~UserHeader.flags(AQ=7))
    return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), UserHeader=nowhere).build()


def _ends_traced(packet: UserMessagePacket) -> bool:
    """Is DebugHeader the last header?"""
    return packet.DebugHeader is not None and packet.SessionHeader is None


def _traced() -> None:
    add(
        "debug-queue-type",
        "MQMQ-2.2.20.8-01",
        "A traced message has QT 2.",
        wrong_fields(MESSAGE, {"DebugHeader.QueueIdentifier": None, "DebugHeader.Flags": 2}, _ends_traced),
    )
    add(
        "debug-queue-missing",
        "MQMQ-2.2.20.8-17",
        "A traced message has QT 1 and no QueueIdentifier.",
        packets(MESSAGE, lambda packet: resized(packet.build()[:-GUID_SIZE]), _ends_traced),
    )


def _received() -> None:
    for number, bits in (("12", "X1"), ("24", "X2"), ("26", "X3"), ("28", "X4")):
        says = f"A message with {bits} of UserHeader.Flags set is refused."
        add(f"user-{bits.lower()}-refused", f"{USER}{number}", says, refuse(f"UserHeader.{bits}"))
    for bit in range(2, 16):
        says = f"A message with X{bit} of DebugHeader.Flags set is refused."
        add(f"debug-x{bit}-refused", f"MQMQ-2.2.20.8-{bit:02}", says, refuse(f"DebugHeader.X{bit}"))
    for bit in range(12, 16):
        says = f"A message with X{bit} of SecurityHeader.Flags set is refused."
        add(f"security-x{bit}-refused", f"MQMQ-2.2.20.6-{bit - 2}", says, refuse(f"SecurityHeader.X{bit}"))
    for name, rule, path in (
        ("connector-type", f"{USER}39", "UserHeader.ConnectorType"),
        ("debug-reserved", "MQMQ-2.2.20.8-16", "DebugHeader.Reserved"),
        ("soap-reserved", "MQMQ-2.2.20.7-02", "SoapHeader.Reserved"),
        ("soap-reserved1", "MQMQ-2.2.20.7-05", "SoapHeader.Reserved1"),
        ("list-reserved", "MQMQ-2.2.20.2-03", "MultiQueueFormatHeader.Destination.Reserved"),
        ("list-signature-reserved", "MQMQ-2.2.20.3-02", "MultiQueueFormatHeader.Signature.Reserved"),
    ):
        add(f"{name}-refused", rule, f"A message whose {path} is not zero is refused.", refuse(path))
    for name, number, flag in (("destination", "30", "DQ"), ("administration", "34", "AQ")):
        says = f"A message with a {flag} that is not listed is overlooked."
        add(
            f"{name}-type-overlooked",
            f"{USER}{number}",
            says,
            procedure(Identifying.refuse_malformed, _overlooking(f"{flag} 0x")),
        )
    add(
        "response-queue-host",
        f"{USER}37",
        "A response queue with RQ 4 is taken to be the source's.",
        procedure(Positions.insert_message, _response_of_source),
    )
    add("recoverable-forgotten", f"{USER}11", "A restart empties every queue.", _empty_on_restart)
    for name, number, queue in (
        ("journal", "14", "SystemJournalQueue"),
        ("dead-letter", "13", "SystemDeadletterQueue"),
    ):
        says = f"Nothing gets into the {queue}."
        add(f"{name}-not-kept", f"{USER}{number}", says, procedure(Positions.move_message, _not_into(queue)))


def _overlooking(detail: str) -> Callable[..., Any]:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def refuse_malformed(qm: Any, session: Any, error: FormatError, now: Any) -> None:
            if detail not in str(error):
                original(qm, session, error, now)

        return refuse_malformed

    return make


def _response_of_source(original: Callable[..., Any]) -> Callable[..., Any]:
    def insert_message(qm: Any, queue: Any, message: Any, *rest: Any) -> Any:
        name = message.ResponseQueueFormatName
        if name is not None and name.upper().startswith("PRIVATE="):
            name = rf"PRIVATE={message.Identifier.QueueManagerGuid}\{name.rpartition(chr(92))[2]}"
        return original(qm, queue, replace(message, ResponseQueueFormatName=name), *rest)

    return insert_message


def _empty_on_restart(faulty: FaultyCore) -> None:
    def empty(again: FaultyCore) -> None:
        for queue in again.core.adm.QueueCollection.values():
            for position in list(queue.MessagePositionList):
                queue.MessagePositionList.remove(position)

    faulty.on_restart.append(empty)


def _not_into(queue: str) -> Callable[..., Any]:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def move_message(qm: QueueManager, position: Any, target: Any, *rest: Any) -> None:
            if target is not getattr(qm.adm, queue):
                original(qm, position, target, *rest)

        return move_message

    return make


_announcements()
_sent()
_received()
_traced()
