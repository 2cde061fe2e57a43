"""Helpers that begin, end and use transactions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from core_network import TRANSACTIONAL, Host

from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.model.transactions import Transaction
from reference_qm.surface.commands import (
    AbortTransaction,
    BeginTransaction,
    CommitTransaction,
    ListQueues,
    PrepareTransaction,
    ReceiveMessage,
)


def begin(host: Host, **fields: Any) -> UUID:
    return UUID(host.ask(BeginTransaction(**fields))["transaction"])


def commit(host: Host, unit: UUID) -> None:
    assert host.ask(CommitTransaction(unit)) == {"outcome": "committed"}


def abort(host: Host, unit: UUID) -> None:
    assert host.ask(AbortTransaction(unit)) == {"outcome": "aborted"}


def prepare(host: Host, unit: UUID) -> None:
    assert host.ask(PrepareTransaction(unit)) == {"outcome": "prepared"}


def receive(host: Host, unit: UUID | None = None, queue: str = TRANSACTIONAL) -> str | None:
    """Receive a message, in a transaction if one is given; return its body."""
    message = host.ask(ReceiveMessage(queue, transaction=unit))["message"]
    return None if message is None else str(message["body"])


def fill(host: Host, to: str, *bodies: str) -> None:
    """Send messages, each in its own transaction."""
    for body in bodies:
        host.send(to, body.encode(), transactional=True)


def units(host: Host) -> list[dict[str, Any]]:
    return list(host.ask(ListQueues())["transactions"])


def unit_of(host: Host, identifier: UUID) -> Transaction:
    return host.core.adm.TransactionCollection[identifier]


def sent_messages(host: Host) -> list[UserMessagePacket]:
    """Return the transactional messages that a host has sent, in order."""
    packets = (parse_packet(data) for _, data in host.sent)
    return [one for one in packets if isinstance(one, UserMessagePacket) and one.TransactionHeader is not None]


def saves(host: Host, works: bool = True) -> None:
    """Let a slow disk carry out its pending writes, or let these writes fail."""
    host.disk = "works" if works else "broken"
    host.network.write(host)  # type: ignore[attr-defined]
    host.network.settle()
