"""The checks of ``mqconform preflight``. They test a set-up in both directions, from the tester to the system and from
the system to the tester. The result states whether a run with the SUT file can begin.

Preflight sends test messages, and creates a queue if the control channel can create queues. It changes nothing
else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from harness.attach.attach import count_judgeable_rules
from harness.errors import ConformanceFailure, SutUnavailable, UsageError
from harness.preflight import by_control, network
from harness.preflight.findings import MustRuleCounts, PreflightReport
from harness.preflight.setup import RunSetup
from harness.prerequisites import asking
from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.prerequisites.remote_reading import check_qm2qm_endpoint
from harness.sut import remote_control
from harness.sut.external_driver import ExternalDriver
from harness.sut.process_driver import ProcessDriver
from harness.sut.sut_file import SutFile
from harness.sut.worker_configurations import build_worker_configurations

RESTRICTED_QUEUE_KEY = "restricted"


def run_preflight(file: SutFile, take_inventory: Callable[[], Any]) -> PreflightReport:
    """Check a set-up; raise UsageError if the set-up cannot be checked. ``take_inventory``: a function that returns
    the inventory of the suites.
    """
    if file.driver.kind == "virtual":
        raise UsageError(
            f'{file.path} has driver.kind = "virtual": a virtual system needs no set-up, so preflight checks nothing'
        )
    (file,) = build_worker_configurations(file, 1)
    with TemporaryDirectory(prefix="mqconform-preflight-") as folder:
        driver = ProcessDriver(file, Path(folder)) if file.driver.kind == "process" else ExternalDriver(file, None)
        setup = RunSetup(file, driver)
        try:
            lines = tuple(_list_findings(setup))
        finally:
            driver.stop()
    return PreflightReport(str(file.path), _count_must_rules(setup, lines, take_inventory()), lines)


def _list_findings(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    yield from network.report_system_name(setup)
    if isinstance(setup.driver, ProcessDriver):
        started = _start_program_of_sut(setup, setup.driver)
        yield started
        if started.is_missing:
            return
    for step in _PREFLIGHT_STEPS:
        try:
            for line in step(setup):
                setup.can_run_begin = setup.can_run_begin and not (line.is_missing and line.ends_run)
                yield line
        except (ConformanceFailure, SutUnavailable) as error:  # an error for which no step has its own message
            yield PrerequisiteFinding(step.__name__.replace("_", " "), PrerequisiteState.WRONG, str(error))


def _start_program_of_sut(setup: RunSetup, driver: ProcessDriver) -> PrerequisiteFinding:
    try:
        driver.start()
    except SutUnavailable as error:
        # The message must not name the log, which is deleted before the user can read it.
        said = str(error).replace(f"; see {driver.process.log_path}", "")
        return PrerequisiteFinding(
            "start", PrerequisiteState.MISSING, said, "try to start the system with driver.command by hand", True
        )
    setup.file = driver.file
    return PrerequisiteFinding(
        "start", PrerequisiteState.OK, "the program of driver.command is running; it is stopped after the checks"
    )


def _check_rpc(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    driver = setup.file.driver
    if not setup.file.capabilities.get("qm2qm", False):
        listens = driver.rpc_port != 0 and network.try_to_connect(driver.address, driver.rpc_port) is None
        said = f"{driver.address}:{driver.rpc_port} accepts connections" if listens else "not tried"
        remedy = "set qm2qm = true in [capabilities] if this port serves qmcomm and qm2qm" if listens else ""
        yield PrerequisiteFinding("rpc", PrerequisiteState.NOT_DECLARED, said, remedy)
        return
    from harness.preflight.by_rpc import (  # importing the layers of DCE/RPC takes a second
        bind_and_call,
        find_qmcomm_port,
    )

    if driver.rpc_port == 0:
        yield (line := find_qmcomm_port(setup))
        if line.is_missing:
            return
    yield from bind_and_call(setup)
    if _has_capability(setup, "qm2qm"):
        yield check_qm2qm_endpoint(setup)


def _check_root_prerequisites(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Check the prerequisites that a run checks at its first bad verdict. A missing prerequisite is a possible root
    cause of bad verdicts.
    """
    yield asking.check_identity(setup.file, setup.guid)
    if not setup.can_run_begin:
        yield PrerequisiteFinding(
            asking.PEER_REACHED_SUBJECT, PrerequisiteState.NOT_SEEN, "not tried, because a run cannot begin"
        )
    elif not setup.peer_can_listen:
        yield PrerequisiteFinding(
            asking.PEER_REACHED_SUBJECT,
            PrerequisiteState.NOT_SEEN,
            f"the peer cannot listen at {asking.describe_peer_address_and_port(setup)}",
        )
    else:
        for line in asking.check_delivery_both_ways(setup, reached=False):
            setup.keys_of_known_queues |= {line.about} if line.subject == asking.QUEUES_SUBJECT else set()
            yield line


