"""Two queue managers, their disks and the network between them keep every delivery guarantee under random events.

Express messages arrive at most once. Accepted recoverable messages arrive exactly once. Transactional messages arrive
exactly once and in order, and a transaction of several messages takes effect completely or not at all, whichever
process crashes at any time.
"""

from __future__ import annotations

from uuid import UUID

import core_bridge  # noqa: F401
from budgets import SOME, budget
from core_network import PLAIN, TRANSACTIONAL, direct, guid, private
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from two_queue_managers import EXPRESS, NEVER, RECOVERABLE, TRANSACTED, Environment, Sent, Unit

from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.core.transfer.order_acks import is_final_ack, is_order_ack
from reference_qm.surface.commands import (
    AbortTransaction,
    BeginTransaction,
    CommitTransaction,
    PrepareTransaction,
    ReceiveMessage,
    SendMessage,
)
from reference_qm.surface.effects import CommandCompleted

HOSTS = st.sampled_from((1, 2))
KINDS = st.sampled_from((EXPRESS, RECOVERABLE, TRANSACTED))
PRIVATE = st.booleans()
NUMBERS = {PLAIN: 1, TRANSACTIONAL: 2}
DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS


def is_acknowledgment(data):
    packet = parse_packet(data)
    return isinstance(packet, UserMessagePacket) and (is_order_ack(packet) or is_final_ack(packet))


