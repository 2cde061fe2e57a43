"""``serve --store`` is killed at random instants: no acknowledged recoverable message is lost, and none is delivered
twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import selectors
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_S, end_of, until
from qm_process import Served, free_port, refused, serve

KILLS = int(os.environ.get("MQ_KILLS", "6"))
SEED = os.environ.get("MQ_SEED", "durable")
QUEUE = "private$\\q"
SENDER, RECEIVER = "127.0.0.1", "127.0.0.2"
TO = f"DIRECT=TCP:{RECEIVER}\\{QUEUE}"
LONGEST_S = 0.3
"""The longest time in seconds between start and kill."""
WINDOW = 32
"""The maximum number of send requests that wait for an answer."""


class Client:
    """A client of the control protocol that never waits for an answer: it keeps several requests outstanding, and
    collects the answers that have arrived.
    """

    def __init__(self, served: Served) -> None:
        self.sock = socket.create_connection(served.endpoint("control"), PATIENCE_S)
        self.outstanding: dict[int, str] = {}
        self.number = 0
        self.unread = b""

    def ask(self, subject: str, **arguments: Any) -> None:
        self.number += 1
        self.outstanding[self.number] = subject
        with contextlib.suppress(ConnectionError):
            self.sock.sendall(json.dumps({"id": self.number, **arguments}).encode() + b"\n")

    def take(self) -> list[tuple[str, dict[str, Any]]] | None:
        """Return the answers that have arrived, each with the subject of its request; return None when the process has
        ended.
        """
        try:
            data = self.sock.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            return None
        *lines, self.unread = (self.unread + data).split(b"\n")
        replies = [json.loads(line) for line in lines]
        return [(self.outstanding.pop(reply["id"]), reply) for reply in replies]


class Story:
    """The record of all confirmed and all delivered messages, over all lives of both processes."""

    def __init__(self, folder: Path, delivery: str = "recoverable") -> None:
        self.delivery = delivery
        self.port = free_port(SENDER, RECEIVER)
        self.folders = {address: folder / address for address in (SENDER, RECEIVER)}
        for one in self.folders.values():
            one.mkdir()
        self.lives = {address: contextlib.ExitStack() for address in self.folders}
        self.clients: dict[str, Client] = {}
        self.served: dict[str, Served] = {}
        self.made = 0
        self.confirmed: set[str] = set()
        self.delivered: list[str] = []
        """The delivered messages in the order in which they were received."""
        self.doubts: list[int] = []
        """For each receive that was open when its process was killed, the number of messages delivered before it."""

    def start(self, address: str) -> None:
        toml = f"""
            queues = [{{ name = '{QUEUE}', transactional = {str(self.delivery == "transactional").lower()} }}]
            [listen]
            address = "{address}"
            tcp_port = {self.port}
            ping = false
            [remote]
            tcp_port = {self.port}
            [timers]
            scale = 20
            [control]
            address = "127.0.0.1:0"
            [store]
            path = "{self.folders[address] / "store"}"
        """
        stack = self.lives[address] = contextlib.ExitStack()
        self.served[address] = stack.enter_context(serve(self.folders[address], toml=toml))
        self.clients[address] = Client(self.served[address])
        stack.callback(self.clients[address].sock.close)

    def load(self, seconds: float, sending: bool, receiving: bool) -> None:
        """Send and receive messages for the given number of seconds."""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for client in self.clients.values():
                selector.register(client.sock, selectors.EVENT_READ, client)
            while (left := end - time.monotonic()) > 0:
                while sending and len(self.clients[SENDER].outstanding) < WINDOW:
                    self.made += 1
                    self.clients[SENDER].ask(
                        f"m{self.made}", verb="send", to=TO, body=f"m{self.made}", delivery=self.delivery
                    )
                if receiving and not self.clients[RECEIVER].outstanding:
                    self.clients[RECEIVER].ask("receive", verb="receive", queue=QUEUE, timeout_ms=1_000)
                for key, _ in selector.select(left):
                    assert self.take_answers(key.data), (self.folders, "a process ended by itself")

    def take_answers(self, client: Client) -> bool:
        answers = client.take()
        for subject, reply in answers or ():
            assert reply["ok"], reply
            if subject != "receive":
                self.confirmed.add(subject)
            elif reply["message"] is not None:
                self.delivered.append(reply["message"]["body"])
        return answers is not None

    def kill(self, address: str) -> None:
        """Kill a process with SIGKILL; answers that it wrote before its end still count."""
        process, client = self.served[address].process, self.clients[address]
        process.kill()
        end_of(process)
        while self.take_answers(client):
            pass
        if address == RECEIVER:
            self.doubts += [len(self.delivered)] * len(client.outstanding)
        self.lives[address].close()

    def finish(self) -> None:
        """Wait until the sender has no messages left, then read all messages in the receiver's queue."""
        with self.served[SENDER].control() as sender, self.served[RECEIVER].control() as receiver:
            until(
                lambda: not any(queue["count"] for queue in sender.call("list")["outgoing"]),
                "the sender gets rid of its messages",
                lambda: self.load(0.2, sending=False, receiving=False),
            )
            self.end_receiving()
            left = receiver.call("peek", queue=QUEUE, limit=1_000_000)["messages"]
            self.delivered += [message["body"] for message in left]

    def lost(self) -> set[str]:
        """Return the confirmed messages that were not delivered, except a message that an open receive took when its
        process was killed.

        Such a message can only be next in order: it follows the messages delivered before the kill and precedes those
        delivered after it.
        """
        numbers = [int(body[1:]) for body in self.delivered]
        lost = sorted(int(body[1:]) for body in self.confirmed - set(self.delivered))
        for before in self.doubts:
            lowest = numbers[before - 1] if before else 0
            highest = numbers[before] if before < len(numbers) else self.made + 1
            taken = next((number for number in lost if lowest < number < highest), None)
            if taken is not None:
                lost.remove(taken)
        return {f"m{number}" for number in lost}

    def end_receiving(self) -> None:
        """Wait for the answer to the last receive, which is a message, or null if the queue is empty."""
        while self.clients[RECEIVER].outstanding:
            self.load(0.05, sending=False, receiving=False)


