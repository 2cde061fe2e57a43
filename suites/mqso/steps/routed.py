"""Messages from an application on one system of a topology to a second system, which receives them
through the router.
"""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.topology.topology import Topology
from harness.topology.topology_file import RECEIVER_ROLE, ROLES
from suites.mqqb.steps.provoking import read_application_tag

DELIVERY_MODES = ("express", "recoverable", "transactional")


class RoutedMessages:
    """The messages of one delivery kind that the sender sends to a queue of the receiver."""

    def __init__(self, topology: Topology, delivery: str) -> None:
        self.topology = topology
        self.delivery = delivery
        self.queue = topology.receiver.new_queue("routed", transactional=delivery == "transactional")
        self.to = topology.receiver.private_format_name(self.queue)
        """A format name with the identifier of the receiver, so that the SUT must find the route to the receiver."""

    @property
    def compute_longest_acknowledgment_time_ms(self) -> int:
        """Return the longest time, in ms, within which a system of the topology acknowledges a message."""
        return max(
            one.sut.duration_ms(ACK_TIMEOUT_MS) + one.sut.slack_ms(ACK_TIMEOUT_MS) + one.sut.response_timeout_ms
            for one in self.topology.systems.values()
        )

    def send(self, *tags: int) -> None:
        """Let the sender send one message with each application tag."""
        for tag in tags:
            self.topology.sender.send(self.to, body=f"message {tag}", application_tag=tag, delivery=self.delivery)

    def await_arrival(self, *tags: int) -> list[Frame]:
        """Wait until the messages with these application tags have been sent to the receiver; return all packets, on
        any hop, that contain them.
        """
        within_ms = self.topology.sender.connect_timeout_ms + self.topology.router.connect_timeout_ms
        self.topology.environment.run_until(
            lambda: set(tags) <= {read_application_tag(one) for one in self.list_packets_sent_to_receiver()}, within_ms
        )
        return [one for one in self.packets() if read_application_tag(one) in tags]

    def await_acknowledgment(self, by: str, to: str) -> None:
        """Wait until the system ``to`` acknowledges the messages that the system ``by`` sent; raise ConformanceFailure
        if it does not acknowledge them.
        """
        ack = self.topology.wait_for("SessionAck", by=to, to=by, within_ms=self.compute_longest_acknowledgment_time_ms)
        if not ack:
            raise ConformanceFailure(f"the {to} acknowledged no message of the {by}")

    def list_packets_sent_to_receiver(self) -> list[Frame]:
        """Return the message packets that were sent to the receiver."""
        return [
            frame
            for by in ROLES
            for frame in self.topology.traffic.list_packets_from_system("UserMessage", by=by, to=RECEIVER_ROLE)
        ]

    def packets(self) -> list[Frame]:
        """Return all message packets that any system sent to another system, in order."""
        pairs = [(by, to) for by in ROLES for to in ROLES if by != to]
        frames = [
            frame
            for by, to in pairs
            for frame in self.topology.traffic.list_packets_from_system("UserMessage", by=by, to=to)
        ]
        return sorted(frames, key=lambda frame: frame.number)

    def list_tags_by_hop(self, *tags: int) -> dict[str, set[int]]:
        """Return the application tags that were sent on each hop. A hop is a pair of a sending and a receiving system;
        repeated packets count once.
        """
        hops = {}
        for by in ROLES:
            for to in ROLES:
                passed = {
                    read_application_tag(frame)
                    for frame in self.topology.traffic.list_packets_from_system("UserMessage", by=by, to=to)
                }
                if passed & set(tags):
                    hops[f"{by} to {to}"] = passed & set(tags)
        return hops

    def receive_application_tags(self) -> list[int]:
        """Receive all messages of the queue as an application of the receiver; return the tags."""
        tags: list[int] = []
        timeout_ms = self.topology.receiver.response_timeout_ms
        while True:
            arguments = {"queue": self.queue, "timeout_ms": 0 if tags else timeout_ms}
            message = self.topology.receiver.control.call("receive", **arguments)["message"]
            if message is None:
                return tags
            tags.append(int(message["body"].rpartition(" ")[2]))
