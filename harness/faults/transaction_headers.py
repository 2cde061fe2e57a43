"""Faults of the TransactionHeader. Spec: MS-MQMQ 2.2.19.1, 2.2.20.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.messages import MESSAGE, add
from harness.faults.primitives import packets, procedure, refuse, wrong_fields
from harness.faults.registry import Install
from reference_qm.codec import TransactionHeader, UserMessagePacket
from reference_qm.core.protocol.in_sequence import InSequence

RULE = "MQMQ-2.2.20.5-"


def _is_transactional(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None


def _header(**changes: Any) -> Install:
    return wrong_fields(
        MESSAGE, {f"TransactionHeader.{name}": change for name, change in changes.items()}, _is_transactional
    )


def _cleared(**bits: int) -> Install:
    return _header(Flags=lambda old: old & ~TransactionHeader.flags(**bits))


def _guid_announced(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    at = len(packet.BaseHeader.build()) + len(packet.UserHeader.build())
    return data[:at] + bytes([data[at] | 1]) + data[at + 1 :]


def _dropped(bit: str) -> Install:
    """Acknowledge a message with a bit set, and do not put it into its queue: neither ignored nor an error."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def take(qm: Any, session: Any, packet: UserMessagePacket, receipt: Any, *rest: Any) -> None:
            if getattr(packet.TransactionHeader, bit):
                receipt.done = True
            else:
                original(qm, session, packet, receipt, *rest)

        return take

    return procedure(InSequence.take_transactional, make)


for _number in range(1, 9):
    _says = f"A transactional message with X{_number} set is acknowledged and dropped."
    add(f"transaction-x{_number}-dropped", f"{RULE}{_number + 7:02}", _says, _dropped(f"X{_number}"))

for _name, _rules, _says, _install in (
    (
        "priority",
        ("MQMQ-2.2.19.1-04",),
        "A transactional message has priority 3.",
        wrong_fields(MESSAGE, {"BaseHeader.Flags": lambda old: old | 3}, _is_transactional),
    ),
    ("unused-bit", (f"{RULE}02",), "X1 is set.", _header(Flags=lambda old: old | TransactionHeader.flags(X1=1))),
    (
        "connector-missing",
        (f"{RULE}03", f"{RULE}20"),
        "CG is set without ConnectorQMGuid.",
        packets(MESSAGE, _guid_announced, _is_transactional),
    ),
    ("not-first", (f"{RULE}04",), "FM is clear.", _cleared(FM=1)),
    ("not-last", (f"{RULE}05",), "LM is clear.", _cleared(LM=1)),
    ("one-identifier", (f"{RULE}07",), "Every transaction has ID 0.", _cleared(ID=0xFFFFF)),
    (
        "numbers-skipped",
        (f"{RULE}16",),
        "Every other number is left out.",
        _header(TxSequenceNumber=lambda n: 2 * n - 1),
    ),
    ("first-number", (f"{RULE}17",), "Numbers begin with 0.", _header(TxSequenceNumber=lambda n: n - 1)),
    (
        "previous-number",
        (f"{RULE}18",),
        "The number before is one less.",
        _header(PreviousTxSequenceNumber=lambda n: max(0, n - 1)),
    ),
    (
        "previous-of-first",
        (f"{RULE}19",),
        "The first message names one before it.",
        _header(PreviousTxSequenceNumber=lambda n: n + 1),
    ),
    ("connector-refused", (f"{RULE}21",), "ConnectorQMGuid is refused.", refuse("TransactionHeader.ConnectorQMGuid")),
):
    add(f"transaction-{_name}", _rules, _says, _install)