@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_kill_9_at_any_instant_neither_loses_nor_repeats_messages(
    tmp_path: Path, request: pytest.FixtureRequest, delivery: str
):
    chance = random.Random(SEED + delivery)
    story = Story(tmp_path, delivery)
    try:
        story.start(SENDER)
        story.start(RECEIVER)
        for _ in range(KILLS):
            story.load(chance.uniform(0, LONGEST_S), sending=True, receiving=chance.random() < 0.5)
            killed = chance.choice([[SENDER], [RECEIVER], [SENDER, RECEIVER]])
            for address in killed:
                story.kill(address)
            for address in killed:
                story.start(address)
        story.load(LONGEST_S, sending=True, receiving=True)
        story.finish()
    finally:
        for life in story.lives.values():
            life.close()
    twice = len(story.delivered) - len(set(story.delivered))
    figures = f"{story.made} sent, {len(story.confirmed)} confirmed, {len(story.delivered)} delivered"
    assert not twice, f"{twice} messages came twice; {figures}"
    assert story.delivered == sorted(story.delivered, key=lambda body: int(body[1:])), f"out of order; {figures}"
    assert not story.lost(), f"{len(story.lost())} are lost; {figures}"
    assert len(story.confirmed) > KILLS, figures
    taken = len(story.confirmed - set(story.delivered))
    doubt = f"{taken} taken by {len(story.doubts)} receives in doubt"
    request.node.user_properties.append(("figures", f"{KILLS} kills: {figures}; {doubt}"))


def test_messages_after_kill_are_the_confirmed_messages(tmp_path: Path):
    store = ("--tcp-port", "0", "--ping-port", "0", "--control", "127.0.0.1:0", "--store", str(tmp_path / "store"))
    local = "DIRECT=TCP:127.0.0.1\\private$\\new"
    with serve(tmp_path, *store) as served, served.control() as control:
        identity = control.call("identity")["guid"]
        names = control.call("create_queue", name="private$\\new")["format_names"]
        control.call("create_queue", name="private$\\old")
        control.call("delete_queue", name="private$\\old")
        control.call("send", to=local, body="express")
        first = control.call("send", to=local, body="first", label="kept", delivery="recoverable", priority=5)
        control.call("send", to=local, body="received", delivery="recoverable", priority=7)
        control.call("send", to=TO, body="outgoing", delivery="recoverable")
        control.call("send", to=TO, body="outgoing, express")
        assert control.call("receive", queue="private$\\new")["message"]["body"] == "received"
        served.process.kill()
        served.ends()
    with serve(tmp_path, *store) as served, served.control() as control:
        assert control.call("identity")["guid"] == identity
        listed = control.call("list")
        assert [(queue["name"], queue["count"]) for queue in listed["queues"]] == [("private$\\new", 1)]
        assert [(queue["format_name"], queue["count"]) for queue in listed["outgoing"]] == [(TO, 1)]
        (message,) = control.call("peek", queue="private$\\new")["messages"]
        assert (message["body"], message["label"], message["priority"]) == ("first", "kept", 5)
        assert message["message_id"] == first["message_id"]
        assert control.call("send", to=names["private"], body="by number", delivery="recoverable")
        assert control.call("create_queue", name="private$\\next")["format_names"]["private"] != names["private"]
        later = control.call("send", to=local, body="later")["message_id"]
        assert int(later.rpartition("\\")[2]) > int(first["message_id"].rpartition("\\")[2])