def _check_queues(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    makes_own = setup.offers_facility("queue_control")
    wanted = (
        [] if makes_own else [key for key in asking.PROVISIONED_QUEUE_KEYS if key not in setup.keys_of_known_queues]
    )
    if makes_own:
        yield PrerequisiteFinding(
            "queues",
            PrerequisiteState.OK,
            "the queues in [queues] are not used, because each check creates its own queues (queue_control)",
        )
    if setup.file.capabilities.get("security", False):
        wanted.append(RESTRICTED_QUEUE_KEY)
    names = {key: getattr(setup.file.queues, key) for key in wanted}
    if not names:
        return
    if setup.route is not None and setup.control is None:
        yield PrerequisiteFinding(
            "queues",
            PrerequisiteState.NOT_SEEN,
            "the control channel does not answer, so it is unknown whether the queues in [queues] are used",
        )
    elif setup.offers_facility("receive"):
        yield from by_control.peek_into_queues(setup, names)
    elif _has_capability(setup, "qm2qm"):
        from harness.preflight.by_rpc import open_queues_to_peek  # importing the layers of DCE/RPC takes a second

        yield from open_queues_to_peek(setup, names)
    else:
        said = f"{', '.join(names.values())}cannot be read without a control channel or qm2qm"
        yield PrerequisiteFinding("queues", PrerequisiteState.NOT_SEEN, said)


_PREFLIGHT_STEPS: tuple[Callable[[RunSetup], Iterator[PrerequisiteFinding]], ...] = (
    network.check_addresses,
    network.check_session_request,
    network.check_ping,
    by_control.check_identity,
    _check_rpc,
    network.check_peer_ports,
    _check_root_prerequisites,
    by_control.check_clock,
    _check_queues,
)


def _has_capability(setup: RunSetup, capability: str) -> bool:
    return setup.file.capabilities.get(capability, False) and capability not in setup.missing_capabilities


def _count_must_rules(setup: RunSetup, lines: tuple[PrerequisiteFinding, ...], inventory: Any) -> MustRuleCounts:
    """Return the numbers of MUST rules. If a run cannot begin, no rule can be judged. Without a session, no rule about
    packets can be judged.
    """
    must = frozenset(rule for rule, row in inventory.catalogue.items() if row.level.startswith("MUST"))

    def count_judgeable(capabilities: Mapping[str, bool]) -> tuple[int, int]:
        reads_afar = capabilities.get("qm2qm", False)
        offered = setup.control.offered_facilities if setup.control else ()
        announced = {*offered, *(remote_control.FACILITIES_OF_REMOTE_CONTROL if reads_afar else ())}
        file = replace(setup.file, capabilities=MappingProxyType(dict(capabilities)))
        found = count_judgeable_rules(lambda have: inventory.list_judgeable_rules(have) & must, announced, file)
        return found.total_rules, found.judgeable_rules_now

    every, promised = count_judgeable(setup.file.capabilities)
    _, judged = count_judgeable({name: _has_capability(setup, name) for name in setup.file.capabilities})
    ends = any(line.is_missing and line.ends_run for line in lines) or setup.guid is None
    silent = setup.route is not None and setup.control is None
    return MustRuleCounts(every, 0 if ends else judged, None if silent else promised)
