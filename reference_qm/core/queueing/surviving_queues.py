from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reference_qm.config import QueueSettings
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing.queue_lifecycle import make_queue_with_defaults
from reference_qm.core.store.entries import format_queue_name_of_entry
from reference_qm.core.store.queue_values import CONVERTERS_BY_QUEUE_ATTRIBUTE, REQUIRED_QUEUE_ATTRIBUTES
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


class SurvivingQueues(QueueManagerPart):
    """Creates the configured queues and restores the saved queues.

    Spec: MS-MQDMPR 3.1.1 (Persistent attribute), 3.1.1.2.
    """

    __slots__ = ()

    def create_configured_queue(self, settings: QueueSettings) -> Queue:
        """Create a configured private queue.

        Raise ValueError if the queue cannot be created. The caller has already checked the settings of the queue.
        """
        status, created = self.qm.queue_lifecycle.create_without_directory(_build_queue(settings), 0)
        if created is None:
            raise ValueError(f"the configured queue {settings.name!a} cannot be created: {status.name}")
        return created

    def adopt_published_queues(self) -> None:
        """Adopt the configured public queues that already exist in the directory, and create the other configured
        public queues there.
        """
        for settings in self.qm.config.queues:
            if settings.is_private or settings.name.lower() in self.qm.adm.QueueCollection:
                continue
            queue = _build_queue(settings)
            self.qm.queue_lifecycle.create(
                queue,
                0,
                self._save_created_public_queue,
                skip_directory=self.qm.public_queue_publishing.use_published_identifier(queue),
            )

    def _save_created_public_queue(self, status: Status, queue: Queue | None) -> None:
        """Save a public queue that was created. If the queue could not be created, treat the directory as offline;
        the queue is created when the directory is online again.
        """
        if queue is None:
            self.qm.enterprise.state.go_offline()
        else:
            self.qm.disk.save(self.qm.durable_records.build_queue_entry(queue))

    def restore(self, place: str, values: Mapping[str, Any]) -> None:
        """Restore a queue and its attributes from an entry of the store. The name of the entry contains the number or
        Identifier of the queue, and for a subqueue also the name of the subqueue.

        Raise LookupError, TypeError or ValueError for unusable values. An attribute that older versions did not
        save gets its default if it is missing. Every other attribute must exist.
        """
        number, _, subqueue = place.partition(";")
        queue = Queue(Pathname=values["Pathname"])
        for name, (_, read) in CONVERTERS_BY_QUEUE_ATTRIBUTE.items():
            if name in values or name in REQUIRED_QUEUE_ATTRIBUTES:
                setattr(queue, name, read(values[name]))
        if subqueue:
            parent = next(
                one
                for one in self.qm.adm.QueueCollection.values()
                if format_queue_name_of_entry(one) == f"queue:{number}"
            )
            self.qm.queue_lifecycle.add_subqueue(queue, parent, subqueue)
            return
        if queue.QueueType is not QueueType.PUBLIC:
            queue.PrivateQueueNumber = int(number)
        if queue.Pathname.lower() in self.qm.adm.QueueCollection:
            raise ValueError(f"queue {queue.Pathname} already exists")
        self.qm.queue_lifecycle.add(queue)


def _build_queue(settings: QueueSettings) -> Queue:
    queue = make_queue_with_defaults(settings.name)
    for name, value in settings.attributes().items():
        setattr(queue, name, value)
    return queue
