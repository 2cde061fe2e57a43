"""What a control channel shows: who the system is, whether it finds the peer, its clock, its queues."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from harness.attach.conversation import Conversation
from harness.attach.probes import Probes
from harness.environment import RealEnvironment
from harness.errors import ConformanceFailure, SutUnavailable
from harness.peer.afterwards import AT_ONCE
from harness.peer.conversation import Session
from harness.peer.peer import PEER_QUEUE
from harness.preflight.findings import Line, State
from harness.preflight.setup import Setup
from harness.sut.control import ContractBroken, Control, ControlRefused
from harness.sut.shown import NotShown
from reference_qm.config import TimerSettings

LIVES_S = 10
"""How long a message to the peer tries to reach it: then nothing of it is left."""
REACHED_MS = 12_000
CLOCK_S = 60
"""How far the clocks may be apart for checks of times (MS-MQMQ 2.2.19.2 SentTime)."""


def identity(setup: Setup) -> Iterator[Line]:
    """Ask the control channel who it is and what it offers, and compare that with who answers sessions."""
    route = setup.route
    if route is None:
        said = "no [control]: what the wire does not show cannot be judged"
        yield Line("control", State.NOT_DECLARED, said, "docs/attach.md says how to get one")
        return
    environment = RealEnvironment()
    try:
        conversation = Conversation(environment, route, setup.timeouts.control_ms)
        probes = Probes(conversation, "preflight")
        probes.identify()
        conversation.close()
    except SutUnavailable as error:
        way_out = "is the agent running, and is [control] right? `mqconform attach --sut FILE` tries each verb"
        yield Line("control", State.MISSING, str(error), way_out, True)
        return
    finally:
        environment.close()
    found = setup.control = probes.found
    named = " ".join(part for part in (found.name, found.version) if part) or "no name"
    said = f"{named}, queue manager {found.guid}, control protocol {found.protocol}, answers in {found.usual_ms} ms"
    yield Line("control", State.OK, said)
    yield Line("facilities", State.OK if found.announced else State.MISSING, ", ".join(found.announced) or "none")
    for problem in found.problems:
        yield Line("facilities", State.WRONG, problem)
    yield from _one_system(setup, found.guid)


def _one_system(setup: Setup, guid: str) -> Iterator[Line]:
    if setup.guid is None:
        yield Line("one system", State.NOT_SEEN, "no session was answered, whose identity could be compared")
    elif UUID(guid) == setup.guid:
        yield Line("one system", State.OK, "sessions and control are of the same queue manager")
    else:
        said = f"sessions are answered by {setup.guid}, control speaks of {guid}"
        way_out = "are address, tcp_port and control.address of one system?"
        yield Line("one system", State.WRONG, said, way_out, True)


def reach(setup: Setup) -> Iterator[Line]:
    """Let the system send a message to the peer's queue: it has to connect."""
    driver = setup.file.driver
    where = f"{driver.peer_address}:{driver.peer_tcp_port}"
    if not setup.peer_can_listen:
        yield Line("peer reached", State.NOT_SEEN, f"the peer cannot listen at {where}")
    elif not setup.offers("send"):
        said = f"whether the system finds the peer at {where} cannot be tried: no control channel that can send"
        yield Line("peer reached", State.NOT_SEEN, said)
    else:
        try:
            yield _reached(setup, where)
        except NotShown as error:
            yield Line("peer reached", State.NOT_SEEN, str(error))
        except (ConformanceFailure, SutUnavailable, OSError) as error:
            yield Line("peer reached", State.WRONG, f"{where}: {error}")


