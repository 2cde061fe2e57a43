"""Determine the identity of a SUT, and create one test's view of the SUT. All drivers use this module."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from uuid import UUID

from harness.environment import Environment
from harness.errors import SutUnavailable
from harness.printable import one_line
from harness.sut.control import MAX_REASON_CHARACTERS, ContractBroken, Control
from harness.sut.replay_tape import CheckNoteWriter, RecordedControl, RecordedEnvironmentCommands
from harness.sut.sut import Sut
from harness.sut.sut_file import SutFile
from harness.sut.timeouts import VIRTUAL_TIMEOUTS, Timeouts
from reference_qm.control import VERBS_BY_FACILITY, list_offered_facilities

PROTOCOL_VERSIONS = (1, 2)
"""The supported versions of the control protocol. If an agent reports no version, it uses the first version."""
MAX_VERSION_CHARACTERS = 20


@dataclass(frozen=True, slots=True)
class SutIdentity:
    """The identity of a SUT: its identifier, the facilities of its control channel, and its public keys."""

    identifier: UUID | None
    facilities: frozenset[str] = frozenset()
    keys: bytes = b""


def describe_unsupported_version(version: object) -> str | None:
    """Return a one-line message if an agent reports a version that is not supported, otherwise None. A version in
    quotes, such as "2", is a string and therefore not a valid version.
    """
    if type(version) is int and version in PROTOCOL_VERSIONS:
        return None
    return (
        f"identity: the agent speaks version {one_line(repr(version), MAX_VERSION_CHARACTERS)} of the control "
        f"protocol; this harness understands {' and '.join(map(str, PROTOCOL_VERSIONS))}, as integers"
    )


def request_identity(control: Control) -> SutIdentity:
    """Request the identity on a control channel. Raise SutUnavailable with a one-line message if the answer is
    missing or invalid.
    """
    try:
        said = control.call("identity")
    except ContractBroken as error:
        raise SutUnavailable(str(error)) from error
    version = said.get("protocol", min(PROTOCOL_VERSIONS))
    if (refused := describe_unsupported_version(version)) is not None:
        raise SutUnavailable(refused)
    try:
        announced = said.get("facilities", said.get("capabilities", ()))  # the former name of the key
        return SutIdentity(
            UUID(said["guid"]),
            frozenset(list_offered_facilities(VERBS_BY_FACILITY, frozenset(announced))),
            base64.b64decode(said.get("public_encryption_keys_base64", ""), validate=True),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise SutUnavailable(
            "identity: the guid is missing, the facilities are not a list, or the keys are not base64: "
            + one_line(str(said), MAX_REASON_CHARACTERS)
        ) from error


def build_sut_view(
    file: SutFile,
    environment: Environment,
    control: Control | None,
    who: SutIdentity,
    tcp_port: int,
    ping_port: int,
    rpc_port: int = 0,
    *,
    reset: bool = True,
    timeouts: Timeouts = VIRTUAL_TIMEOUTS,
) -> Sut:
    """Return one test's view of a SUT. If the SUT supports reset, reset it first."""
    scale = 1
    if control is not None and not environment.is_time_virtual:  # in virtual time each test has its own core
        if "set_timers" in who.facilities:
            scale = control.call("set_timers")["scale"]
        if reset and "reset" in who.facilities:
            control.call("reset")
            if "set_timers" in who.facilities:
                scale = timeouts.scale(file.control.time_scale)
                control.call("set_timers", scale=scale)
    tape = CheckNoteWriter(environment, file.driver.address)
    view = Sut(
        file,
        environment,
        None if control is None else RecordedControl(control, tape),
        identifier=who.identifier,
        facilities=who.facilities | ({"environment"} if file.environment.parts else set()),
        tcp_port=tcp_port,
        ping_port=ping_port,
        rpc_port=rpc_port,
        scale=scale,
        encryption_keys=who.keys,
        timeouts=timeouts,
    )
    view.tape = tape
    view.commanded_environment.set_part = RecordedEnvironmentCommands(view.commanded_environment.set_part, tape)
    view.controls_environment = "environment" in who.facilities
    return view
