"""Faults of OrderAcks and FinalAcks, as they are sent and as they are told. Spec: MS-MQQB 2.2.4, 2.2.5, 3.1.5.1.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.faults import registry
from harness.faults.messages import BASE_FLAGS_AT, IN, MESSAGE, user_bits
from harness.faults.primitives import byte, packets, procedure, wrong_bytes, wrong_fields
from harness.faults.registry import Install
from reference_qm.codec import (
    MessageClass,
    UserMessagePacket,
)
from reference_qm.core.protocol.order_acks import (
    OrderAcks,
    is_final_ack,
    is_order_ack,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session

ORDER, FINAL = "MQQB-2.2.4", "MQQB-2.2.5"
ELSEWHERE = "127.0.0.77"
OTHER_CLASS = 0xC004
Is = Callable[[UserMessagePacket], bool]


def add(name: str, breaks: str | Iterable[str], says: str, install: Install) -> None:
    """Register a fault of order and final acknowledgments."""
    registry.add(f"ordering-{name}", breaks, says, install)


def _named(kind: int, meant: Is) -> Is:
    return lambda packet: kind == packet.UserHeader.DQ and meant(packet)


def _swapped(body: bytes) -> bytes:
    """Put the identifier of the sequence behind the numbers."""
    return body[8:16] + body[:8] + body[16:]


def _more(at: int) -> Callable[[bytes], bytes]:
    """Let a number of the body be one more."""

    def change(body: bytes) -> bytes:
        value = int.from_bytes(body[at : at + 4], "little") + 1 & 0xFFFFFFFF
        return body[:at] + value.to_bytes(4, "little") + body[at + 4 :]

    return change


def _both_kinds() -> None:
    """What 2.2.4 and 2.2.5 say alike."""
    name = "UserHeader.DestinationQueue.DirectFormatName"
    properties = "MessagePropertiesHeader"
    body = f"{properties}.MessageBody"
    for kind, meant, section, numbers in (
        ("order", is_order_ack, ORDER, ("01", "02", "03", "04", "05", "06", "07", "08", "09", "11", "12")),
        ("final", is_final_ack, FINAL, ("01", "02", "04", "05", "06", "07", "08", "09", "10", "23", "24")),
    ):
        changes: tuple[tuple[str, str, Install], ...] = (
            ("base-flags", "has priority 3", wrong_fields(MESSAGE, {"BaseHeader.Flags": 3}, meant)),
            ("without-properties", "has MP clear", wrong_bytes(MESSAGE, user_bits(MP=0), meant)),
            ("journaled", "has JN set", wrong_bytes(MESSAGE, user_bits(JN=1), meant)),
            (
                "private-queue",
                "is for private queue 5",
                wrong_fields(MESSAGE, {"UserHeader.DestinationQueue.PrivateQueueIdentifier": 5}, _named(3, meant)),
            ),
            (
                "by-name",
                "names the computer, not its address",
                wrong_fields(MESSAGE, {name: lambda old: old.replace("TCP:", "OS:")}, _named(7, meant)),
            ),
            (
                "elsewhere",
                "names another address",
                wrong_fields(
                    MESSAGE, {name: lambda old: rf"TCP:{ELSEWHERE}{old[old.index(chr(92)) :]}"}, _named(7, meant)
                ),
            ),
            ("label", "has another label", wrong_fields(MESSAGE, {f"{properties}.Label": "QM Order"}, meant)),
            ("body-size", "has 40 bytes of body", wrong_fields(MESSAGE, {body: lambda old: old + bytes(4)}, meant)),
            ("flags", "asks for an acknowledgment", wrong_fields(MESSAGE, {f"{properties}.Flags": 1}, meant)),
            (
                "body-type",
                "has BodyType VT_UI1",
                wrong_fields(MESSAGE, {f"{properties}.BodyType": 17}, meant),
            ),
            ("body", "has numbers before the sequence", wrong_fields(MESSAGE, {body: _swapped}, meant)),
        )
        for number, (label, what, install) in zip(numbers, changes, strict=True):
            add(f"{kind}-{label}", f"{section}-{number}", f"A {kind} acknowledgment {what}.", install)
        add(
            f"{kind}-internal",
            "MQMQ-2.2.19.1-06",
            f"IN is set in a {kind} acknowledgment.",
            wrong_bytes(MESSAGE, byte(BASE_FLAGS_AT, lambda old: old | IN), meant),
        )
        for label, rule, at in (("sequence", "01", 0), ("number", "02", 8), ("previous", "03", 12)):
            add(
                f"{kind}-other-{label}",
                f"{section}.1-{rule}",
                f"The {label} in a {kind} acknowledgment is one more.",
                wrong_fields(MESSAGE, {body: _more(at)}, meant),
            )


def _each_kind() -> None:
    add("order-class", f"{ORDER}-10", "An OrderAck has the class NORMAL.", _of_class(is_order_ack, 0))
    add(
        "order-dropped",
        "MQMQ-2.2.18.1.6-01",
        "No OrderAck is sent.",
        packets(MESSAGE, lambda packet: None, is_order_ack),
    )
    add("order-reserved-refused", f"{ORDER}.1-04", "Reserved has to be zero.", procedure(OrderAcks.receive, _strict))
    add("final-express", f"{FINAL}-03", "A FinalAck is express.", wrong_bytes(MESSAGE, user_bits(DM=0), is_final_ack))
    for number, name in (
        ("11", "ACK_RECEIVE"),
        ("13", "NACK_NOT_TRANSACTIONAL_Q"),
        ("14", "NACK_BAD_DST_Q"),
        ("15", "NACK_ACCESS_DENIED"),
        ("16", "NACK_BAD_ENCRYPTION"),
        ("17", "NACK_UNSUPPORTED_CRYPTO_PROVIDER"),
        ("18", "NACK_BAD_SIGNATURE"),
        ("19", "NACK_Q_EXCEED_QUOTA"),
        ("20", "NACK_Q_DELETED"),
        ("21", "NACK_Q_PURGED"),
        ("22", "NACK_RECEIVE_TIMEOUT"),
    ):
        value = MessageClass[f"MQMSG_CLASS_{name}"]
        says = f"A FinalAck of class {name} has another."
        add(
            f"final-{name.lower().replace('_', '-')}",
            f"{FINAL}-{number}",
            says,
            _of_class(_classed(value), OTHER_CLASS),
        )


def _of_class(meant: Is, value: int) -> Install:
    return wrong_fields(MESSAGE, {"MessagePropertiesHeader.MessageClass": value}, meant)


def _classed(value: int) -> Is:
    return lambda packet: is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass == value


def _strict(original: Callable[..., Any]) -> Callable[..., Any]:
    def receive(qm: QueueManager, session: Session, packet: UserMessagePacket, *rest: Any) -> None:
        if not any(packet.MessagePropertiesHeader.MessageBody[16:]):
            original(qm, session, packet, *rest)

    return receive


_both_kinds()
_each_kind()