def _reached(setup: Setup, where: str) -> Line:
    to = f"DIRECT=TCP:{setup.file.driver.peer_address}\\{PEER_QUEUE}"
    with setup.peer() as peer, setup.controlled(peer.environment) as control:
        peer.configure(timers=TimerSettings(scale=AT_ONCE))
        peer.listen()
        control.call("send", to=to, label="mqconform preflight", time_to_reach_queue_s=LIVES_S)
        session = peer.await_session(REACHED_MS)
        if session is None:
            way_out = (
                "does a firewall of this machine let the system in, is driver.peer_address the one at which it finds "
                "this machine, and driver.peer_tcp_port the port to which it connects (MSMQ: 1801)?"
            )
            return Line("peer reached", State.MISSING, f"{to}: no connection within {REACHED_MS // 1_000} s", way_out)
        came = session.stream.remote.host
        message = session.poll("UserMessage", within_ms=setup.timeouts.response_ms)
        if message is None:
            way_out = "does anything between them change what they send?"
            return Line(
                "peer reached", State.WRONG, f"{came} connected to {where}, but its message never came", way_out
            )
        peer.environment.run_until(lambda: _acknowledges(session), setup.timeouts.response_ms)
        setup.clock_s = message["UserHeader"].SentTime - peer.environment.now().utc_s
        return Line(
            "peer reached", State.OK, f"{came} connected to {where} and brought the message that it was to send"
        )


def _acknowledges(session: Session) -> bool:
    """Return whether the system was told that its message came: else it would bring it once more."""
    return any(frame.kind == "SessionAck" for frame in session.sent)


def clock(setup: Setup) -> Iterator[Line]:
    """Say how far the system's clock is off, from the message to the peer or from one to itself."""
    if setup.clock_s is None and all(map(setup.offers, ("queue_control", "send", "receive"))):
        environment = RealEnvironment()
        try:
            with setup.controlled(environment) as control:
                setup.clock_s = _seen_in_a_queue(control)
        except (ConformanceFailure, SutUnavailable) as error:
            yield Line("clock", State.NOT_SEEN, f"a message that it sends to itself does not show it: {error}")
            return
        finally:
            environment.close()
    if setup.clock_s is None:
        yield Line("clock", State.NOT_SEEN, "neither a message of the system nor a control channel shows its clock")
        return
    off = (
        f"{abs(setup.clock_s)} s {'fast' if setup.clock_s > 0 else 'slow'}" if setup.clock_s else "right to the second"
    )
    far = abs(setup.clock_s) > CLOCK_S
    way_out = f"set it: checks of times allow {CLOCK_S} s" if far else ""
    yield Line("clock", State.WRONG if far else State.OK, off, way_out)


def _seen_in_a_queue(control: Control) -> int | None:
    """Return by how many seconds the clock is fast that a message in a queue of our own shows."""
    with own_queue(control) as name:
        control.call("send", to=f"DIRECT=OS:.\\{name}", label="mqconform preflight")
        peeked = control.call("peek", queue=name)
    if not peeked["messages"]:
        return None
    sent_s = peeked["messages"][0].get("sent_time")
    return None if sent_s is None else sent_s - int(time.time())


@contextmanager
def own_queue(control: Control) -> Iterator[str]:
    """Yield the name of a queue that control makes, and deletes again; SutUnavailable when it may be left."""
    name = f"private$\\mqc-preflight-{time.time_ns() // 1_000_000:x}"
    control.call("create_queue", name=name)
    try:
        yield name
    finally:
        try:
            control.call("delete_queue", name=name)
        except (ConformanceFailure, SutUnavailable) as error:
            raise SutUnavailable(f"{name} may be left: {error}") from error


def look_into(setup: Setup, names: dict[str, str]) -> Iterator[Line]:
    """Peek into queues, by their key in [queues]."""
    environment = RealEnvironment()
    try:
        with setup.controlled(environment) as control:
            for key, queue in names.items():
                yield _peeked(control, key, queue)
    except SutUnavailable as error:
        yield Line("queues", State.NOT_SEEN, str(error))
    finally:
        environment.close()


def _peeked(control: Control, key: str, queue: str) -> Line:
    try:
        control.call("peek", queue=queue, limit=1)
    except NotShown as error:
        return Line("queues", State.NOT_SEEN, f"{key} {queue}: {error}")
    except ContractBroken as error:
        return Line("queues", State.WRONG, str(error))
    except ControlRefused as error:
        return Line("queues", State.MISSING, f"{key} {queue}: {error}", f"make it, or name another as queues.{key}")
    return Line("queues", State.OK, f"{key} {queue} can be read")
