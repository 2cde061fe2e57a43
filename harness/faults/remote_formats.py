"""Faults of QUEUE_FORMAT and PROPVARIANT. Spec: MS-MQMQ 2.2.7, 2.2.12; MS-MQMP 3.1.4.2, 3.1.4.9."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import effects, procedure
from harness.faults.registry import Install, add
from reference_qm.core.remote.properties import ObjectProperties
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.queue_formats import SYSTEM, QueueFormatType, SuffixType
from reference_qm.rpc import FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.effects import Effect, SendPacket

FORMAT, TYPE = "MQMQ-2.2.7-", "MQMQ-2.2.12-"
JOURNAL = SYSTEM | SuffixType.JOURNAL
QueueFormat = dict[str, Any]
PTYPE, OPNUM, STUB, OPEN_REMOTE = 2, 22, 24, 2
"""Where fields of a request stand (C706 12.6.4.9), and the opnum of R_QMOpenRemoteQueue."""


def _understood(change: Callable[[Any, QueueFormat], QueueFormat]) -> Install:
    """Take a QUEUE_FORMAT for another one."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def open_remote_queue(qm: Any, given: dict[str, Any], now: Any) -> Any:
            form = change(qm, dict(given["pQueueFormat"]))
            return original(qm, {**given, "pQueueFormat": form}, now)

        return open_remote_queue

    return procedure(Qmcomm.open_remote_queue, make)


def _instead(kind: int, suffix: int, other: int) -> Install:
    """Take one suffix of a type for another."""

    def change(qm: Any, form: QueueFormat) -> QueueFormat:
        if (form["m_qft"], form["m_SuffixAndFlags"]) == (kind, suffix):
            form["m_SuffixAndFlags"] = other
        return form

    return _understood(change)


def _of_machine(kinds: Iterable[int], suffix: int) -> Install:
    """Take a suffix of another type for that of this machine."""
    known = frozenset(kinds)

    def change(qm: Any, form: QueueFormat) -> QueueFormat:
        if form["m_qft"] in known and form["m_SuffixAndFlags"] == suffix:
            form |= {"m_qft": QueueFormatType.MACHINE, "union": qm.adm.Identifier}
        return form

    return _understood(change)


def _formats() -> None:
    direct, machine = QueueFormatType.DIRECT, QueueFormatType.MACHINE
    dead, transactional = SuffixType.DEADLETTER, SuffixType.DEADXACT

    def no_machines(qm: Any, form: QueueFormat) -> QueueFormat:
        return {**form, "m_qft": QueueFormatType.UNKNOWN} if form["m_qft"] == machine else form

    def bare_machine(qm: Any, form: QueueFormat) -> QueueFormat:
        bare = (form["m_qft"], form["m_SuffixAndFlags"]) == (machine, SuffixType.NONE)
        return {**form, "m_SuffixAndFlags": JOURNAL} if bare else form

    def subqueue_by_direct_name(qm: Any, form: QueueFormat) -> QueueFormat:
        is_one = (form["m_qft"], form["m_SuffixAndFlags"]) == (direct, SuffixType.SUBQUEUE)
        return {**form, "m_qft": QueueFormatType.SUBQUEUE} if is_one else form

    def reserved_matters(qm: Any, form: QueueFormat) -> QueueFormat:
        return {**form, "m_qft": QueueFormatType.UNKNOWN} if form["m_reserved"] else form

    def lineage_ignored(qm: Any, form: QueueFormat) -> QueueFormat:
        if form["m_qft"] == QueueFormatType.PRIVATE:
            form["union"] = {**form["union"], "Lineage": qm.adm.Identifier}
        return form

    def whole_queue(qm: Any, form: QueueFormat) -> QueueFormat:
        if form["m_qft"] == QueueFormatType.SUBQUEUE and ";" not in form["union"]:
            return {**form, "m_qft": direct, "m_SuffixAndFlags": SuffixType.NONE}
        return form

    for name, number, says, install in (
        ("machine-names-unknown", "01", "QUEUE_FORMAT_TYPE_MACHINE is no type.", _understood(no_machines)),
        (
            "system-flag-ignored",
            "02",
            "A queue is opened as a system queue.",
            _instead(direct, SYSTEM, SuffixType.NONE),
        ),
        ("bare-machine-opened", "03", "A machine name without suffix is its journal.", _understood(bare_machine)),
        (
            "journal-without-flag",
            "04",
            "A journal is opened without the flag of system queues.",
            _instead(direct, SuffixType.JOURNAL, JOURNAL),
        ),
        ("connector-journal", "05", "A connector has a journal.", _of_machine([QueueFormatType.CONNECTOR], JOURNAL)),
        (
            "dead-letters-without-flag",
            "06",
            "Dead letters are opened without the flag of system queues.",
            _instead(machine, dead, SYSTEM | dead),
        ),
        (
            "public-dead-letters",
            "07",
            "A public name has dead letters.",
            _of_machine([QueueFormatType.PUBLIC], SYSTEM | dead),
        ),
        (
            "transactional-dead-letters-without-flag",
            "08",
            "Transactional dead letters are opened without the flag of system queues.",
            _instead(machine, transactional, SYSTEM | transactional),
        ),
        (
            "public-transactional-dead-letters",
            "09",
            "A public name has transactional dead letters.",
            _of_machine([QueueFormatType.PUBLIC], SYSTEM | transactional),
        ),
        (
            "transactions-of-no-connector",
            "10",
            "Any queue may be opened for transactions only.",
            _instead(direct, SuffixType.XACTONLY, SuffixType.NONE),
        ),
        (
            "subqueue-as-system-queue",
            "11",
            "A subqueue is opened as a system queue.",
            _instead(QueueFormatType.SUBQUEUE, SYSTEM | SuffixType.SUBQUEUE, SuffixType.SUBQUEUE),
        ),
        ("subqueue-of-any-type", "12", "A direct name has a subqueue.", _understood(subqueue_by_direct_name)),
        ("reserved-format-used", "14", "m_reserved makes a difference.", _understood(reserved_matters)),
        ("lineage-ignored", "15", "Lineage is not looked at.", _understood(lineage_ignored)),
        ("subqueue-without-name", "16", "Without a subqueue the queue itself is opened.", _understood(whole_queue)),
    ):
        add(f"format-{name}", f"{FORMAT}{number}", says, install)


