"""One core with its queues; tests raise its events and send it commands."""

from __future__ import annotations

from typing import Any

from core_network import PLAIN, Host, Network, direct

from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status

Answer = tuple[Status, str | None]


class Reads:
    """The results of events that read: status and body, by the name that the test gives to the read."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.answers: dict[str, Answer] = {}
        self.positions: dict[str, MessagePosition | None] = {}

    def answered(self, name: str) -> Any:
        def answered(status: Status, position: MessagePosition | None) -> None:
            assert name not in self.answers, "a read is answered once"
            self.positions[name] = position
            self.answers[name] = (status, None if position is None else position.MessageReference.Body.decode())

        return answered

    def call(self, name: str, event: str, *arguments: Any, **named: Any) -> Answer | None:
        """Raise an event of the queue manager; return its answer if it came at once."""
        core = self.host.core
        part = core.two_phase_reading if event == "dequeue_message_begin" else core.message_reading
        raise_event = getattr(part, event)
        if event == "read_by_lookup_identifier":
            descriptor, lookup_id, action = arguments
            raise_event(descriptor, lookup_id, action, self.answered(name), **named)
        elif event == "peek_next_message":
            descriptor, cursor = arguments
            raise_event(descriptor, self.answered(name), self.host.network.now, cursor, **named)
        else:
            (descriptor,) = arguments
            raise_event(descriptor, self.answered(name), self.host.network.now, **named)
        self.flush()
        return self.answers.get(name)

    def flush(self) -> None:
        """Let the host carry out the pending effects of the core."""
        self.host.network.carry_out(self.host, self.host.core.handle_timer(self.host.network.now))
        self.host.network.settle()


def one_host(**config: Any) -> Host:
    return Network().host(1, **config)


def queue_of(host: Host, name: str = PLAIN) -> Queue:
    return host.core.adm.QueueCollection[name.lower()]


def open_(
    host: Host,
    name: str = PLAIN,
    access: QueueAccessType = QueueAccessType.RECEIVE,
    share: QueueShareMode = QueueShareMode.DENY_NONE,
) -> OpenQueueDescriptor:
    status, descriptor = host.core.queue_opening.open_queue(direct(1, name), access, share, host.network.now)
    assert status is Status.MQ_OK
    assert descriptor is not None
    return descriptor


def put(host: Host, *bodies: str, **fields: Any) -> list[int]:
    """Send messages to the plain queue; return the LookupIdentifiers of the messages that no waiting read has taken."""
    for body in bodies:
        host.send(direct(1), body.encode(), **fields)
    by_body = {one.MessageReference.Body.decode(): one.LookupIdentifier for one in queue_of(host).MessagePositionList}
    return [by_body[body] for body in bodies if body in by_body]
