"""Faults of MS-MQQB 3.1.4 Higher-Layer Triggered Events."""

from __future__ import annotations

from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.transfer.administering import Administering

add(
    "start-initializes-nothing",
    "MQQB-3.1.4.1-01",
    "A queue manager that starts does not initialize itself.",
    skip(Initialization.initialize_globally),
)
add(
    "start-connects-to-nobody",
    "MQQB-3.1.4.1-02",
    "A queue manager that starts leaves its messages where they are.",
    skip(Administering.establish_waiting),
)
