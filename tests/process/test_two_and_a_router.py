"""Two queue managers in different sites and a router between them, each a process with a store.

All kinds of messages arrive in both directions, even when connections are cut and each of the three is restarted or
killed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_S, until
from qm_process import Control, Served, free_port, serve
from relay import Relay

LEFT, ROUTER, RIGHT = "left", "router", "right"
ADDRESSES = {LEFT: "127.0.0.1", ROUTER: "127.0.0.2", RIGHT: "127.0.0.3"}
RELAY = "127.0.0.4"
"""The address at which the left queue manager reaches the router through the relay."""
IDENTIFIERS = {name: f"6d71636f-6e66-4f72-8d00-0000000000{number}" for number, name in enumerate(ADDRESSES, 10)}
PLAIN, TRANSACTIONAL, NOTHING = "private$\\plain", "private$\\tx", "private$\\nothing"
PUBLIC, PUBLISHED = "orders", "6d71636f-6e66-4f72-8d00-0000000000ff"
QUEUES = {"express": PLAIN, "recoverable": PLAIN, "transactional": TRANSACTIONAL}
SCALE = 20
BATCH = 5
"""The number of messages in one transaction."""


class Environment:
    """The three processes by name. One control connection carries all commands to a process between two restarts."""

    def __init__(self, folder: Path, *, sites: bool = True) -> None:
        self.port = free_port(*ADDRESSES.values(), RELAY)
        self.folder = folder
        self.sites = sites
        self.lives: dict[str, contextlib.ExitStack] = {}
        self.served: dict[str, Served] = {}
        self.control: dict[str, Control] = {}
        self.names: dict[str, dict[str, str]] = {}
        """The private format names of the queues of each queue manager."""
        self.relay = Relay((RELAY, self.port), (ADDRESSES[ROUTER], self.port))

    def start(self, *names: str) -> None:
        for name in names:
            folder = self.folder / name
            folder.mkdir(exist_ok=True)
            life = self.lives[name] = contextlib.ExitStack()
            self.served[name] = life.enter_context(serve(folder, toml=self.settings(name)))
            control = self.control[name] = life.enter_context(self.served[name].control())
            for queue in (PLAIN, TRANSACTIONAL) if name not in self.names else ():
                made = control.call("create_queue", name=queue, transactional=queue == TRANSACTIONAL)
                self.names.setdefault(name, {})[queue] = made["format_names"]["private"]

    def settings(self, name: str) -> str:
        router = RELAY if name == LEFT else ADDRESSES[ROUTER]
        hosts = ADDRESSES | {ROUTER: router}
        members = {LEFT: ["west"], ROUTER: ["west", "east"], RIGHT: ["east"] if self.sites else ["west"]}
        machines = "".join(
            f"""
            [[directory.queue_managers]]
            identifier = "{IDENTIFIERS[one]}"
            computer_name = "{one}"
            qualified_computer_name = "{hosts[one]}"
            sites = {sites}
            routing_server = {str(one == ROUTER).lower()}
            """
            for one, sites in members.items()
        )
        return f"""
            queues = [{{ name = '{NOTHING}' }}, {{ name = '{PUBLIC}' }}]
            [queue_manager]
            identifier = "{IDENTIFIERS[name]}"
            host_name = "{name}"
            [listen]
            address = "{ADDRESSES[name]}"
            tcp_port = {self.port}
            ping = false
            [remote]
            tcp_port = {self.port}
            [timers]
            scale = {SCALE}
            [control]
            address = "127.0.0.1:0"
            [store]
            path = "{self.folder / name / "store"}"
            [[directory.sites]]
            name = "west"
            [[directory.sites]]
            name = "east"
            [[directory.links]]
            sites = ["west", "east"]
            gates = ["router"]
            {machines}
            [[directory.queues]]
            pathname = "right\\\\{PUBLIC}"
            identifier = "{PUBLISHED}"
        """

    def kill(self, name: str) -> None:
        """Kill -9."""
        self.served[name].process.kill()
        self.served[name].ends()
        self.lives[name].close()

    def close(self) -> None:
        for life in self.lives.values():
            life.close()
        self.relay.close()

    def send(self, source: str, to: str, kind: str, bodies: list[str]) -> None:
        """Send messages of one delivery kind; several transactional messages share a transaction."""
        control, name = self.control[source], self.names[to][QUEUES[kind]]
        if kind != "transactional":
            for body in bodies:
                control.call("send", to=name, body=body, delivery=kind)
            return
        for first in range(0, len(bodies), BATCH):
            transaction = control.call("begin")["transaction"]
            for body in bodies[first : first + BATCH]:
                control.call("send", to=name, body=body, transaction=transaction)
            control.call("commit", transaction=transaction)

    def receive(self, at: str, kind: str, source: str, bodies: list[str]) -> None:
        """Check that the messages arrive from their source, each once and in order."""
        for body in bodies:
            message = self.control[at].call("receive", queue=QUEUES[kind], timeout_ms=PATIENCE_S * 1000)["message"]
            assert message is not None, f"{body} did not come"
            assert (message["body"], message["delivery"]) == (body, kind)
            assert message["source"] == IDENTIFIERS[source]

    def waiting(self, name: str) -> int:
        """Return the number of messages of a queue manager that are unsent or unacknowledged."""
        return sum(queue["count"] for queue in self.control[name].call("list")["outgoing"])

    def until(self, name: str, condition: Callable[[], bool], what: str) -> None:
        """Check a condition repeatedly until it is true, and fail when the wait is too long."""
        until(condition, what, lambda: self.control[name].call("receive", queue=NOTHING, timeout_ms=20))

    def settled(self) -> None:
        """Check that no queue manager has unsent messages, and that no message arrived twice."""
        for name in self.served:
            self.until(name, lambda name=name: self.waiting(name) == 0, f"{name} has sent its messages")
            for queue in (PLAIN, TRANSACTIONAL):
                assert self.control[name].call("peek", queue=queue)["messages"] == []


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Environment]:
    made = Environment(tmp_path)
    try:
        yield made
    finally:
        made.close()


def bodies(kind: str, count: int = 20) -> list[str]:
    return [f"{kind} {number}" for number in range(count)]


BOTH_WAYS = ((LEFT, RIGHT), (RIGHT, LEFT))
KEPT = ("recoverable", "transactional")
"""The delivery kinds whose messages no failure may lose."""


def test_messages_of_every_kind_pass_the_router_both_ways(environment: Environment):
    environment.start(LEFT, ROUTER, RIGHT)
    for source, to in BOTH_WAYS:
        for kind in QUEUES:
            environment.send(source, to, kind, bodies(kind))
            environment.receive(to, kind, source, bodies(kind))
    environment.control[LEFT].call("send", to=f"PUBLIC={PUBLISHED}", body="published", delivery="recoverable")
    message = environment.control[RIGHT].call("receive", queue=PUBLIC, timeout_ms=PATIENCE_S * 1000)["message"]
    assert message["body"] == "published"
    for source, to in BOTH_WAYS:
        hops = {hop["QMGuid"] for session in _sessions(environment, source) for hop in session["NextHopCollection"]}
        assert hops == {IDENTIFIERS[ROUTER]}, f"{source} went to {to} itself"
    environment.settled()


def test_messages_of_every_kind_are_exchanged_within_a_site(tmp_path: Path):
    environment = Environment(tmp_path, sites=False)
    with contextlib.closing(environment):
        environment.start(LEFT, RIGHT)
        for source, to in BOTH_WAYS:
            for kind in QUEUES:
                environment.send(source, to, kind, bodies(kind))
                environment.receive(to, kind, source, bodies(kind))
        environment.settled()


@pytest.mark.parametrize("kind", KEPT)
def test_routed_messages_arrive_once_when_connections_are_cut(environment: Environment, kind: str):
    environment.start(LEFT, ROUTER, RIGHT)
    sent = bodies(kind, 60)
    for first in range(0, len(sent), 10):
        for source, to in BOTH_WAYS:
            environment.send(source, to, kind, sent[first : first + 10])
        environment.relay.cut()
    for source, to in BOTH_WAYS:
        environment.receive(to, kind, source, sent)
    assert environment.relay.accepted > 1
    environment.settled()


@pytest.mark.parametrize("restarted", [LEFT, ROUTER, RIGHT])
def test_routed_messages_arrive_once_when_a_system_is_restarted(environment: Environment, restarted: str):
    environment.start(LEFT, ROUTER, RIGHT)
    for kind in KEPT:
        sent = bodies(kind, 30)
        for first in range(0, len(sent), 10):
            for source, to in BOTH_WAYS:
                environment.send(source, to, kind, sent[first : first + 10])
            environment.control[restarted].call("restart")
        for source, to in BOTH_WAYS:
            environment.receive(to, kind, source, sent)
    environment.settled()


def test_messages_accepted_by_killed_router_arrive(environment: Environment):
    environment.start(LEFT, ROUTER, RIGHT)
    environment.kill(RIGHT)
    for kind in KEPT:
        environment.send(LEFT, RIGHT, kind, bodies(kind))
    environment.until(ROUTER, lambda: environment.waiting(ROUTER) >= 2 * len(bodies("")), "the router takes them over")
    environment.until(LEFT, lambda: _unacknowledged(environment, LEFT) == 0, "the router acknowledges them")
    environment.kill(ROUTER)
    environment.start(ROUTER, RIGHT)
    for kind in KEPT:
        environment.receive(RIGHT, kind, LEFT, bodies(kind))
    environment.settled()


@pytest.mark.parametrize("killed", [[LEFT], [RIGHT], [LEFT, ROUTER, RIGHT]])
def test_routed_messages_arrive_once_when_sender_or_receiver_is_killed(environment: Environment, killed: list[str]):
    environment.start(LEFT, ROUTER, RIGHT)
    for kind in KEPT:
        for source, to in BOTH_WAYS:
            environment.send(source, to, kind, bodies(kind))
        for name in killed:
            environment.kill(name)
        environment.start(*killed)
        for source, to in BOTH_WAYS:
            environment.receive(to, kind, source, bodies(kind))
    environment.settled()


def _sessions(environment: Environment, name: str) -> list[dict[str, Any]]:
    sessions: list[dict[str, Any]] = environment.control[name].call("inspect")["adm"]["Sessions"]
    return [one for one in sessions if one["role"] == "initiator"]


def _unacknowledged(environment: Environment, name: str) -> int:
    """Return the number of messages without a session acknowledgment of the next hop. The tables also keep acknowledged
    transactional messages, until their OrderAck.
    """
    tables = (session["OutgoingMessageTable"] for session in _sessions(environment, name))
    return sum(not position["ReceivedSessionAck"] for table in tables for position in table)
