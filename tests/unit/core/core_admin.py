"""Two queue managers; the first has a queue for the acknowledgments of its messages."""

from __future__ import annotations

from typing import Any

from core_network import Host, Network, direct

from reference_qm.surface.commands import CreateQueue, PeekMessages

ADMIN = "private$\\admin"
ALL = frozenset({"positive_arrival", "positive_receive", "negative_arrival", "negative_receive"})


def pair(**config: Any) -> tuple[Host, Host]:
    """Return the sender, whose administration queue is ADMIN, and the receiver."""
    near, far = Network().pair(**config)
    near.ask(CreateQueue(ADMIN))
    return near, far


def send(near: Host, *acks: str, to: str = direct(2), **fields: Any) -> str:
    """Send a message that requests the given kinds of acknowledgments, or all kinds if none is given."""
    return near.send(to, acks=frozenset(acks) or ALL, admin_queue=direct(1, ADMIN), **fields)


def acks(near: Host, queue: str = ADMIN) -> list[dict[str, Any]]:
    """Return the messages in the administration queue."""
    return list(near.ask(PeekMessages(queue))["messages"])


def classes(near: Host, queue: str = ADMIN) -> list[str]:
    """Return the classes of the acknowledgments in the administration queue, without their common prefix."""
    return [one["class"].removeprefix("MQMSG_CLASS_") for one in acks(near, queue)]