def test_restart_by_control_keeps_messages_in_memory_and_on_disk(tmp_path: Path):
    store = ("--tcp-port", "0", "--ping-port", "0", "--control", "127.0.0.1:0", "--store", str(tmp_path / "store"))
    local = f"DIRECT=TCP:127.0.0.1\\{QUEUE}"
    with serve(tmp_path, *store) as served, served.control() as control:
        control.call("create_queue", name=QUEUE)
        control.call("send", to=local, body="kept", delivery="recoverable")
        for number in range(20):
            control.ask("send", to=local, body=str(number), delivery="recoverable")
        restart = control.ask("restart")
        replies = {reply["id"]: reply["ok"] for reply in (control.read_reply() for _ in range(21))}
        assert replies[restart]
        there = [message["body"] for message in control.call("peek", queue=QUEUE)["messages"]]
        control.call("send", to=local, body="after", delivery="recoverable")
        served.process.kill()
        served.ends()
    with serve(tmp_path, *store) as served, served.control() as control:
        assert [message["body"] for message in control.call("peek", queue=QUEUE)["messages"]] == [*there, "after"]


def test_full_disk_returns_error_to_sender_and_loses_no_message(tmp_path: Path):
    story = Story(tmp_path)
    big, count = "x" * 20_000, 30
    with contextlib.ExitStack() as stack:
        for address in (SENDER, RECEIVER):
            story.start(address)
            stack.push(story.lives[address])
        sender, receiver = (stack.enter_context(story.served[address].control()) for address in (SENDER, RECEIVER))
        pid = story.served[RECEIVER].process.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        for number in range(count):
            sender.call("send", to=TO, body=f"{number} {big}", delivery="recoverable")
        said = story.folders[RECEIVER] / "stderr"
        until(lambda: b"disk" in said.read_bytes(), "the disk is full", lambda: receiver.call("identity"))
        # As many bytes as the file may have: what arrived in one piece may be refused where one message has room.
        receiver.ask("send", to=TO, body="x" * 300_000, delivery="recoverable")
        refusal = receiver.read_reply()
        assert refusal["ok"] is False
        assert refusal["error"].startswith(
            f"the message could not be saved: store {story.folders[RECEIVER] / 'store'}: "
        )
        (outgoing,) = sender.call("list")["outgoing"]
        # `list` counts too what arrived and still waits for the disk; that cannot be peeked at.
        on_disk = len(receiver.call("peek", queue=QUEUE)["messages"])
        assert outgoing["count"] >= count - on_disk > 0, "what is not on the receiver's disk is with the sender"
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        arrived = [
            receiver.call("receive", queue=QUEUE, timeout_ms=PATIENCE_S * 1000)["message"]["body"].split()[0]
            for _ in range(count)
        ]
        # Only transactional messages keep their order when some have to be sent again (MS-MQQB 3.1.5.8.6).
        assert sorted(arrived, key=int) == [str(number) for number in range(count)]
        assert receiver.call("receive", queue=QUEUE)["message"] is None


@pytest.mark.parametrize("said", ["in use", "foreign"])
def test_unusable_store_gives_one_line_error_and_exit_2(tmp_path: Path, said: str):
    path = tmp_path / "store"
    flags = ("--tcp-port", "0", "--ping-port", "0", "--control", "127.0.0.1:0", "--store", str(path))
    with serve(tmp_path, *flags) as served, served.control() as control:
        control.call("create_queue", name=QUEUE)
        if said == "in use":
            assert refused(*flags) == (
                f"mqconform serve: store {path}: database is locked; another "
                "process uses the file: stop that process, or choose "
                "another file"
            )
            return
        served.process.kill()
        served.ends()
    other = tmp_path / "other.toml"
    other.write_text("[queue_manager]\nidentifier = '6d71636f-6e66-4f72-8d00-000000000042'")
    line = refused(*flags, "--config", str(other))
    assert "the entries are messages of queue manager" in line
    assert "not of 6d71636f-6e66-4f72-8d00-000000000042" in line
