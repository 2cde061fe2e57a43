"""Steps that faults of MS-MQDMPR 3.1.3 Initialization share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import change_core_after_every_input
from harness.faults.registry import FaultyCore, Install
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.security import MqdsPublicKeys
from reference_qm.surface.clock import Now


def change_state_after_restart(change: Callable[[QueueManager], None]) -> Install:
    """Return an installer of a fault that changes the core's state after every input that follows a restart."""

    def install_after_restart(faulty: FaultyCore) -> None:
        faulty.actions_at_restart.append(lambda again: again.actions_after_each_input.append(change))

    return install_after_restart


def change_state_at_later_synchronization(change: Callable[[QueueManager], None]) -> Install:
    """Return an installer of a fault that changes the core's state when the queue manager has read the directory at a
    start that follows the first start.
    """

    class SynchronizedThenChanged(DirectoryClient):
        def synchronize_with_directory(self, now: Now) -> Result:
            status = super().synchronize_with_directory(now)
            change(self.qm)
            return status

    return lambda faulty: faulty.actions_at_restart.append(replace_part(SynchronizedThenChanged))


def replace_attribute_in_own_directory_object(qm: QueueManager, **values: Any) -> None:
    """Replace attributes of the queue manager that are stored in its directory object."""
    state = qm.enterprise.state
    state.LocalQueueManager = replace(state.LocalQueueManager, **values)


def change_blob_of_key(attribute: str, place: int, change: Callable[[bytes], bytes]) -> Install:
    """Return an installer of a fault that changes the key blob at one place of a list of public keys."""
    made: dict[bytes, bytes] = {}

    def publish_changed_key(qm: QueueManager) -> None:
        published: bytes = getattr(qm.enterprise.state.LocalQueueManager, attribute)
        if not published or published in made.values():
            return
        keys = list(MqdsPublicKeys.parse(published).aPublicKeys)
        keys[place] = replace(keys[place], aBuf=change(keys[place].aBuf))
        made[published] = MqdsPublicKeys(tuple(keys)).build()
        replace_attribute_in_own_directory_object(qm, **{attribute: made[published]})

    return change_core_after_every_input(publish_changed_key)
