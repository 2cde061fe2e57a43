"""Faults of MS-MQDMPR 3.1.7.3.1 Wait For New Message."""

from __future__ import annotations

from harness.faults.calls import with_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status

add(
    "time-out-of-zero-waits",
    "MQDMPR-3.1.7.3.1-07",
    "A time-out of zero is none: the read waits for ever.",
    with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms or None),
)
add(
    "waiting-read-kept-as-peek",
    "MQDMPR-3.1.7.3.1-10",
    "A receive that waits is kept as a read that does not take its message.",
    with_arguments(Waiting.wait_for_new_message, destructive_read=lambda given: False),
)
add(
    "time-out-does-not-run",
    ("MQDMPR-3.1.7.3.1-15", "MQDMPR-3.1.7.3.1-19", "MQDMPR-3.1.7.3.4-03"),
    "A read that waits waits for ever, whatever its time-out.",
    with_arguments(
        Waiting.wait_for_new_message, timeout_ms=lambda given: None if given.timeout_ms else given.timeout_ms
    ),
)


@fault("waiting-read-given-the-first-message", breaks="MQDMPR-3.1.7.3.1-23")
class GivenTheFirst(Waiting):
    """A read that waited is given the first message of the queue, not the one that came."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        first = position.QueueReference.MessagePositionList.Head
        super().satisfy_reader(reader, first if isinstance(first, MessagePosition) else position)


@fault("time-out-of-a-read-goes-on", breaks="MQDMPR-3.1.7.3.1-24")
class GoesOn(Waiting):
    """The time-out of a read that got its message goes on, and ends whatever read waits then."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers.get(number) or next(iter(self.qm.readers.values()), None)
        if reader is not None:
            self.stop_reader(reader, Status.MQ_ERROR_IO_TIMEOUT)

    def _forget(self, reader: WaitingMessageReadOperation) -> None:
        del self.qm.readers[reader.number]
        del reader.descriptor.WaitingMessageReadOperationCollection[reader]


@fault("read-kept-after-its-wait", breaks="MQDMPR-3.1.7.3.1-25")
class KeptAfterItsWait(Waiting):
    """A read that waits no longer is still kept as one that does."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if reader.number in self.qm.readers:
            super().stop_reader(reader, status)
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


add(
    "wait-ends-as-cancelled",
    (
        "MQDMPR-3.1.7.1.10-35",
        "MQDMPR-3.1.7.1.10-D02",
        "MQDMPR-3.1.7.1.14-33",
        "MQDMPR-3.1.7.1.15-35",
        "MQDMPR-3.1.7.1.15-55",
        "MQDMPR-3.1.7.3.1-19",
        "MQDMPR-3.1.7.3.1-20",
        "MQDMPR-3.1.7.3.5-03",
    ),
    "A read whose time is over returns what one returns that was cancelled.",
    with_arguments(Waiting.stop_reader, status=lambda given: Status.MQ_ERROR_OPERATION_CANCELLED),
)
