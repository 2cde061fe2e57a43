"""Elements of the abstract data model, as a SUT shows them: queues, and what is within them."""

from __future__ import annotations

from typing import Any

from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from reference_qm.security import SecurityDescriptor
from suites.mqqb.steps.pinging import element


def queue_manager(sut: Sut) -> dict[str, Any]:
    """Return LocalQueueManager."""
    found: dict[str, Any] = element(sut.inspect(), "QueueManager")
    return found


def queue_named(sut: Sut, path_name: str) -> dict[str, Any]:
    """Return a queue of the SUT, by its path name."""
    queues = element(queue_manager(sut), "QueueCollection")
    found = [one for one in queues if one["Pathname"].lower().endswith(path_name.lower())]
    if not found:
        raise NotShown(f"the SUT's abstract data model, as it shows it, has no queue {path_name}")
    return dict(found[0])


def descriptors(sut: Sut, path_name: str) -> list[dict[str, Any]]:
    """Return what has a queue of the SUT open."""
    return list(element(queue_named(sut, path_name), "OpenQueueDescriptorCollection"))


def masks(shown: dict[str, Any]) -> list[int]:
    """Return the access masks of the security descriptor of an element."""
    descriptor = SecurityDescriptor.parse(bytes.fromhex(element(shown, "Security")))
    return [ace.Mask for ace in descriptor.Dacl.Aces] if descriptor.Dacl is not None else []
