"""Whatever happens between two queue managers: transactional messages arrive exactly once and in order."""

from collections import defaultdict

import core_bridge  # noqa: F401
from core_network import TRANSACTIONAL, Network, direct, guid, private
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.commands import PeekMessages, ReceiveMessage
from reference_qm.protocol.order_acks import is_final_ack, is_order_ack

HOSTS = st.sampled_from((1, 2))
TX_NUMBER = 2
NAMES = st.sampled_from((lambda number: direct(number, TRANSACTIONAL), lambda number: private(number, TX_NUMBER)))
DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS


def is_acknowledgment(packet):
    return isinstance(packet, UserMessagePacket) and (is_order_ack(packet) or is_final_ack(packet))


class Exactly(RuleBasedStateMachine):
    """Two hosts, messages numbered by their body, and everything that can befall them and their acknowledgments."""

    @initialize(window=st.integers(1, 5))
    def begin(self, window):
        self.network = Network()
        routes = {guid(number): f"10.0.0.{number}" for number in (1, 2)}
        self.hosts = dict(enumerate(self.network.pair(window_size=window, routes=routes), 1))
        self.sent = defaultdict(list)
        self.asked = defaultdict(list)
        self.received = defaultdict(list)

    @rule(
        number=HOSTS, count=st.integers(1, 8), name=NAMES, journal=st.sampled_from(((), ("positive",), ("negative",)))
    )
    def send(self, number, count, name, journal):
        to = name(3 - number)
        for _ in range(count):
            body = f"{number}-{len(self.sent[number, to])}-{to[:6]}"
            self.sent[number, to].append(body)
            if "positive" in journal:
                self.asked[number].append(body)
            self.hosts[number].send(to, body.encode(), transactional=True, journal=frozenset(journal))

    @rule(number=HOSTS, name=NAMES)
    def send_into_a_broken_connection(self, number, name):
        self._break(number, lambda data: None, lambda: self.send(number, 3, name, ()))

    @rule(number=HOSTS, name=NAMES, ms=st.integers(1, 30_000))
    def lose_every_answer(self, number, name, ms):
        self._break(3 - number, lambda data: None, lambda: (self.send(number, 2, name, ()), self.network.advance(ms)))

    @rule(number=HOSTS, name=NAMES, ms=st.sampled_from((600, 31_000, 400_000)))
    def lose_order_and_final_acks(self, number, name, ms):
        self._break(
            3 - number,
            lambda data: None if is_acknowledgment(parse_packet(data)) else data,
            lambda: (self.send(number, 2, name, ("positive",)), self.network.advance(ms)),
        )

    def _break(self, number, tamper, during):
        host = self.hosts[number]
        host.tamper = tamper
        during()
        self.network.cut(host)
        host.tamper = lambda data: data

    @rule(number=HOSTS, count=st.integers(1, 4))
    def receive(self, number, count):
        for _ in range(count):
            message = self.hosts[number].ask(ReceiveMessage(TRANSACTIONAL))["message"]
            if message is not None:
                self.received[number].append(message["body"])

    @rule(number=HOSTS)
    def cut(self, number):
        self.network.cut(self.hosts[number])

    @rule(ms=st.sampled_from((1, 400, 501, 5_000, 15_000, 31_000, 45_000, 300_000, 700_000)))
    def advance(self, ms):
        self.network.advance(ms)

    @rule(number=HOSTS, reachable=st.booleans())
    def come_and_go(self, number, reachable):
        self.hosts[number].reachable = reachable
        if not reachable:
            self.network.cut(self.hosts[number])

    @rule(number=HOSTS, disk=st.sampled_from(("works", "slow", "broken")), backwards=st.booleans())
    def disk(self, number, disk, backwards):
        self.network.settle_disk(order=lambda slow: slow[::-1] if backwards else slow)
        self.hosts[number].disk = disk

    @rule(number=HOSTS, backwards=st.booleans(), some=st.integers(0, 3))
    def crash(self, number, backwards, some):
        """Only some of what was on its way to the disk of the host is on it."""
        host = self.hosts[number]
        self.network.settle_disk(
            order=lambda slow: (
                [one for one in slow if one[0] is not host]
                + [one for one in (slow[::-1] if backwards else slow) if one[0] is host][:some]
            )
        )
        host.restart()

    def _bodies(self, number):
        positions = self.hosts[number].core.adm.QueueCollection[TRANSACTIONAL].MessagePositionList
        return self.received[number] + [position.MessageReference.Body.decode() for position in positions]

    @precondition(lambda self: hasattr(self, "network"))
    @invariant()
    def once_and_in_order(self):
        for number in self.hosts:
            bodies = self._bodies(number)
            assert len(bodies) == len(set(bodies)), "a message came twice"
            for (source, _), sent in self.sent.items():
                if source != number:
                    own = set(sent)
                    came = [body for body in bodies if body in own]
                    assert came == sent[: len(came)], "messages are out of order"

    @precondition(lambda self: hasattr(self, "network"))
    @invariant()
    def what_is_acknowledged_is_there(self):
        """A sender forgets a message only when its receiver has it."""
        for (source, to), sent in self.sent.items():
            queue = self.hosts[source].core.adm.OutgoingQueues[to.lower()]
            kept = {
                position.MessagePosition.MessageReference.Body.decode()
                for position in queue.session.OutgoingMessageTable
                if position.UserMessage.UserHeader.TH
            }
            assert set(sent) <= kept | set(self._bodies(3 - source))

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
        for number in self.hosts:
            self.receive(number, sum(map(len, self.sent.values())))
        self.network.advance(DAY_MS)
        quiet = [len(host.sent) for host in self.hosts.values()]
        self.network.advance(WEEK_MS)
        assert [len(host.sent) for host in self.hosts.values()] == quiet, "somebody still sends when all is done"
        for (source, _), sent in self.sent.items():
            received = set(sent)
            assert [body for body in self.received[3 - source] if body in received] == sent
        for number, host in self.hosts.items():
            journal = [message["body"] for message in host.ask(PeekMessages("system$;journal", 10_000))["messages"]]
            assert sorted(journal) == sorted(self.asked[number]), "a positive FinalAck journals each message once"
            for queue in host.core.adm.OutgoingQueues.values():
                assert not len(queue.session.OutgoingMessageTable)
                assert not queue.session.AwaitingFinalACKTable


TestExactly = Exactly.TestCase
TestExactly.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
