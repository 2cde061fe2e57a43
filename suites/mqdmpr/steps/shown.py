"""Elements of the abstract data model, as a SUT shows them: queues, and what is within them."""

from __future__ import annotations

from typing import Any

from harness.sut.shown import NotShown
from harness.sut.sut import Sut


class Shown(dict[str, Any]):
    """An element of the abstract data model; NotShown for what of it the SUT does not show."""

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise NotShown(f"the SUT's abstract data model, as it shows it, has no {name}")
        value = super().__getitem__(name)
        if isinstance(value, list):
            return [Shown(one) if isinstance(one, dict) else one for one in value]
        return Shown(value) if isinstance(value, dict) else value


def queue_manager(sut: Sut) -> Shown:
    """Return LocalQueueManager."""
    return Shown(Shown(sut.inspect())["QueueManager"])


def queue_named(sut: Sut, path_name: str) -> Shown:
    """Return a queue of the SUT, by its path name."""
    queues = queue_manager(sut)["QueueCollection"]
    found = [one for one in queues if one["Pathname"].lower().endswith(path_name.lower())]
    if not found:
        raise NotShown(f"the SUT's abstract data model, as it shows it, has no queue {path_name}")
    return Shown(found[0])


def descriptors(sut: Sut, path_name: str) -> list[Shown]:
    """Return what has a queue of the SUT open."""
    return list(queue_named(sut, path_name)["OpenQueueDescriptorCollection"])
