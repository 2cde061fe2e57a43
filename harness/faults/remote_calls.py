"""Faults of DCE/RPC itself, made of the bytes that pass. Spec: MS-MQQP 2.1, 2.2, 3.1.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.primitives import effects, inputs
from harness.faults.registry import Install, add
from reference_qm.rpc import FaultStatus
from reference_qm.rpc.interfaces import QM2QM
from reference_qm.rpc.syntaxes import NDR64
from reference_qm.surface.effects import Effect, RpcSend
from reference_qm.surface.inputs import Input, RpcBytes, RpcListening

REQUEST, FAULT = 0, 3
PTYPE, CONTEXT_ID, OPNUM, STATUS = slice(2, 3), slice(20, 22), slice(22, 24), slice(24, 28)
"""Where fields stand in the PDUs of C706 12.6.4.7 and 12.6.4.9, little-endian."""
BINDINGS = {
    0: "MQQP-3.1.4.1-04",
    1: "MQQP-3.1.4.2-05",
    3: "MQQP-3.1.4.4-02",
    4: "MQQP-3.1.4.5-02",
    5: "MQQP-3.1.4.6-04",
    6: "MQQP-3.1.4.7-02",
    7: "MQQP-3.1.4.8-01",
    8: "MQQP-3.1.4.9-01",
    9: "MQQP-3.1.4.10-01",
    10: "MQQP-3.1.4.11-01",
}
"""The rule about the binding handle of each method, by opnum."""
HIGHEST_OF_TESTERS = 3
"""The last of the four contexts that a client proposes who wants qmcomm and qm2qm in both syntaxes."""


def _incoming(change: Callable[[bytes], bytes | None]) -> Install:
    def filter_(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytes):
            return [event]
        data = change(event.data)
        return [] if data is None else [replace(event, data=data)]

    return inputs(filter_)


def _field(data: bytes, where: slice) -> int:
    return int.from_bytes(data[where], "little")


def _set(data: bytes, where: slice, value: int) -> bytes:
    return data[: where.start] + value.to_bytes(where.stop - where.start, "little") + data[where.stop :]


def _unbound(opnum: int) -> Install:
    """Carry out requests of a method on a context that was never agreed on."""

    def change(data: bytes) -> bytes:
        asked = _field(data, PTYPE) == REQUEST and _field(data, OPNUM) == opnum
        strange = asked and _field(data, CONTEXT_ID) > HIGHEST_OF_TESTERS
        return _set(data, CONTEXT_ID, HIGHEST_OF_TESTERS) if strange else data

    return _incoming(change)


def _lenient(effect: Effect) -> Iterable[Effect]:
    if not isinstance(effect, RpcSend):
        return [effect]
    refused = _field(effect.data, PTYPE) == FAULT and _field(effect.data, STATUS) == FaultStatus.RPC_X_BAD_STUB_DATA
    if not refused:
        return [effect]
    return [replace(effect, data=_set(effect.data, STATUS, FaultStatus.NCA_S_FAULT_UNSPEC))]


def _unmapped(event: Input) -> Iterable[Input]:
    return [] if isinstance(event, RpcListening) else [event]


for _opnum, _rule in BINDINGS.items():
    _name = QM2QM.methods[_opnum].name
    add(f"rpc-unbound-{_name}", _rule, f"{_name} is carried out without a binding.", _unbound(_opnum))
add("rpc-deaf", "MQQP-2.1-01", "Nothing that comes over TCP is heard.", _incoming(lambda data: None))
add("rpc-unmapped", "MQQP-2.1-02", "The endpoint mapper knows no endpoint.", inputs(_unmapped))
add(
    "rpc-without-ndr64",
    "MQQP-2.2-01",
    "NDR64 is not known.",
    _incoming(lambda data: data.replace(NDR64.uuid.bytes_le, bytes(16))),
)
add("rpc-bad-stubs-unnamed", "MQQP-3.1.4-01", "A stub that is none has another fault.", effects(_lenient))
