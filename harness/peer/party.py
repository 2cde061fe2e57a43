"""Define the base class of the SUT's counterpart, which contains its identity, its waits, and its measurements of
durations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID

from harness.capture.recorder import Frame, Recorder
from harness.environment import Environment
from harness.errors import ConformanceFailure
from harness.peer.durations import Duration, FrameOrTimeMs, duration, get_time_ms
from harness.sut.own_queues import MESSAGE_IDS_PER_TEST
from harness.sut.sut import Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.varying.variant import VARIANT_WITHOUT_CHANGES, RowVariant
from harness.wire import PrivateQueueFormatNameId, TxSequenceID, user_message
from reference_qm.surface.entropy import SeededEntropy

NO_CHANGED_FIELDS: Mapping[str, Any] = {}
"""An empty mapping, for a header whose fields all have default values."""
DQ_PRIVATE_ON_DESTINATION = 3
"""The value of UserHeader.Flags.DQ for a private queue of the destination (MS-MQMQ 2.2.19.2)."""


class PositionsInSequenceOfPeer:
    """The positions of transactional messages in one sequence of the peer. ``ordinal`` (1 to 15) distinguishes the
    sequences of a test.

    A later sequence has a greater TxSequenceID, even in tests that begin in the same second.
    """

    def __init__(self, peer: CounterpartOfSut, ordinal: int = 1) -> None:
        base = (peer.next_message_id() & 0x0FFF_FFFF) << 4
        self.identifier = TxSequenceID(Ordinal=base + ordinal, TimeStamp=peer.environment.now().utc_s)
        self.number = 0

    def get_next_message_fields(self) -> dict[str, Any]:
        """Return the fields of the TransactionHeader for the next message. Each message is a separate transaction."""
        self.number += 1
        return {
            "FM": 1,
            "LM": 1,
            "ID": self.number,
            "TxSequenceID": self.identifier,
            "TxSequenceNumber": self.number,
            "PreviousTxSequenceNumber": self.number - 1,
        }


class CounterpartIdentity(NamedTuple):
    """The identity of a counterpart of the SUT, which consists of its QueueManager.Identifier and its address."""

    identifier: UUID
    address: str


class CounterpartOfSut:
    """The counterpart of the SUT in one test, without its connections."""

    def __init__(
        self,
        environment: Environment,
        sut: Sut,
        recorder: Recorder,
        seed: str,
        variant: RowVariant = VARIANT_WITHOUT_CHANGES,
        identity: CounterpartIdentity | None = None,
    ) -> None:
        """``variant``: the values of message properties that a check does not set. ``identity``: by
        default, the identity in the SUT file.
        """
        self.environment = environment
        self.variant = variant
        self.sut = sut
        self.recorder = recorder
        self.entropy = SeededEntropy(f"{seed} {sut.own}")
        driver = sut.file.driver
        self.identifier, self.address = identity or CounterpartIdentity(driver.peer_identifier, driver.peer_address)
        self.message_ids = range(sut.first_message_id, sut.first_message_id + MESSAGE_IDS_PER_TEST)
        """The MessageIDs that are reserved for this test. Raw messages use the first half, and a reference core
        uses the second half.
        """

    def __repr__(self) -> str:
        return f"Peer({self.identifier})"

    def next_message_id(self) -> int:
        """Return a MessageID that the SUT has not received yet, for a message that a check builds itself."""
        self.sut.first_message_id += 1
        return self.sut.first_message_id - 1

    # -- time ---------------------------------------------------------------------------------------------------

    def pass_time(self, ms: int) -> None:
        """Wait until the given time has passed by the tester's clock. Stalls of the SUT do not extend this time,
        because the timers of a stalled system continue to run.
        """
        self.environment.run_until(lambda: False, ms, exactly=True)

    def pass_time_until(self, since: FrameOrTimeMs, ms: int) -> None:
        """Wait, by the tester's clock, until a given time has passed since an instant."""
        self.pass_time(max(0, ms - self.measure_duration(since).ms))

    def settle(self) -> None:
        """Wait for the silence window, so that the SUT can finish its immediate actions."""
        self.environment.run_until(lambda: False, self.sut.quiet_ms)

    def eventually(self, condition: Callable[[], bool]) -> bool:
        """Evaluate a condition repeatedly until it is true or the response timeout expires; return whether it became
        true.
        """
        for _ in range(20):
            if condition():
                return True
            self.environment.run_until(lambda: False, max(1, self.sut.response_timeout_ms // 20))
        return condition()

    def await_label(self, label: str, queue: str) -> bool:
        """Wait for a message with the given label in a queue of the SUT, given by path name; return whether the message
        arrived.
        """
        return self.eventually(lambda: label in self.sut.labels(queue))

    # -- names and messages -------------------------------------------------------------------------------------

    def direct_name(self, queue: str = "mqc-peer") -> str:
        """Return a direct format name of a queue of the peer."""
        return f"DIRECT=TCP:{self.address}\\private$\\{queue}"

    def build_private_format_name_of_peer(self, number: int = 1) -> str:
        """Return a private format name of a queue of the peer."""
        return f"PRIVATE={self.identifier}\\{number:08x}"

    @property
    def format_name_of_public_queue(self) -> str:
        """The format name of the peer's public queue."""
        return f"PUBLIC={PEER_PUBLIC_QUEUE}"

    @property
    def format_name_of_missing_queue(self) -> str:
        """The format name of a queue that does not exist in the SUT, as the destination of a message."""
        return rf"TCP:{self.sut.address}\private$\mqc-nowhere"

    def build_fields_for_private_name_of_sut_queue(self, queue: str) -> dict[str, Any]:
        """Return the UserHeader fields that address a message to a queue of the SUT by its private format name; the
        argument is the queue's path name.
        """
        number = int(self.sut.private_format_name(queue).rpartition("\\")[2], 16)
        return self.build_fields_for_private_destination(self.sut.guid, number)

    @staticmethod
    def build_fields_for_private_destination(queue_manager: UUID, number: int) -> dict[str, Any]:
        """Return the UserHeader fields that address a message to a private queue of a queue manager."""
        return {
            "DQ": DQ_PRIVATE_ON_DESTINATION,
            "QueueManagerAddress": queue_manager,
            "DestinationQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=number),
        }

    def message(self, user: Mapping[str, Any] = NO_CHANGED_FIELDS, *, queue: str = "plain", **headers: Any) -> Any:
        """Build a message with a new MessageID, by default an express message.

        ``user``: fields of UserHeader. ``queue``: plain, transactional or admin. ``headers``: arguments of
        ``harness.wire.user_message``.
        """
        own = {
            "SourceQueueManager": self.identifier,
            "MessageID": self.next_message_id(),
            "SentTime": self.environment.now().utc_s,
        }
        destination = self.sut.format_name(queue).removeprefix("DIRECT=")
        if self.variant is not VARIANT_WITHOUT_CHANGES:
            if "destination" not in headers and self.variant["destination"] == "private":
                own |= self.build_fields_for_private_name_of_sut_queue(self.sut.queue(queue))
            if "transaction" not in headers and self.variant.value("delivery") == "transactional":
                headers = {"transaction": self.sequence.get_next_message_fields(), **headers}
        plain = {"destination": destination, "user": own, "body": b"of the peer"}
        return user_message(**self.variant.add_to_packet(plain, {**headers, "user": user}))

    @cached_property
    def sequence(self) -> PositionsInSequenceOfPeer:
        """The sequence of those messages that are transactional only because the current row (set of parameters) of a
        varied check requires it.
        """
        return PositionsInSequenceOfPeer(self)

    def recoverable_message(self, user: Mapping[str, Any] = NO_CHANGED_FIELDS, **headers: Any) -> Any:
        """Build a recoverable message, which the SUT must acknowledge after RecoverableAckTimeout."""
        return self.message({"DM": 1, **user}, **headers)

    def is_about_message_of_earlier_test(self, frame: Frame) -> bool:
        """Return whether a packet is a message of an earlier test with the same peer, or acknowledges such a
        message. No check judges these packets.
        """
        if not self.sut.peer_returns or not frame.from_sut or frame.message is None:
            return False
        answered = frame.message.acknowledged_message_identifier
        named = {frame.message.SourceQueueManager: frame.message.MessageID, answered.QueueManagerGuid: answered.Ordinal}
        return named.get(self.identifier, self.message_ids[0]) not in self.message_ids

    def wait(self, arrived: Callable[[], bool], within_ms: int | None, what: str) -> bool:
        """Wait for a condition; return whether the condition became true. If ``within_ms`` is None, wait no
        longer than the response timeout.

        If the condition becomes true only after the timeout, raise ConformanceFailure with the delay. Then the rules of
        the check do not fail.
        """
        if within_ms is not None or self.environment.is_time_virtual:
            timeout_ms = self.sut.response_timeout_ms if within_ms is None else within_ms
            return self.environment.run_until(arrived, timeout_ms)
        timeouts, began_ms = self.sut.timeouts, self.environment.now().monotonic_ms
        if self.environment.run_until(arrived, timeouts.response_ms):
            return True
        if self.environment.run_until(arrived, timeouts.late_answer_wait_ms):
            took_ms = self.environment.now().monotonic_ms - began_ms
            raise ConformanceFailure(f"{what} arrived after {took_ms:,} ms; the timeout is {timeouts.response_ms:,} ms")
        return False

    def has_stalled(self, since_ms: int, until_ms: int) -> bool:
        """Return whether the SUT stalled between two times on the recorder's clock."""
        return self.measure_duration(since_ms, until_ms).stalled_ms > 0

    def measure_duration(self, since: FrameOrTimeMs, until: FrameOrTimeMs | None = None) -> Duration:
        """Return the duration between two instants. If ``until`` is None, the second instant is the present. Use
        this method for every comparison of durations.
        """
        elapsed_ms = self.recorder.elapsed_ms()
        until_ms = elapsed_ms if until is None else get_time_ms(until)
        began_ms = self.environment.now().monotonic_ms - elapsed_ms
        return duration(self.sut, self.environment.pulse, began_ms, get_time_ms(since), until_ms)
