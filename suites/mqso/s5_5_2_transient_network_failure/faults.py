"""Faults of MS-MQSO 5.5.2 Transient Network Failure."""

from __future__ import annotations

from collections.abc import Iterator

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, add
from reference_qm.core.commands.client_commands import ClientCommands
from reference_qm.surface import remote_commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import Completed, Connect, Effect
from reference_qm.surface.inputs import Input, TransportFailed

NO_MESSAGE = Result({"message": None})


@fault("unreachable-queue-read-as-empty", breaks=("MQSO-5.5.2-03", "MQSO-5.5.2-04"))
class UnreachableQueueReadAsEmpty(ClientCommands):
    """A read of a queue that cannot be reached reports that the queue is empty."""

    def remote_receive(self, request: remote_commands.RemoteReceive, token: int, now: Now) -> None:
        self.qm.emit(Completed(token, NO_MESSAGE))


def _stop_reconnecting(faulty: FaultyCore) -> None:
    """Stop connecting after the first failed connection."""
    failed: list[Input] = []

    def note_failure(event: Input) -> Iterator[Input]:
        if isinstance(event, TransportFailed):
            failed.append(event)
        yield event

    def filter_connect_effect(effect: Effect) -> Iterator[Effect]:
        if not (failed and isinstance(effect, Connect)):
            yield effect

    faulty.input_filters.append(note_failure)
    faulty.effect_filters.append(filter_connect_effect)


add(
    "failed-connection-not-retried",
    ("MQSO-4.3.1.2-D03", "MQSO-5.5.2-01", "MQSO-5.5.2-05", "MQSO-5.5.2-D01"),
    "The queue manager does not connect again after a failed connection.",
    _stop_reconnecting,
)
