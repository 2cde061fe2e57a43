"""Two queue managers with disks that are slow or full, killed at any time: nothing confirmed is lost or comes twice."""

from __future__ import annotations

from collections import Counter

import core_bridge  # noqa: F401
from core_durable import DurableNetwork
from core_network import PLAIN, direct
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reference_qm.commands import ReceiveMessage, SendMessage
from reference_qm.effects import Completed

HOSTS = st.sampled_from((1, 2))
DAY_MS = 86_400_000


class Durability(RuleBasedStateMachine):
    """Recoverable and express messages, numbered by their body, and disks."""

    @initialize(window=st.integers(1, 5))
    def begin(self, window):
        self.network = DurableNetwork()
        self.hosts = dict(enumerate(self.network.pair(window_size=window), 1))
        self.sends, self.receives = {}, {}
        self.delivered = Counter()
        self.made = self.in_doubt = 0

    def answers(self):
        """Take note of what was answered meanwhile."""
        for number, token in list(self.receives):
            answer = self.hosts[number].answers.get(token)
            if answer is not None:
                del self.receives[number, token]
                message = answer.result.values["message"] if isinstance(answer, Completed) else None
                if message is not None:
                    self.delivered[message["body"]] += 1

    @rule(number=HOSTS, to=HOSTS, count=st.integers(1, 6), recoverable=st.booleans(), priority=st.sampled_from((1, 3)))
    def send(self, number, to, count, recoverable, priority):
        for _ in range(count):
            self.made += 1
            body = f"{number}-{self.made}"
            token = self.hosts[number].begin(
                SendMessage(to=direct(to), body=body.encode(), recoverable=recoverable, priority=priority)
            )
            self.sends[body] = (number, token, recoverable)
        self.answers()

    @rule(number=HOSTS, timeout_ms=st.sampled_from((0, 1_000)))
    def receive(self, number, timeout_ms):
        self.receives[number, self.hosts[number].begin(ReceiveMessage(PLAIN, timeout_ms))] = None
        self.answers()

    @rule(number=HOSTS)
    def cut(self, number):
        self.network.cut(self.hosts[number])

    @rule(ms=st.sampled_from((1, 400, 501, 5_000, 45_000, 700_000)))
    def advance(self, ms):
        self.network.advance(ms)
        self.answers()

    @rule(number=HOSTS, disk=st.sampled_from(("works", "slow", "broken")))
    def disk(self, number, disk):
        host = self.hosts[number]
        host.disk = disk
        if disk != "slow":
            self.network.write(host)
            self.network.settle()
        self.answers()

    @rule(number=HOSTS, written=st.integers(0, 10), cut_off=st.booleans())
    def kill(self, number, written, cut_off):
        self.answers()
        for key in [key for key in self.receives if key[0] == number]:
            del self.receives[key]  # whoever waited never learns: what it would have got is in doubt
            self.in_doubt += 1
        self.network.kill(self.hosts[number], written)
        self.answers()

    @rule(number=HOSTS)
    def restart(self, number):
        self.answers()
        for key in [key for key in self.receives if key[0] == number]:
            del self.receives[key]
            self.in_doubt += 1
        host = self.hosts[number]
        for effect in self.network.unwritten.pop(host.address, []):
            self.network.apply(host, effect)  # the shell writes on and tells nobody
        host.restart()
        self.answers()

    @precondition(lambda self: hasattr(self, "network"))
    @invariant()
    def nothing_was_received_twice(self):
        assert self.delivered.total() == len(self.delivered)

    def teardown(self):
        if not hasattr(self, "network"):
            return
        for host in self.hosts.values():
            host.disk = "works"
            self.network.write(host)
        self.network.settle()
        self.network.advance(DAY_MS)
        self.answers()
        for number, host in self.hosts.items():  # what a full disk refused is written with the next record
            host.send(direct(number), f"last of {number}".encode(), recoverable=True)
        before = {number: host.bodies() for number, host in self.hosts.items()}
        for number, host in self.hosts.items():
            on_disk = [
                value for name, value in self.network.entries[host.address].items() if name.startswith("message:")
            ]
            assert len(on_disk) == sum(position.key > 0 for position in _positions(host)), "memory and disk differ"
            self.network.kill(host)
            express = {body for body, (_, _, recoverable) in self.sends.items() if not recoverable}
            assert host.bodies() == [body for body in before[number] if body not in express]
        there = self.delivered + Counter(before[1]) + Counter(before[2])
        assert there.total() == len(there), "a message came twice"
        confirmed = {
            body
            for body, (number, token, recoverable) in self.sends.items()
            if recoverable and isinstance(self.hosts[number].answers.get(token), Completed)
        }
        lost = confirmed - there.keys()
        assert len(lost) <= self.in_doubt, f"{sorted(lost)} were confirmed and are lost"


def _positions(host):
    adm = host.core.adm
    for queue in (*adm.QueueCollection.values(), adm.SystemJournalQueue, adm.SystemDeadletterQueue):
        yield from queue.MessagePositionList
    for queue in adm.OutgoingQueues.values():
        yield from (one.MessagePosition for one in queue.session.OutgoingMessageTable)


TestDurability = Durability.TestCase
TestDurability.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)
