"""Check remote reading. The checks determine whether qmcomm and qm2qm answer at the authentication level in [rpc],
and whether queues can be opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.errors import ConformanceFailure, SutUnavailable
from harness.peer.association import Association, Call
from harness.peer.remote import RemoteReaderOfSut
from harness.preflight.setup import RunSetup
from harness.prerequisites.asking import create_temporary_queue
from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.sut import endpoint_mapper
from harness.sut.control import ControlRefused
from harness.sut.shown import NotShown
from harness.wire.rpc_qm2qm import IP_READ
from harness.wire.rpc_qmcomm import DIRECT, PEEK_ACCESS, queue_format
from reference_qm.shell.rpc_settings import AUTHENTICATION_LEVELS

MISSING_QUEUE_NAME = "private$\\mqc-preflight-none"
"""A name that no queue has."""
_ACCESS_DENIED_STATUS_NAME = "ACCESS_DENIED"
"""A string that occurs in the name of every status (of a fault or of a result) that reports denied access."""
AUTHENTICATION_LEVEL_NAMES = {level: name for name, level in AUTHENTICATION_LEVELS.items()}


def find_qmcomm_port(setup: RunSetup) -> PrerequisiteFinding:
    """Ask the endpoint mapper for the port of qmcomm, and store the port in the set-up. This is necessary if rpc_port
    is 0.
    """
    driver = setup.file.driver
    try:
        found = endpoint_mapper.ask_qmcomm_port(driver.address)
    except SutUnavailable as error:
        setup.missing_capabilities.add("qm2qm")
        said, _, remedy = str(error).rpartition("; ")
        return PrerequisiteFinding("rpc port", PrerequisiteState.MISSING, said, remedy)
    setup.file = replace(setup.file, driver=replace(driver, rpc_port=found))
    return PrerequisiteFinding(
        "rpc port", PrerequisiteState.OK, f"the endpoint mapper at {driver.address} returns {found}"
    )


def bind_and_call(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Bind to the interfaces qmcomm and qm2qm, and call a method that changes nothing in the system."""
    driver, access = setup.file.driver, setup.file.rpc
    where = f"{driver.address}:{driver.rpc_port}"
    level = f"level {AUTHENTICATION_LEVEL_NAMES.get(access.level, 'none')}" + (
        f" as {access.user.name}" if access.user else ""
    )
    try:
        with setup.peer() as peer:
            remote = RemoteReaderOfSut(peer, peer.sut)
            association = remote.associate()
            at = "" if remote.get_read_port() == driver.rpc_port else f", qm2qm at port {remote.get_read_port()}"
            yield PrerequisiteFinding("rpc", PrerequisiteState.OK, f"{where} serves qmcomm and qm2qm{at}, {level}")
            yield _call_harmless_rpc_method(setup, association)
            yield _check_access_right_to_queue(setup, remote, association)
    except (ConformanceFailure, SutUnavailable, OSError) as error:
        setup.missing_capabilities.add("qm2qm")
        missing = isinstance(error, SutUnavailable)
        remedy = (
            "check that driver.rpc_port is right (Windows: 2103), and that no firewall blocks this machine"
            if missing
            else "check that driver.rpc_port is the port of qmcomm, "
            "and that level, user and password in [rpc] are right"
        )
        yield PrerequisiteFinding(
            "rpc", PrerequisiteState.MISSING if missing else PrerequisiteState.WRONG, f"{level}: {error}", remedy
        )


def _call_harmless_rpc_method(setup: RunSetup, association: Association) -> PrerequisiteFinding:
    call = association.call("R_QMGetRTQMServerPort", fIP=IP_READ)
    if call.status is not None:
        return PrerequisiteFinding(
            "rpc call", PrerequisiteState.OK, f"R_QMGetRTQMServerPort returns port {call.status}"
        )
    setup.missing_capabilities.add("qm2qm")
    return PrerequisiteFinding(
        "rpc call", PrerequisiteState.WRONG, f"R_QMGetRTQMServerPort: {call.outcome}", _describe_remedy(call)
    )


