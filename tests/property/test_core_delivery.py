"""Under random events, two queue managers deliver each message at most once and in order within its priority, and lose
no recoverable message.
"""

from collections import defaultdict

import core_bridge  # noqa: F401
from budgets import FEW, budget
from core_network import PLAIN, Network, direct
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reference_qm.surface.commands import ReceiveMessage, SendMessage

HOSTS = st.sampled_from((1, 2))
DAY_MS = 86_400_000


class Delivery(RuleBasedStateMachine):
    """Two hosts, messages with numbered bodies, and all events that can disturb their delivery."""

    @initialize(window=st.integers(1, 5), ping=st.booleans())
    def begin(self, window, ping):
        self.network = Network()
        self.hosts = dict(enumerate(self.network.pair(window_size=window, send_ping=ping), 1))
        self.sent = defaultdict(list)
        self.waiting = defaultdict(dict)
        """The unanswered requests by token: the body of the message for a send, None for a receive."""
        self.unanswered = set()
        """The bodies whose send was unanswered when the process ended: these messages may be lost."""
        self.received = defaultdict(list)
        self.express_may_be_lost = False

    @rule(number=HOSTS, count=st.integers(1, 8), recoverable=st.booleans(), priority=st.sampled_from((1, 3)))
    def send(self, number, count, recoverable, priority):
        for _ in range(count):
            body = f"{number}-{len(self.sent[number])}"
            self.sent[number].append((body, recoverable, priority))
            to = direct(3 - number)
            self.ask(number, SendMessage(to, body.encode(), recoverable=recoverable, priority=priority), body)

    def ask(self, number, request, body=None):
        self.waiting[number][self.hosts[number].begin(request)] = body
        self.note_answers()

    def note_answers(self):
        for number, host in self.hosts.items():
            for token in [one for one in self.waiting[number] if one in host.answers]:
                body = self.waiting[number].pop(token)
                if body is None and (message := host.answers[token].result.values["message"]) is not None:
                    self.received[number].append(message["body"])

    @rule(number=HOSTS, recoverable=st.booleans())
    def send_into_a_broken_connection(self, number, recoverable):
        self._break(number, lambda: self.send(number, 3, recoverable, 3))

    @rule(number=HOSTS, ms=st.integers(1, 30_000))
    def lose_what_is_answered(self, number, ms):
        self._break(3 - number, lambda: (self.send(number, 2, True, 3), self.network.advance(ms)))

    def _break(self, number, during):
        host = self.hosts[number]
        host.tamper = lambda data: None
        during()
        self.network.cut(host)
        host.tamper = lambda data: data

    @rule(number=HOSTS)
    def receive(self, number):
        self.ask(number, ReceiveMessage(PLAIN))

    @rule(number=HOSTS)
    def cut(self, number):
        self.network.cut(self.hosts[number])

    @rule(ms=st.sampled_from((1, 400, 501, 5_000, 15_000, 45_000, 300_000, 700_000)))
    def advance(self, ms):
        self.network.advance(ms)

    @rule(number=HOSTS, reachable=st.booleans())
    def come_and_go(self, number, reachable):
        self.hosts[number].reachable = reachable
        if not reachable:
            self.network.cut(self.hosts[number])

    @rule(number=HOSTS, slow=st.booleans())
    def disk(self, number, slow):
        self.network.settle_disk()
        self.hosts[number].disk = "slow" if slow else "works"
        self.network.settle_disk()

    @rule(number=HOSTS)
    def crash(self, number):
        self.hosts[number].restart()
        self.unanswered.update(self.waiting.pop(number, {}).values())
        self.express_may_be_lost = True

    @precondition(lambda self: hasattr(self, "network"))
    @invariant()
    def at_most_once_and_in_order(self):
        self.note_answers()
        for number, host in self.hosts.items():
            waiting = [
                position.MessageReference.Body.decode()
                for position in host.core.adm.QueueCollection[PLAIN].MessagePositionList
            ]
            bodies = self.received[number] + waiting
            assert len(bodies) == len(set(bodies)), "a message came twice"
            for priority in (1, 3):
                sent = [body for body, _, sent_with in self.sent[3 - number] if sent_with == priority]
                place = {body: index for index, body in enumerate(sent)}
                places = [place[body] for body in bodies if body in place]
                assert places == sorted(places), "messages are out of order"

    @precondition(lambda self: hasattr(self, "network"))
    @invariant()
    def windows_hold(self):
        for host in self.hosts.values():
            for session in host.core.sessions.values():
                sent = [one for one in session.OutgoingMessageTable.awaiting_ack if not one.ReceivedSessionAck]
                assert session.UnAckedMessageCount == len(sent) <= session.WindowSize

    def teardown(self):
        if not hasattr(self, "network"):
            return
        for host in self.hosts.values():
            host.reachable, host.disk = True, "works"
        self.network.settle_disk()
        self.network.advance(DAY_MS)
        self.note_answers()
        assert not any(self.waiting.values())
        for number, host in self.hosts.items():
            there = set(self.received[number]) | set(host.bodies())
            for body, recoverable, _ in self.sent[3 - number]:
                may_be_lost = body in self.unanswered or (self.express_may_be_lost and not recoverable)
                assert body in there or may_be_lost, f"{body} was lost"
            assert all(not len(queue.session.OutgoingMessageTable) for queue in host.core.adm.OutgoingQueues.values())


TestDelivery = Delivery.TestCase
TestDelivery.settings = budget(FEW, stateful_step_count=25)
