"""Faults of MS-MQSO 5.5.5 Internal Storage Failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import inputs, skip
from harness.faults.registry import FaultyCore, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.restoring import RestoreError, Restoring
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Input, Persisted, PersistFailed


def _report_failed_write_as_persisted(event: Input) -> Iterator[Input]:
    yield Persisted(event.token) if isinstance(event, PersistFailed) else event


add(
    "full-disk-ignored",
    "MQSO-5.5.5-01",
    "The queue manager treats an operation as stored although the full disk could not store it.",
    inputs(_report_failed_write_as_persisted),
)


def _keep_change_of_failed_write(faulty: FaultyCore) -> None:
    """Carry out a request, but answer that its result could not be stored."""

    def note_failed_write(event: Input) -> Iterator[Input]:
        if isinstance(event, PersistFailed):
            commit = faulty.core.disk.pending.get(event.token)
            if commit is not None:
                commit.done()
                faulty.core.disk.pending[event.token] = replace(commit, undo=lambda: None)
        yield event

    faulty.input_filters.append(note_failed_write)


add(
    "full-disk-refusal-has-effect",
    "MQSO-5.5.5-01",
    ("The queue manager refuses an operation because the disk is full, but carries it out."),
    _keep_change_of_failed_write,
)


@fault(
    "damaged-store-treated-as-empty",
    breaks=(
        "MQSO-5.1.1.1-01",
        "MQSO-5.1.1.1-02",
        "MQSO-5.5.5-03",
        "MQSO-6.6.2-04",
        "MQSO-6.6.2-05",
        "MQDMPR-3.1.1.1-23",
        "MQDMPR-3.1.3-30",
    ),
)
class DamagedStoreTreatedAsEmpty(Restoring):
    """The queue manager treats a damaged store as an empty store and starts."""

    def restore(self, entries: Mapping[str, object]) -> None:
        try:
            super().restore(entries)
        except RestoreError:
            super().restore({})


add(
    "queue-counter-not-repaired",
    "MQSO-5.5.5-02",
    "The queue manager uses the stored queue counter although queues with higher numbers exist.",
    skip(Restoring.repair_queue_numbers),
)


@fault("queues-with-number-above-counter-lost-at-restart", breaks="MQSO-5.5.5-02")
class QueuesWithNumberAboveCounterLostAtRestart(Restoring):
    """The queue manager drops queues whose numbers are higher than the stored queue counter."""

    def repair_queue_numbers(self) -> None:
        last = self.qm.adm.last_private_queue_number
        super().repair_queue_numbers()
        for queue in list(self.qm.adm.QueueCollection.values()):
            if (queue.PrivateQueueNumber or 0) > last:
                self.qm.queues.forget(queue)


@fault("foreign-directory-object-accepted", breaks=("MQSO-5.5.6-01", "MQSO-5.5.6-02", "MQSO-5.5.6-03"))
class ForeignDirectoryObjectAccepted(DirectoryClient):
    """The queue manager is in directory mode although the directory object of its computer has a different
    Identifier.
    """

    def synchronize(self, now: Now) -> DirectoryOperationResult:
        super().synchronize(now)
        return DirectoryOperationResult.SUCCESS
