"""MS-MQQP 2.1 Transport: qm2qm and the endpoint mapper after a restart, and while a read of another client waits."""

from __future__ import annotations

from harness.errors import SutUnavailable
from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from harness.wire.rpc import EPT, QM2QM
from harness.wire.rpc_ept import build_map_arguments, read_ports
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS
from harness.wire.wire_error import WireError

pytestmark = needs("qm2qm")

MAPPER_PORT = 135


@needs("restart")
@covers("MQQP-2.1-01", "MQQP-2.1-02")
def test_qm2qm_is_offered_and_mapped_after_restart(remote, sut, judge):
    """The SUT restarts. Afterwards, a client binds to qm2qm and calls RemoteQmGetVersion, and ept_map for qm2qm returns
    a port at which a bind to qm2qm succeeds.
    """
    sut.restart()
    association = remote.associate(QM2QM)
    call = association.call("RemoteQmGetVersion")
    judge("MQQP-2.1-01", expected="returned", observed=call.outcome, case="RemoteQmGetVersion", evidence=call.evidence)
    try:
        mapper = remote.connect(MAPPER_PORT)
    except SutUnavailable:
        mapper = remote.connect()  # the port of the endpoint mapper is for privileged programs
    mapper.bind(EPT)
    mapped = mapper.call("ept_map", **build_map_arguments(QM2QM))
    try:
        found = read_ports(mapped.out) if mapped.out is not None else []
    except WireError as error:
        judge("MQQP-2.1-02", expected=holds("the towers can be read"), observed=str(error), evidence=mapped.evidence)
        return
    served = "no port"
    if found:
        served = "not served" if remote.connect(found[0]).bind_and_list_rejected_interfaces(QM2QM)[0] else "served"
    judge(
        "MQQP-2.1-02",
        expected="served",
        observed=served,
        case="qm2qm at the port that ept_map returns after a restart",
        evidence=mapped.evidence,
    )


@covers("MQQP-2.1-01")
def test_queue_is_opened_and_read_while_read_of_other_client_waits(remote, judge):
    """A read of one client waits in a queue. Another client opens a second queue on its own connection and reads a
    message from it.
    """
    waiting = remote.open("admin")
    waiting.begin_receive(ulTimeout=INFINITE_TIMEOUT_MS).state_after_silence()
    association = remote.associate()
    opened = remote.open_remote(association)
    observed = {"R_QMOpenRemoteQueue": opened.outcome}
    evidence = [*opened.evidence]
    if opened.out is not None and opened.outcome == "MQ_OK":
        session = association.call(
            "RemoteQMOpenQueue",
            hQueue=opened.out.phQueue,
            pQueue=opened.out.dwpQueue,
            dwpContext=opened.out.pdwContext,
        )
        observed["RemoteQMOpenQueue"] = session.outcome
        evidence += session.evidence
    judge(
        "MQQP-2.1-01",
        expected=facts(R_QMOpenRemoteQueue="MQ_OK", RemoteQMOpenQueue="MQ_OK"),
        observed=observed,
        evidence=evidence,
    )
    association.close()
