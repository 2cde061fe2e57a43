"""MS-MQQP 1.9 Standards Assignments, 2.1 Transport, 2.2 Common Data Types."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import SutUnavailable
from harness.expectations import each, facts, holds
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc import EPT, NDR, NDR64, QM2QM, UNKNOWN_SYNTAX
from harness.wire.rpc_ept import build_map_arguments, read_ports
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, Method
from harness.wire.wire_error import WireError

pytestmark = needs("qm2qm")

MAPPER_PORT = 135


@covers("MQQP-2.1-01", "MQQP-2.2-01")
@pytest.mark.parametrize("transfers", [(NDR,), (NDR64,), (NDR, NDR64)], ids=["NDR", "NDR64", "both"])
def test_read_in_each_transfer_syntax_over_tcp_succeeds(remote, judge, transfers):
    """A client proposes NDR, NDR64 or both on a TCP connection. The SUT accepts one of the proposed syntaxes, and three
    reads return their messages in that syntax.
    """
    port = remote.get_read_port()
    binding = remote.connect(port)
    refused, said = binding.bind_and_list_rejected_interfaces(QM2QM, transfers=transfers)
    if refused:
        evidence, answers = binding.record.frames, len(binding.record.received)
        judge("MQQP-2.1-01", expected=holds("the SUT answers"), observed=bool(answers), evidence=evidence)
        judge("MQQP-2.2-01", expected=holds("accepted"), observed=f"refused: {said}", evidence=evidence)
        return
    binding.close()
    association = remote.associate(transfers=transfers)
    queue = remote.open_with_messages("first", "second", association=association)
    context = association.of(QM2QM).contexts[QM2QM]
    spoken = NDR64 if context.wide else NDR
    reads = [queue.peek(), queue.receive(), queue.receive(by=Method.START_RECEIVE)]
    evidence = [*association.record.frames[:2], *reads]
    seen = [read.label_or_outcome for read in reads]
    judge(
        "MQQP-2.1-01",
        expected=["first", "first", "second"],
        case="labels returned by the reads",
        observed=seen,
        evidence=evidence,
    )
    expected = facts(the_accepted_syntax_was_proposed=True, labels_returned_by_the_reads=["first", "first", "second"])
    observed = {"the_accepted_syntax_was_proposed": spoken in transfers, "labels_returned_by_the_reads": seen}
    judge("MQQP-2.2-01", expected=expected, observed=observed, evidence=evidence)


@covers("MQQP-2.1-01", "MQQP-2.1-D01")
@pytest.mark.parametrize("meanwhile", ["nothing", "open queue", "waiting read", "locked message", "broken connection"])
def test_unauthenticated_clients_are_served(remote, judge, meanwhile):
    """Ten clients without authentication are connected at the same time, while another client uses a queue or has lost
    its connection. Each of the ten clients binds to qm2qm and calls RemoteQmGetVersion, and the SUT answers the call.
    """
    port = remote.get_read_port()
    if meanwhile != "nothing":
        other = remote.open_with_messages("first") if meanwhile == "locked message" else remote.open()
        if meanwhile == "locked message":
            other.start_receive()
        elif meanwhile == "waiting read":
            other.begin_receive(ulTimeout=INFINITE_TIMEOUT_MS).state_after_silence()
        elif meanwhile == "broken connection":
            other.association.close()
    seen, evidence = [], []
    for _ in range(10):
        association = remote.connect(port)
        refused, said = association.bind_and_list_rejected_interfaces(QM2QM)
        evidence += association.record.frames[:2]
        if refused:
            seen.append(f"refused: {said}")
            continue
        call = association.call("RemoteQmGetVersion")
        seen.append(call.outcome)
        evidence += call.evidence
    judge.all(
        expected=each("returned", "client"),
        observed=seen,
        evidence=evidence,
        case="call of RemoteQmGetVersion",
    )


@covers("MQQP-1.9-D01")
@pytest.mark.parametrize(
    ("syntax", "expected"),
    [
        (QM2QM, "accepted"),
        (QM2QM._replace(minor_version=1), "refused"),
        (QM2QM._replace(major_version=2), "refused"),
        (QM2QM._replace(major_version=0), "refused"),
        (QM2QM._replace(uuid=UUID(int=QM2QM.uuid.int ^ 1)), "refused"),
    ],
    ids=["1.0", "1.1", "2.0", "0.0", "other"],
)
@sut_survives()
def test_bind_to_unknown_interface_or_version_is_refused(remote, judge, syntax, expected):
    """The SUT accepts a bind to qm2qm version 1.0, and refuses a bind to version 0.0, 1.1 or 2.0 or to an unknown
    interface. A later bind to version 1.0 succeeds.
    """
    port = remote.get_read_port()
    association = remote.connect(port)
    refused, said = association.bind_and_list_rejected_interfaces(syntax)
    observed = "refused" if refused and said == "bind_ack" else said if refused else "accepted"
    still = remote.connect(port)
    then = "accepted" if not still.bind_and_list_rejected_interfaces(QM2QM)[0] else "refused"
    evidence = [*association.record.frames[:2], *still.record.frames[:2]]
    seen = {"tested_bind": observed, "later_bind_to_version_1": then}
    judge.all(
        expected=facts(tested_bind=expected, later_bind_to_version_1="accepted"), observed=seen, evidence=evidence
    )


@covers("MQQP-2.1-02")
def test_endpoint_mapper_returns_port_of_qm2qm(remote, judge):
    """ept_map for qm2qm returns a port at which a bind to qm2qm succeeds, and a second ept_map for qm2qm returns the
    same port. ept_map for an unknown interface returns no port. The towers in all answers are well-formed.
    """
    try:
        association = remote.connect(MAPPER_PORT)
    except SutUnavailable:
        association = remote.connect()  # the port of the endpoint mapper is for privileged programs
    association.bind(EPT)
    calls = [association.call("ept_map", **build_map_arguments(one)) for one in (QM2QM, UNKNOWN_SYNTAX, QM2QM)]
    try:
        found, unserved, again = (read_ports(one.out) if one.out is not None else [] for one in calls)
    except WireError as error:
        judge.all(expected=holds("the towers can be read"), observed=str(error), evidence=calls)
        return
    served = "not found"
    if found:
        served = "not served" if remote.connect(found[0]).bind_and_list_rejected_interfaces(QM2QM)[0] else "served"
    observed = {
        "qm2qm_at_the_returned_port": served,
        "ports_of_an_unknown_interface": unserved,
        "ports_of_the_second_answer": again,
    }
    expected = facts(
        qm2qm_at_the_returned_port="served", ports_of_an_unknown_interface=[], ports_of_the_second_answer=found
    )
    judge.all(expected=expected, observed=observed, evidence=calls)