class TwoQueueManagers(RuleBasedStateMachine):
    """The state machine of the test: all events that can disturb two hosts and their messages, which have different
    bodies.
    """

    @initialize(window=st.integers(1, 5))
    def begin(self, window):
        self.environment = Environment(window, {guid(number): f"10.0.0.{number}" for number in (1, 2)})
        self.network, self.hosts = self.environment.network, self.environment.hosts
        for number in self.hosts:  # there is something to be received from the beginning
            self.send(number, number, 3, TRANSACTED, False, False)

    # -- sending and receiving ----------------------------------------------------------------------------------

    def _message(self, number, target, kind, by_guid, journal):
        queue = TRANSACTIONAL if kind == TRANSACTED else PLAIN
        to = private(target, NUMBERS[queue]) if by_guid else direct(target, queue)
        body = f"{len(self.environment.sent)}-{kind[0]}-from-{number}-to-{to[:6]}-{target}"
        one = Sent(body, number, to, target, kind, self.environment.tick(), journaled=journal and number != target)
        self.environment.sent[body] = one
        return one

    def _request(self, sent, unit=None):
        return SendMessage(
            to=sent.to,
            body=sent.body.encode(),
            recoverable=sent.kind == RECOVERABLE,
            transactional=sent.kind == TRANSACTED,
            journal=frozenset({"positive"} if sent.journaled and sent.kind == TRANSACTED else ()),
            transaction=None if unit is None else unit.identifier,
        )

    @rule(number=HOSTS, towards=HOSTS, count=st.integers(1, 6), kind=KINDS, by_guid=PRIVATE, journal=st.booleans())
    def send(self, number, towards, count, kind, by_guid, journal):
        for _ in range(count):
            one = self._message(number, towards, kind, by_guid, journal)

            def confirmed(answer, one=one):
                one.refused = not isinstance(answer, CommandCompleted)
                one.answered = NEVER if one.refused else self.environment.tick()

            self.environment.ask(number, self._request(one), confirmed)

    @rule(number=HOSTS, queue=st.sampled_from((PLAIN, TRANSACTIONAL)), timeout_ms=st.sampled_from((0, 0, 1_000)))
    def receive(self, number, queue, timeout_ms):
        def received(answer):
            message = answer.result.values["message"] if isinstance(answer, CommandCompleted) else None
            if message is not None:
                self.environment.delivered[number, queue].append(message["body"])

        self.environment.ask(number, ReceiveMessage(queue, timeout_ms), received, self._receive_in_doubt, takes=True)

    def _receive_in_doubt(self):
        self.environment.in_doubt += 1

    # -- transactions -------------------------------------------------------------------------------------------

    @property
    def free(self):
        return [one for one in self.environment.units if not (one.outcome or one.busy)]

    @rule(number=HOSTS, external=st.booleans(), towards=st.lists(HOSTS, max_size=3), receives=st.integers(0, 2))
    def begin_transaction(self, number, external, towards, receives):
        answer = self.hosts[number].ask(BeginTransaction(external=external))
        unit = Unit(number, UUID(answer["transaction"]), external)
        self.environment.units.append(unit)
        for target in towards:
            self._send_in(unit, target, False, True)
        for _ in range(receives):
            self._receive_in(unit)

    def _send_in(self, unit, target, by_guid, journal):
        one = self._message(unit.number, target, TRANSACTED, by_guid, journal)
        self.hosts[unit.number].ask(self._request(one, unit))
        unit.sent.append(one)

    def _receive_in(self, unit):
        request = ReceiveMessage(TRANSACTIONAL, transaction=unit.identifier)
        message = self.hosts[unit.number].ask(request)["message"]
        if message is not None:
            unit.received.append(message["body"])

    @precondition(lambda self: any(not one.prepared for one in self.free))
    @rule(data=st.data(), towards=HOSTS, by_guid=PRIVATE, journal=st.booleans(), receive=st.booleans())
    def go_on_with_a_transaction(self, data, towards, by_guid, journal, receive):
        unit = data.draw(st.sampled_from([one for one in self.free if not one.prepared]))
        self._send_in(unit, towards, by_guid, journal)
        if receive:
            self._receive_in(unit)

    @precondition(lambda self: any(one.external and not one.prepared for one in self.free))
    @rule(data=st.data())
    def prepare(self, data):
        self._prepare(data.draw(st.sampled_from([one for one in self.free if one.external and not one.prepared])))

    def _prepare(self, unit):
        unit.busy = True

        def voted(answer):
            unit.busy = False
            unit.prepared = isinstance(answer, CommandCompleted)

        self.environment.ask(unit.number, PrepareTransaction(unit.identifier), voted)

    @precondition(lambda self: any(one.prepared or not one.external for one in self.free))
    @rule(data=st.data())
    def commit(self, data):
        self._commit(data.draw(st.sampled_from([one for one in self.free if one.prepared or not one.external])))

    def _commit(self, unit):
        unit.busy = True
        for one in unit.sent:
            one.asked = self.environment.tick()

        def committed(answer):
            unit.busy = False
            if isinstance(answer, CommandCompleted):
                self._committed(unit)

        def crashed():
            unit.uncertain = True

        self.environment.ask(unit.number, CommitTransaction(unit.identifier), committed, crashed)

    def _committed(self, unit):
        unit.outcome = "committed"
        for one in unit.sent:
            one.answered = self.environment.tick()
        self.environment.delivered[unit.number, TRANSACTIONAL] += unit.received

    @precondition(lambda self: self.free)
    @rule(data=st.data())
    def abort(self, data):
        self._abort(data.draw(st.sampled_from(self.free)))

    def _abort(self, unit):
        unit.busy = True

        def aborted(answer):
            unit.busy = False
            if isinstance(answer, CommandCompleted):
                self._aborted(unit)

        self.environment.ask(unit.number, AbortTransaction(unit.identifier), aborted)

    def _aborted(self, unit):
        unit.outcome = "aborted"
        for one in unit.sent:
            one.refused = True

    # -- the wire -----------------------------------------------------------------------------------------------

    @rule(number=HOSTS, happens=st.sampled_from(("cut", "gone", "there", "held", "let go")))
    def wire(self, number, happens):
        host = self.hosts[number]
        if happens in ("gone", "there"):
            host.reachable = happens == "there"
        if happens in ("cut", "gone"):
            self.network.cut(host)
        elif happens == "held":
            self.network.hold(host)
        elif happens == "let go":
            self.network.let_go(host)

    @rule(
        number=HOSTS, kind=KINDS, what=st.sampled_from(("all", "acks")), ms=st.sampled_from((0, 600, 31_000, 400_000))
    )
    def lose(self, number, kind, what, ms):
        """For a time, lose all packets that a host sends, or only its acknowledgments of transactional messages."""
        host = self.hosts[number]
        host.tamper = lambda data: None if what == "all" or is_acknowledgment(data) else data
        for source in (1, 2):
            self.send(source, 3 - source, 2, kind, False, True)
        self.advance(ms)
        self.network.cut(host)
        host.tamper = lambda data: data

    # -- time, disks and crashes --------------------------------------------------------------------------------

    @rule(ms=st.sampled_from((1, 400, 501, 5_000, 15_000, 31_000, 45_000, 300_000, 700_000)))
    def advance(self, ms):
        self.network.advance(ms)

    @rule(number=HOSTS, disk=st.sampled_from(("works", "slow", "broken")), works=st.lists(st.booleans(), max_size=6))
    def disk(self, number, disk, works):
        """Let the pending writes of a slow disk succeed or fail, as ``works`` determines for each write; then set the
        state of the disk.
        """
        host = self.hosts[number]
        self.network.write_some(host, works)
        host.disk = disk

    @rule(number=HOSTS, process=st.booleans(), written=st.integers(0, 10))
    def crash(self, number, process, written):
        """End the process (then some of the pending writes reach the disk) or only the queue manager in it (then all of
        them do).
        """
        self.environment.forget_asked(number)
        host = self.hosts[number]
        if process:
            self.network.kill(host, written)
        else:
            for effect in self.network.unwritten.pop(host.address, []):
                self.network.apply(host, effect)
            host.restart()
        self._after_crash(number)

    @precondition(lambda self: self.free)
    @rule(data=st.data(), written=st.integers(0, 3), ends=st.sampled_from(("prepare", "commit", "abort")))
    def crash_while_a_transaction_ends(self, data, written, ends):
        unit = data.draw(st.sampled_from(self.free))
        self.hosts[unit.number].disk = "slow"
        if ends == "abort":
            self._abort(unit)
        elif unit.prepared or not unit.external:
            self._commit(unit)
        else:
            self._prepare(unit)
        self.hosts[unit.number].disk = "works"
        self.crash(unit.number, True, written)

    def _after_crash(self, number):
        self.environment.watch(number)
        states = self.environment.open_units(number)
        for unit in self.environment.units:
            if unit.number != number or unit.outcome:
                continue
            unit.busy = False
            unit.prepared = str(unit.identifier) in states
            if unit.prepared:
                unit.uncertain = False
                assert unit.external
                assert states[str(unit.identifier)] == "prepared"
            elif unit.uncertain:
                unit.outcome = "unknown"
            else:
                self._aborted(unit)

    # -- what holds ---------------------------------------------------------------------------------------------

    @precondition(lambda self: hasattr(self, "environment"))
    @invariant()
    def guarantees_hold(self):
        self.environment.note_answers()
        self.environment.check_at_most_once()
        self.environment.check_order()
        self.environment.check_windows()
        self.environment.check_nothing_acknowledged_is_lost()

    def teardown(self):
        if not hasattr(self, "environment"):
            return
        environment = self.environment
        for host in self.hosts.values():
            host.reachable, host.disk = True, "works"
            self.network.write(host)
            self.network.let_go(host)
        self.network.settle()
        self.network.advance(DAY_MS)
        environment.note_answers()
        for unit in self.free:
            if unit.prepared or not unit.external:
                self._commit(unit)
            else:
                self._abort(unit)
        for number in self.hosts:
            assert environment.open_units(number) == {}
        self.network.advance(DAY_MS)
        self.guarantees_hold()
        environment.check_all_has_arrived()
        environment.check_units()
        for number in self.hosts:
            for _ in range(len(environment.arrived[number]) // 2):
                self.receive(number, TRANSACTIONAL, 0)
        self.network.advance(DAY_MS)
        environment.check_journals()
        for number in self.hosts:  # what a full disk refused is written with the next record
            self.send(number, number, 1, RECOVERABLE, False, False)
        quiet = [len(host.sent) for host in self.hosts.values()]
        self.network.advance(WEEK_MS)
        assert [len(host.sent) for host in self.hosts.values()] == quiet, "somebody still sends when all is done"
        for host in self.hosts.values():
            for queue in host.core.adm.OutgoingQueues.values():
                assert not len(queue.session.OutgoingMessageTable)
        environment.check_disks()


TestTwoQueueManagers = TwoQueueManagers.TestCase
TestTwoQueueManagers.settings = budget(SOME, stateful_step_count=40)
