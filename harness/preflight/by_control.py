"""Check the control channel: the identity of the system, its clock and its queues."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import UUID

from harness.attach.conversation import Conversation
from harness.attach.probes import AgentProbes
from harness.environment import RealEnvironment
from harness.errors import ConformanceFailure, SutUnavailable
from harness.preflight.setup import RunSetup
from harness.prerequisites.asking import create_temporary_queue
from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.sut.control import ContractBroken, Control, ControlRefused
from harness.sut.shown import NotShown

LARGEST_CLOCK_ERROR_S = 60
"""int s: the maximum difference between the clocks of system and tester that checks of times tolerate (MS-MQMQ 2.2.19.2
SentTime).
"""


def check_identity(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Request the system's identity and facilities on the control channel, and compare this identity with the
    identity in sessions.
    """
    route = setup.route
    if route is None and (commands := setup.file.commands):
        yield PrerequisiteFinding(
            "control",
            PrerequisiteState.NOT_SEEN,
            f"preflight does not execute the commands in [commands] ({', '.join(commands)}); a run executes them",
        )
        return
    if route is None:
        said = "[control] is missing, so rules about facts that packets do not show cannot be judged"
        yield PrerequisiteFinding(
            "control", PrerequisiteState.NOT_DECLARED, said, "docs/attach.md explains how to add a control channel"
        )
        return
    environment = RealEnvironment()
    try:
        conversation = Conversation(environment, route, setup.timeouts.control_ms)
        probes = AgentProbes(conversation, "preflight")
        probes.request_identity()
        conversation.close()
    except SutUnavailable as error:
        remedy = "check that the agent runs, and that [control] is right; `mqconform attach --sut FILE` tries each verb"
        yield PrerequisiteFinding("control", PrerequisiteState.MISSING, str(error), remedy, True)
        return
    finally:
        environment.close()
    found = setup.control = probes.found
    setup.facilities, setup.host_name = frozenset(found.announced), found.name or None
    named = " ".join(part for part in (found.name, found.version) if part) or "no name"
    said = f"{named}, queue manager {found.guid}, control protocol {found.protocol}, answers in {found.usual_ms} ms"
    yield PrerequisiteFinding("control", PrerequisiteState.OK, said)
    yield PrerequisiteFinding(
        "facilities",
        PrerequisiteState.OK if found.announced else PrerequisiteState.MISSING,
        ", ".join(found.announced) or "none",
    )
    for problem in found.problems:
        yield PrerequisiteFinding("facilities", PrerequisiteState.WRONG, problem)
    yield from _compare_identifiers(setup, found.guid)


def _compare_identifiers(setup: RunSetup, guid: str) -> Iterator[PrerequisiteFinding]:
    if setup.guid is None:
        yield PrerequisiteFinding(
            "one system",
            PrerequisiteState.NOT_SEEN,
            "the system answered no request for a session, so there is no second identity to compare with",
        )
    elif UUID(guid) == setup.guid:
        yield PrerequisiteFinding(
            "one system", PrerequisiteState.OK, "sessions and the control channel belong to the same queue manager"
        )
    else:
        said = f"queue manager {setup.guid} answers sessions, but {guid} answers on the control channel"
        remedy = "set address, tcp_port and control.address to those of one system"
        yield PrerequisiteFinding("one system", PrerequisiteState.WRONG, said, remedy, True)


def check_clock(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Return a finding about the error of the system's clock. The error is measured by a message to the peer or by
    a message that the system sends to itself.
    """
    if setup.clock_s is None and all(map(setup.offers_facility, ("queue_control", "send", "receive"))):
        environment = RealEnvironment()
        try:
            with setup.open_control(environment) as control:
                setup.clock_s = _measure_clock_in_queue(control)
        except (ConformanceFailure, SutUnavailable) as error:
            yield PrerequisiteFinding(
                "clock",
                PrerequisiteState.NOT_SEEN,
                f"the clock cannot be read from a message that the system sends to itself: {error}",
            )
            return
        finally:
            environment.close()
    if setup.clock_s is None:
        yield PrerequisiteFinding(
            "clock",
            PrerequisiteState.NOT_SEEN,
            "neither a message from the system nor a control channel shows the system's clock",
        )
        return
    off = (
        f"{abs(setup.clock_s)} s {'fast' if setup.clock_s > 0 else 'slow'}"
        if setup.clock_s
        else "correct to the second"
    )
    far = abs(setup.clock_s) > LARGEST_CLOCK_ERROR_S
    remedy = f"set the system's clock: checks of times accept an error of {LARGEST_CLOCK_ERROR_S} s" if far else ""
    yield PrerequisiteFinding("clock", PrerequisiteState.WRONG if far else PrerequisiteState.OK, off, remedy)


def _measure_clock_in_queue(control: Control) -> int | None:
    """Return the number of seconds by which the clock is fast. The measurement creates a queue, and sends a message
    to it.
    """
    with create_temporary_queue(control) as name:
        control.call("send", to=f"DIRECT=OS:.\\{name}", label="mqconform preflight")
        peeked = control.call("peek", queue=name)
    if not peeked["messages"]:
        return None
    sent_s = peeked["messages"][0].get("sent_time")
    return None if sent_s is None else sent_s - int(time.time())


def peek_into_queues(setup: RunSetup, names: dict[str, str]) -> Iterator[PrerequisiteFinding]:
    """Peek at the first message of each queue whose key in [queues] is given."""
    environment = RealEnvironment()
    try:
        with setup.open_control(environment) as control:
            for key, queue in names.items():
                yield _try_peek(control, key, queue)
    except SutUnavailable as error:
        yield PrerequisiteFinding("queues", PrerequisiteState.NOT_SEEN, str(error))
    finally:
        environment.close()


def _try_peek(control: Control, key: str, queue: str) -> PrerequisiteFinding:
    try:
        control.call("peek", queue=queue, limit=1)
    except NotShown as error:
        return PrerequisiteFinding("queues", PrerequisiteState.NOT_SEEN, f"{key} {queue}: {error}")
    except ContractBroken as error:
        return PrerequisiteFinding("queues", PrerequisiteState.WRONG, str(error))
    except ControlRefused as error:
        return PrerequisiteFinding(
            "queues",
            PrerequisiteState.MISSING,
            f"{key} {queue}: {error}",
            f"create the queue, or name an existing queue as queues.{key}",
        )
    return PrerequisiteFinding("queues", PrerequisiteState.OK, f"{key} {queue} can be read")