def _check_access_right_to_queue(
    setup: RunSetup, remote: RemoteReaderOfSut, association: Association
) -> PrerequisiteFinding:
    """Check that the user of [rpc] may open a queue. A successful R_QMGetRTQMServerPort does not show this, because
    every user may call that method (MS-MQMP 3.1.4.2).

    If the control channel has created a queue, opening this queue also shows that both interfaces belong to one
    system. Without a control channel, the name of a missing queue is used.
    """
    made = None
    if setup.offers_facility("queue_control"):
        try:
            with setup.open_control(remote.peer.environment) as control, create_temporary_queue(control) as made:
                call = _open_to_peek(setup, remote, association, made)
        except (ControlRefused, NotShown, SutUnavailable) as error:
            return PrerequisiteFinding("rpc access", PrerequisiteState.NOT_SEEN, str(error))
    else:
        call = _open_to_peek(setup, remote, association, MISSING_QUEUE_NAME)
    which = "a queue created by the control channel" if made else "a missing queue"
    said = f"R_QMOpenRemoteQueue of {which}: {call.outcome}"
    if _ACCESS_DENIED_STATUS_NAME not in call.outcome and (
        call.outcome == "MQ_OK" if made else call.status is not None
    ):
        return PrerequisiteFinding("rpc access", PrerequisiteState.OK, said)
    setup.missing_capabilities.add("qm2qm")
    remedy = _describe_remedy(call) or (
        "set driver.rpc_port and control.address to those of one system" if made else ""
    )
    return PrerequisiteFinding("rpc access", PrerequisiteState.WRONG, said, remedy)


def _describe_remedy(call: Call) -> str:
    denied = (
        "check that the user in [rpc] has the right to open the queue, at this authentication level"
        if _ACCESS_DENIED_STATUS_NAME in call.outcome
        else ""
    )
    return call.advice_on_denial.strip(" ()") or denied


def open_queues_to_peek(setup: RunSetup, names: dict[str, str]) -> Iterator[PrerequisiteFinding]:
    """Open each queue of [queues] whose key is given, with peek access, and then close it."""
    try:
        with setup.peer() as peer:
            remote = RemoteReaderOfSut(peer, peer.sut)
            association = remote.associate()
            for key, queue in names.items():
                yield _try_open(setup, remote, association, key, queue)
    except (ConformanceFailure, SutUnavailable, OSError) as error:
        yield PrerequisiteFinding("queues", PrerequisiteState.NOT_SEEN, str(error))


def _try_open(
    setup: RunSetup, remote: RemoteReaderOfSut, association: Association, key: str, queue: str
) -> PrerequisiteFinding:
    call = _open_to_peek(setup, remote, association, queue)
    if call.outcome == "MQ_OK":
        return PrerequisiteFinding("queues", PrerequisiteState.OK, f"{key} {queue} can be opened")
    remedy = _describe_remedy(call) or f"create the queue, or name an existing queue as queues.{key}"
    return PrerequisiteFinding(
        "queues",
        PrerequisiteState.WRONG if _ACCESS_DENIED_STATUS_NAME in call.outcome else PrerequisiteState.MISSING,
        f"{key} {queue}: {call.outcome}",
        remedy,
    )


def _open_to_peek(setup: RunSetup, remote: RemoteReaderOfSut, association: Association, queue: str) -> Call:
    """Open a queue with peek access, and then close it."""
    form = queue_format(DIRECT, f"TCP:{setup.file.driver.address}\\{queue}")
    call = remote.open_remote(association, form=form, access=PEEK_ACCESS)
    if call.outcome == "MQ_OK":
        association.call("R_QMCloseRemoteQueueContext", pphContext=call.out.pphContext)
    return call
