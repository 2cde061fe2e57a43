"""Faults of MS-MQDMPR 3.1.7.1.26, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.names.queue_paths import QueuePathOf, QueuePaths


@fault("path-of-direct-name-subqueue-omitted", breaks="MQDMPR-3.1.7.1.26-10", blind=True)
class PathOfDirectNameSubqueueOmitted(QueuePaths):
    """The path name of a direct format name ends before the name of its subqueue or journal."""

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        direct = format_name.upper().startswith("DIRECT=")
        return found._replace(rPathName=found.rPathName.partition(";")[0]) if direct else found