def _unread(vt: int) -> Install:
    """Take a variant of a type for no stub data."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def r_qm_get_object_properties(qm: Any, call: Any, now: Any) -> None:
            if any(one["vt"] == vt for one in call.arguments["apVar"]):
                qm.remote.note(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                original(qm, call, now)

        return r_qm_get_object_properties

    return procedure(ObjectProperties.r_qm_get_object_properties, make)


def _types() -> None:
    of_variants = VarType.VT_VECTOR | VarType.VT_VARIANT
    unread = {
        "01": (VarType.VT_EMPTY,),
        "02": (VarType.VT_NULL,),
        "03": (VarType.VT_I2,),
        "04": (VarType.VT_I4,),
        "05": (VarType.VT_BOOL,),
        "08": (VarType.VT_I1,),
        "09": (VarType.VT_UI1,),
        "10": (VarType.VT_UI2,),
        "11": (VarType.VT_UI4,),
        "12": (VarType.VT_I8,),
        "13": (VarType.VT_UI8,),
        "14": (VarType.VT_LPWSTR,),
        "15": (VarType.VT_BLOB,),
        "16": (VarType.VT_CLSID,),
    }
    for number, (vt,) in unread.items():
        add(f"variant-{vt.name}-unread", f"{TYPE}{number}", f"A variant of {vt.name} is no stub.", _unread(vt))
    add("variant-vector-unread", (f"{TYPE}06", f"{TYPE}07"), "A vector of variants is no stub.", _unread(of_variants))
    add(
        "variant-vectors-unread",
        f"{TYPE}17",
        "A vector of texts is no stub.",
        _unread(VarType.VT_VECTOR | VarType.VT_LPWSTR),
    )
    add(
        "variant-count-unread",
        f"{TYPE}18",
        "A counted array of numbers is no stub.",
        _unread(VarType.VT_VECTOR | VarType.VT_UI4),
    )

    def answered_as(identifier: int, vt: VarType) -> Install:
        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def get_queue_property(qm: Any, queue: Any, wanted: int) -> Any:
                found = original(qm, queue, wanted)
                return {**found, "vt": vt} if wanted == identifier else found

            return get_queue_property

        return procedure(ObjectProperties.get_queue_property, make)

    for number, identifier, vt in (
        ("03", 106, VarType.VT_UI2),
        ("04", 109, VarType.VT_UI4),
        ("09", 104, VarType.VT_I1),
    ):
        says = f"Property {identifier} is answered as {vt.name}."
        add(f"property-{identifier}-other-type", f"{TYPE}{number}", says, answered_as(identifier, vt))


def _reserved_sent(effect: Effect) -> Iterable[Effect]:
    """Set m_reserved of a direct name that goes in R_QMOpenRemoteQueue, behind its referent."""
    if isinstance(effect, SendPacket) and effect.data[PTYPE : PTYPE + 1] == b"\0" and effect.data[OPNUM] == OPEN_REMOTE:
        for at in (STUB + 8, STUB + 4):  # NDR64, NDR
            if effect.data[at : at + 4] == bytes([QueueFormatType.DIRECT, 0, 0, 0]):
                return [replace(effect, data=effect.data[: at + 2] + b"\xa5\xa5" + effect.data[at + 4 :])]
    return [effect]


_formats()
_types()
add("format-reserved-sent", f"{FORMAT}13", "m_reserved of a client is not 0.", effects(_reserved_sent))
