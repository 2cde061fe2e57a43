"""MS-MQQP 2.1 Transport, 2.2 Common Data Types; the binding handles of 3.1.4."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure, SutUnavailable
from harness.peer.association import Context
from harness.peer.remote import LOOKUP, START, START2
from harness.run.marks import covers, needs
from harness.wire.rpc import EPT, NDR, NDR64, QM2QM, QMCOMM
from harness.wire.rpc_ept import map_arguments, ports
from harness.wire.rpc_qm2qm import PEEK_CURRENT, QM2QM_OPERATIONS, RECEIVE, RR_ACK, desc2
from suites.mqqp.steps.reading import FIRST, SECOND, brought, filled

pytestmark = needs("qm2qm")

MAPPER_PORT = 135
NEVER_AGREED = 0x7171
"""A p_cont_id that was never proposed."""
BINDINGS = {
    START: "MQQP-3.1.4.1-04",
    "RemoteQMEndReceive": "MQQP-3.1.4.2-05",
    "RemoteQMCloseQueue": "MQQP-3.1.4.4-02",
    "RemoteQMCloseCursor": "MQQP-3.1.4.5-02",
    "RemoteQMCancelReceive": "MQQP-3.1.4.6-04",
    "RemoteQMPurgeQueue": "MQQP-3.1.4.7-02",
    "RemoteQMGetQMQMServerPort": "MQQP-3.1.4.8-01",
    "RemoteQmGetVersion": "MQQP-3.1.4.9-01",
    START2: "MQQP-3.1.4.10-01",
    LOOKUP: "MQQP-3.1.4.11-01",
}


@covers("MQQP-2.1-01", "MQQP-2.2-01")
@pytest.mark.parametrize("transfers", [(NDR,), (NDR64,), (NDR, NDR64)], ids=["NDR", "NDR64", "both"])
def test_both_transfer_syntaxes_are_spoken_over_tcp(remote, judge, transfers):
    """Proposed alone each is agreed on, and a message is read in it; of both one is."""
    association = remote.connect()
    try:
        association.bind(QMCOMM, QM2QM, transfers=transfers)
    except ConformanceFailure as error:
        for rule in ("MQQP-2.1-01", "MQQP-2.2-01"):
            judge(rule, expected="agreed on", observed=str(error), evidence=association.record.frames)
        return
    queue = filled(remote, FIRST, association=association)
    context = association.contexts[QM2QM]
    spoken = NDR64 if context.wide else NDR
    read = queue.read(PEEK_CURRENT)
    evidence = [*association.record.frames[:2], *read.evidence]
    judge("MQQP-2.1-01", expected=FIRST, observed=brought(read), evidence=evidence)
    observed = [spoken in transfers, brought(read)]
    judge("MQQP-2.2-01", expected=[True, FIRST], observed=observed, evidence=evidence)


@covers("MQQP-2.1-02")
def test_the_endpoint_mapper_tells_where_the_interface_is(remote, judge):
    """ept_map for qm2qm brings a port at which it can be bound."""
    try:
        association = remote.connect(MAPPER_PORT)
    except SutUnavailable:
        association = remote.connect()  # the port of the endpoint mapper is for privileged programs
    association.bind(EPT)
    call = association.call("ept_map", **map_arguments(QM2QM))
    found = ports(call.out) if call.out is not None else []
    served = "served" if found and QM2QM in remote.associate(QM2QM, port=found[0]).contexts else "not found"
    judge("MQQP-2.1-02", expected="served", observed=served, evidence=call.evidence)


@covers(*BINDINGS.values())
def test_a_call_needs_a_binding(remote, judge):
    """On a context that was never agreed on each method is refused; on the one that was it is carried out."""
    filled(remote, FIRST, SECOND)  # one message for each of the two receives that are to be ended
    for name, rule in BINDINGS.items():
        queue = remote.open()
        association = queue.association
        arguments = arguments_of(queue, name)
        bound = association.contexts[QM2QM]
        unbound = association.begin(name, context=Context(NEVER_AGREED, bound.wide), **arguments).wait()
        refused = "refused" if unbound.thrown is not None or unbound.association.over else unbound.outcome
        again = remote.open()
        call = again.association.call(name, **arguments_of(again, name))
        carried_out = "carried out" if call.thrown is None and call.answered else call.outcome
        judge(
            rule,
            expected=["refused", "carried out"],
            observed=[refused, carried_out],
            evidence=[*unbound.evidence, *call.evidence],
        )


def arguments_of(queue, name) -> dict[str, object]:
    """Return arguments with which a method can be carried out."""
    if name in (START, START2, LOOKUP):
        description = queue.description(PEEK_CURRENT)
        return {"lpRemoteReadDesc": description} if name == START else {"lpRemoteReadDesc2": desc2(description)}
    if name == "RemoteQMEndReceive":
        return {"pphContext": queue.read(RECEIVE).settled().out.pphContext, "dwAck": RR_ACK}
    handle = {"RemoteQMCloseQueue": {"pphContext": queue.session.out.phContext}}
    values = {"hQueue": queue.handle, "pQueue": queue.pointer, "dwRequestID": 1, "hCursor": 1, "dwPortType": 0}
    fields = QM2QM_OPERATIONS[name].Request.fields_desc
    return handle.get(name) or {field.name: values[field.name] for field in fields}
