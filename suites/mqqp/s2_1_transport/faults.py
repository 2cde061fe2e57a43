"""Faults of MS-MQQP 2.1 Transport."""

from __future__ import annotations

from collections.abc import Iterable

from harness.faults.primitives import inputs
from harness.faults.registry import Install, add
from reference_qm.surface.inputs import Input, RpcBytes, RpcListening


def _ignored(kind: type[Input]) -> Install:
    """Ignore every input of a kind."""

    def filter_(event: Input) -> Iterable[Input]:
        return [] if isinstance(event, kind) else [event]

    return inputs(filter_)


add("rpc-deaf", "MQQP-2.1-01", "Whatever comes over TCP is ignored.", _ignored(RpcBytes))
add("rpc-unmapped", "MQQP-2.1-02", "The endpoint mapper knows no endpoint.", _ignored(RpcListening))
