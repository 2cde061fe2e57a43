"""Test whether the system's identity differs from the peer's, and whether the system finds the peer. Also test whether
messages to the names and queues of the system arrive.

Every message requests an acknowledgment from the system to the peer. So one exchange tests the route to the system, its
name in the format name, and whether the queue exists and is of the expected kind (MS-MQMQ 2.2.18.1.6). If no
acknowledgment arrives, the control channel or a remote reader inspects the queue, if either is available.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from harness.errors import ConformanceFailure, SutUnavailable
from harness.peer.afterwards import TIME_SCALE_FOR_IMMEDIATE_ACKS
from harness.peer.conversation import Session
from harness.peer.peer import PEER_QUEUE, Peer
from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.prerequisites.system import SystemWithCheckedPrerequisites
from harness.sut.control import Control, ControlRefused
from harness.sut.shown import NotShown
from harness.sut.sut_file import SutFile
from reference_qm.codec import MessageClass
from reference_qm.config import TimerSettings
from reference_qm.surface.commands import Result, SendMessage

IDENTITY_SUBJECT, PEER_REACHED_SUBJECT, TCP_NAME_SUBJECT, OS_NAME_SUBJECT, QUEUES_SUBJECT = (
    "identity",
    "peer reached",
    "name TCP",
    "name OS",
    "queues",
)
PROVISIONED_QUEUE_KEYS = ("plain", "transactional", "admin")
"""The keys of [queues] whose queues checks use when the system cannot create queues."""
MESSAGE_LIFETIME_S = 10
"""int s: the time after which a test message expires, either on its way or in a queue, so that the message leaves
no residue.
"""
TIMEOUT_FOR_REACHING_PEER_MS = 12_000
PEER_TIME_SCALE = 10
"""The factor by which the peer acknowledges messages faster than specified while it waits for acknowledgments."""
UNUSED_PRIVATE_QUEUE_NUMBER = 0x7FFF_FFFE
"""A number that no private queue has. If the system accepts the computer name as its own name, it refuses a message
to this queue.
"""

_FINDING_BY_REFUSAL: Mapping[int, tuple[PrerequisiteState, str]] = {
    MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q: (
        PrerequisiteState.MISSING,
        "the server answered that the queue does not exist",
    ),
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q: (
        PrerequisiteState.WRONG,
        "the server answered that the queue is not transactional",
    ),
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG: (
        PrerequisiteState.WRONG,
        "the server answered that the queue is transactional",
    ),
}
_QUEUE_NOT_FOUND_STATUS_NAME = "MQ_ERROR_QUEUE_NOT_FOUND"
_REMEDY_FOR_UNREACHED_PEER = (
    "let the system in through the firewall of this machine, correct driver.peer_address to the address at which it "
    "finds this machine, or driver.peer_tcp_port to the port to which it connects (MSMQ: 1801)"
)
_REMEDY_FOR_NAME_OF_OTHER_SYSTEM = (
    "correct driver.address to an address that the system itself has (in a host-only network, not behind a "
    "forwarded port), or set IgnoreOSNameValidation = 1 at the system: Windows discards messages to a name "
    "that is not its own (KB306785, KB306416)"
)


@dataclass(frozen=True, slots=True)
class _TargetQueue:
    """A queue that a format name addresses. ``queue_key_in_sut_file``: the queue's key in [queues], or an empty string
    if the tester created the queue.
    """

    name: str
    queue: str
    subject: str
    queue_key_in_sut_file: str = ""

    @property
    def transactional(self) -> bool:
        """Return whether the queue accepts only transactional messages."""
        return self.queue_key_in_sut_file == "transactional"


@dataclass(slots=True)
class _SentTestMessage:
    """A message that was sent to a target. ``acknowledged``: the class of its acknowledgment. ``has_arrived``: whether
    the message is in the queue, or None while this is unknown.
    """

    target: _TargetQueue
    ordinal: int
    acknowledged: int | None = None
    has_arrived: bool | None = None
    refusal: str = ""
    """The reason why the queue cannot be read, or an empty string if the queue was read."""

    @property
    def takes_messages(self) -> bool:
        """Whether a message reached the queue. This is known if the message was found in the queue or was
        acknowledged.
        """
        return self.acknowledged is not None or bool(self.has_arrived)

    @property
    def is_queue_missing(self) -> bool:
        """Whether the queue is known to be missing, rather than only inaccessible to the tester."""
        return _QUEUE_NOT_FOUND_STATUS_NAME in self.refusal


def check_delivery_both_ways(system: SystemWithCheckedPrerequisites, *, reached: bool) -> Iterator[PrerequisiteFinding]:
    """Check the route from the system to the peer and back. ``reached``: whether the system has reached the peer."""
    found = [] if reached else [*check_peer_is_reached(system)]
    yield from found
    known = True if reached else is_peer_reached(found)
    yield from (
        line for line in check_message_arrival(system, known) if line.subject != PEER_REACHED_SUBJECT or not found
    )


def is_peer_reached(lines: Sequence[PrerequisiteFinding]) -> bool | None:
    """Return whether the system finds the peer, or None while this is unknown."""
    states = {line.state for line in lines if line.subject == PEER_REACHED_SUBJECT}
    return True if PrerequisiteState.OK in states else False if PrerequisiteState.MISSING in states else None


def check_identity(file: SutFile, guid: UUID | None) -> PrerequisiteFinding:
    """Check that the system and the peer have different identifiers. If they have the same identifier, each of them
    mistakes the other for itself.
    """
    peer, key = file.driver.peer_identifier, "driver.peer_identifier"
    if guid is None:
        return PrerequisiteFinding(
            IDENTITY_SUBJECT, PrerequisiteState.NOT_SEEN, "the system does not answer a request for a session"
        )
    if guid == peer:
        said = (
            f"{file.label} gives the tester's peer the identifier {peer} ({key}), which is also the system's identifier"
        )
        return PrerequisiteFinding(IDENTITY_SUBJECT, PrerequisiteState.WRONG, said, f"change {key}")
    return PrerequisiteFinding(
        IDENTITY_SUBJECT, PrerequisiteState.OK, f"the system is queue manager {guid}, which differs from the peer"
    )


# -- the route to the peer --------------------------------------------------------------------------------------------


def check_peer_is_reached(system: SystemWithCheckedPrerequisites) -> Iterator[PrerequisiteFinding]:
    """Let the system send a message to the peer's queue, so that the system must connect to the peer. If the
    control channel cannot make the system send, yield no line.
    """
    if not system.offers_facility("send"):
        return
    try:
        yield _check_peer_reached_by_system(system)
    except NotShown as error:
        yield PrerequisiteFinding(PEER_REACHED_SUBJECT, PrerequisiteState.NOT_SEEN, str(error))
    except (ConformanceFailure, SutUnavailable, OSError) as error:
        yield PrerequisiteFinding(
            PEER_REACHED_SUBJECT, PrerequisiteState.WRONG, f"{describe_peer_address_and_port(system)}: {error}"
        )


def describe_peer_address_and_port(system: SystemWithCheckedPrerequisites) -> str:
    """Return the address and port at which the system should reach the peer."""
    driver = system.file.driver
    return f"{driver.peer_address}:{driver.peer_tcp_port}"


def _check_peer_reached_by_system(system: SystemWithCheckedPrerequisites) -> PrerequisiteFinding:
    to, place = f"DIRECT=TCP:{system.file.driver.peer_address}\\{PEER_QUEUE}", describe_peer_address_and_port(system)
    with system.peer() as peer, system.open_control(peer.environment) as control:
        peer.configure(timers=TimerSettings(scale=TIME_SCALE_FOR_IMMEDIATE_ACKS))
        peer.listen()
        control.call("send", to=to, label="mqconform preflight", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
        session = peer.await_session(TIMEOUT_FOR_REACHING_PEER_MS)
        if session is None:
            said = f"the system sent no message to {to}: no connection within {TIMEOUT_FOR_REACHING_PEER_MS // 1_000} s"
            return PrerequisiteFinding(
                PEER_REACHED_SUBJECT,
                PrerequisiteState.MISSING,
                f"{_build_unreached_peer_finding(system)}; {said}",
                _REMEDY_FOR_UNREACHED_PEER,
            )
        came = session.stream.remote.host
        message = session.poll("UserMessage", within_ms=system.timeouts.response_ms)
        if message is None:
            remedy = "check for a device between the system and the peer that changes their packets"
            return PrerequisiteFinding(
                PEER_REACHED_SUBJECT,
                PrerequisiteState.WRONG,
                f"{came} connected to {place}, but its message never arrived",
                remedy,
            )
        peer.environment.run_until(lambda: _has_acknowledgment(session), system.timeouts.response_ms)
        system.clock_s = message["UserHeader"].SentTime - peer.environment.now().utc_s
        return PrerequisiteFinding(
            PEER_REACHED_SUBJECT,
            PrerequisiteState.OK,
            f"{came} connected to {place} and delivered the requested message",
        )


def _build_unreached_peer_finding(system: SystemWithCheckedPrerequisites) -> str:
    place = f"{describe_peer_address_and_port(system)} (driver.peer_address, driver.peer_tcp_port)"
    return f"{system.file.label} gives the tester's peer the address {place}, but the system does not connect to it"


def _has_acknowledgment(session: Session) -> bool:
    """Return whether the system received the acknowledgment of its message. Otherwise the system would send the
    message again.
    """
    return any(frame.kind == "SessionAck" for frame in session.sent)


# -- arriving messages -----------------------------------------------------------------------------------------------


def check_message_arrival(
    system: SystemWithCheckedPrerequisites, reached: bool | None
) -> Iterator[PrerequisiteFinding]:
    """Send test messages to the queues of the system, and use each of the system's names. ``reached``: whether the
    system finds the peer, or None if this is unknown. Yield a line for each form of name, and a line for each queue of
    [queues] that checks use. If ``reached`` is None, first yield a line that states whether the system finds the peer.
    """
    label = f"mqconform {time.time_ns():x}"
    try:
        with ExitStack() as stack:
            targets = _list_target_queues(system, stack)
            peer = stack.enter_context(system.peer())
            sent, refused = _exchange_test_messages(system, peer, targets, label, reached)
            connected = any(one.sut_role == "initiator" for one in peer.recorder.connections)
            answered = refused or any(one.acknowledged is not None for one in sent)
            _note_arrivals(system, sent, label)
    except (ConformanceFailure, SutUnavailable, OSError) as error:
        yield PrerequisiteFinding(TCP_NAME_SUBJECT, PrerequisiteState.NOT_SEEN, str(error))
        return
    if reached is None:
        yield _judge_reach_by_acknowledgments(system, sent, connected, answered)
    comes_back = bool(reached or connected or answered)
    yield from _list_findings_about_name_forms(system, sent, comes_back)
    yield from _list_queue_findings(system.file.label, sent)


def _list_target_queues(system: SystemWithCheckedPrerequisites, stack: ExitStack) -> list[_TargetQueue]:
    """Return the queues to which test messages are sent. If the system cannot create queues, these are the queues
    in the SUT file.
    """
    address, host = f"DIRECT=TCP:{system.file.driver.address}", f"DIRECT=OS:{system.host_name}"
    if system.offers_facility("queue_control"):
        control = stack.enter_context(_open_test_control(system))
        own = stack.enter_context(create_temporary_queue(control))
        found = [_TargetQueue(f"{address}\\{own}", own, TCP_NAME_SUBJECT)]
    else:
        names = {key: getattr(system.file.queues, key) for key in PROVISIONED_QUEUE_KEYS}
        found = [_TargetQueue(f"{address}\\{queue}", queue, TCP_NAME_SUBJECT, key) for key, queue in names.items()]
    if system.host_name:
        found.append(replace(found[0], name=f"{host}\\{found[0].queue}", subject=OS_NAME_SUBJECT))
    return found


@contextmanager
def _open_test_control(system: SystemWithCheckedPrerequisites) -> Iterator[Control]:
    from harness.environment import RealEnvironment

    environment = RealEnvironment()
    try:
        with system.open_control(environment) as control:
            yield control
    finally:
        environment.close()


def _exchange_test_messages(
    system: SystemWithCheckedPrerequisites, peer: Peer, targets: list[_TargetQueue], label: str, reached: bool | None
) -> tuple[list[_SentTestMessage], bool]:
    """Send the messages and wait for answers; return the messages, and whether the system refused the message to a
    missing queue.
    """
    peer.configure(timers=TimerSettings(scale=PEER_TIME_SCALE))
    peer.listen()
    peer.open_session()  # raises ConformanceFailure immediately if no session can be opened
    sent = [
        _SentTestMessage(target, _send_message(peer, target.name, label, transactional=target.transactional))
        for target in targets
    ]
    nowhere = (
        _send_message(peer, f"PRIVATE={system.guid}\\{UNUSED_PRIVATE_QUEUE_NUMBER:08X}", label)
        if system.guid is not None
        else None
    )

    def find_answering_systems() -> list[bool]:
        found = dict(_list_acknowledgments(peer))
        for one in sent:
            one.acknowledged = found.get(one.ordinal)
        return [one.acknowledged is not None for one in sent]

    within_ms = (
        system.timeouts.response_ms
        if reached is False
        else max(TIMEOUT_FOR_REACHING_PEER_MS, system.timeouts.response_ms)
    )
    # Many systems do not answer a message that they refuse.
    if peer.environment.run_until(lambda: any(find_answering_systems()), within_ms):
        peer.environment.run_until(lambda: all(find_answering_systems()), system.timeouts.response_ms)
    peer.environment.run_until(lambda: _has_acknowledged_all_messages(peer), system.timeouts.response_ms)
    return sent, nowhere in dict(_list_acknowledgments(peer))


def _has_acknowledged_all_messages(peer: Peer) -> bool:
    """Return whether the system received the acknowledgments of all its messages. Otherwise the system would send
    the messages to a later peer.
    """
    for connection in peer.recorder.connections:
        kinds = [(frame.kind, frame.from_sut) for frame in connection.frames]
        if ("UserMessage", True) in kinds and ("SessionAck", False) not in kinds:
            return False
    return True


def _send_message(peer: Peer, to: str, label: str, *, transactional: bool = False) -> int:
    """Send a message that requests an acknowledgment of its arrival; return the ordinal of the message."""
    answer = peer.host.ask(
        SendMessage(
            to,
            label=label,
            transactional=transactional,
            acks=frozenset({"positive_arrival", "negative_arrival"}),
            admin_queue=f"DIRECT=TCP:{peer.address}\\{PEER_QUEUE}",
            time_to_reach_queue_s=MESSAGE_LIFETIME_S,
            time_to_be_received_s=MESSAGE_LIFETIME_S,
        )
    )
    if not isinstance(answer, Result):
        raise ConformanceFailure(f"the tester's peer cannot send to {to}: {answer}")
    return int(str(answer.values["message_id"]).rpartition("\\")[2])


def _list_acknowledgments(peer: Peer) -> Iterator[tuple[int, int]]:
    """Yield the ordinal of each message from the peer that was acknowledged or refused, and the class of the
    acknowledgment.
    """
    for frame in peer.recorder.frames:
        message = frame.message if frame.from_sut else None
        if message is None or message.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK:
            continue
        if message.acknowledged_message_identifier.QueueManagerGuid == peer.identifier:
            yield message.acknowledged_message_identifier.Ordinal, message.MessageClass


def _note_arrivals(system: SystemWithCheckedPrerequisites, sent: list[_SentTestMessage], label: str) -> None:
    """If the queues can be read, determine which of the unacknowledged messages arrived."""
    if not system.can_read_queues or all(one.acknowledged is not None for one in sent):
        return
    with system.open_queue_reader() as control:
        for one in sent:
            if one.acknowledged is not None:
                continue
            try:
                shown = control.call("peek", queue=one.target.queue)["messages"]
            except (ControlRefused, NotShown) as error:
                one.refusal = str(error)
            else:
                one.has_arrived = any(message.get("label") == label for message in shown)


def _judge_reach_by_acknowledgments(
    system: SystemWithCheckedPrerequisites, sent: list[_SentTestMessage], connected: bool, answered: bool
) -> PrerequisiteFinding:
    place = describe_peer_address_and_port(system)
    if connected:
        return PrerequisiteFinding(PEER_REACHED_SUBJECT, PrerequisiteState.OK, f"the system connected to {place}")
    if answered:
        said = f"the system answers on an open session, so it is unknown whether it finds the peer at {place}"
        return PrerequisiteFinding(PEER_REACHED_SUBJECT, PrerequisiteState.NOT_SEEN, said)
    if all(one.has_arrived is False or one.is_queue_missing for one in sent):
        return PrerequisiteFinding(
            PEER_REACHED_SUBJECT,
            PrerequisiteState.NOT_SEEN,
            f"no message arrived, so no acknowledgment to {place} can be expected",
        )
    to, seen = sent[0].target.name, any(one.has_arrived for one in sent)
    said = f"no connection and no answer within {TIMEOUT_FOR_REACHING_PEER_MS // 1_000} s of a message to {to}"
    remedy = (
        _REMEDY_FOR_UNREACHED_PEER if seen else f"{_REMEDY_FOR_UNREACHED_PEER}. Or {_REMEDY_FOR_NAME_OF_OTHER_SYSTEM}"
    )
    return PrerequisiteFinding(
        PEER_REACHED_SUBJECT, PrerequisiteState.MISSING, f"{_build_unreached_peer_finding(system)}; {said}", remedy
    )


def _list_findings_about_name_forms(
    system: SystemWithCheckedPrerequisites, sent: list[_SentTestMessage], comes_back: bool
) -> Iterator[PrerequisiteFinding]:
    """Yield a line for each form of name. The system accepts a form if at least one message to a name of this form
    arrived or was refused.
    """
    for subject in (TCP_NAME_SUBJECT, OS_NAME_SUBJECT):
        of_name = [one for one in sent if one.target.subject == subject]
        if not of_name:
            yield PrerequisiteFinding(
                subject,
                PrerequisiteState.NOT_SEEN,
                "the host name of the system is unknown, because there is no control channel",
            )
            continue
        name = of_name[0].target.name
        key = "driver.address" if subject == TCP_NAME_SUBJECT else "the host name"
        reached_at = f"{system.file.label} gives the system the address {name.partition(chr(92))[0]} ({key})"
        if any(one.takes_messages for one in of_name):
            yield PrerequisiteFinding(subject, PrerequisiteState.OK, f"messages to {name.partition(chr(92))[0]} arrive")
        elif all(one.is_queue_missing for one in of_name):
            refusal = of_name[0].refusal
            said = f"{reached_at}, but the system does not find its queues under this address: {name}: {refusal}"
            yield PrerequisiteFinding(subject, PrerequisiteState.MISSING, said, _REMEDY_FOR_NAME_OF_OTHER_SYSTEM)
        elif any(one.has_arrived is False for one in of_name):
            yield PrerequisiteFinding(
                subject,
                PrerequisiteState.MISSING,
                f"{reached_at}, but a message to {name} did not arrive",
                _REMEDY_FOR_NAME_OF_OTHER_SYSTEM,
            )
        elif comes_back:
            said = f"{reached_at}, but a message to {name} was neither acknowledged nor refused"
            yield PrerequisiteFinding(subject, PrerequisiteState.MISSING, said, _REMEDY_FOR_NAME_OF_OTHER_SYSTEM)
        else:
            yield PrerequisiteFinding(
                subject,
                PrerequisiteState.NOT_SEEN,
                f"the arrival of a message to {name} cannot be observed, because no acknowledgment can reach the peer",
            )


def _list_queue_findings(file: str, sent: list[_SentTestMessage]) -> Iterator[PrerequisiteFinding]:
    """Yield a line for each queue of [queues] whose state is known. ``file``: the name of the SUT file, for
    messages.
    """
    of_address = [one for one in sent if one.target.subject == TCP_NAME_SUBJECT]
    other = next((one.target.queue for one in of_address if one.takes_messages), None)
    for one in of_address:
        key = one.target.queue_key_in_sut_file
        if not key:
            continue
        kind = "transactional" if one.target.transactional else "nontransactional"
        named = f"{file} names {one.target.queue} as queues.{key}"
        if one.has_arrived or one.acknowledged == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE:
            yield PrerequisiteFinding(
                QUEUES_SUBJECT,
                PrerequisiteState.OK,
                f"{one.target.queue} (queues.{key}) accepts {kind} messages",
                about=key,
            )
            continue
        state, why = _explain_refused_message(one, other)
        if why:
            first = f"name a {kind} queue" if state is PrerequisiteState.WRONG else "check the spelling"
            yield PrerequisiteFinding(
                QUEUES_SUBJECT,
                state,
                f"{named}, but {why}",
                f"{first}, or create a {kind} queue of this name",
                about=key,
            )


def _explain_refused_message(refused: _SentTestMessage, other: str | None) -> tuple[PrerequisiteState, str]:
    """Return the reason why a queue accepts no message, or an empty string if the reason is unknown. ``other``: a
    queue that accepted a message.
    """
    if refused.acknowledged is not None:
        number = f"0x{refused.acknowledged:04X}"
        return _FINDING_BY_REFUSAL.get(
            refused.acknowledged, (PrerequisiteState.WRONG, f"the server refused a message with class {number}")
        )
    if other is None:
        return PrerequisiteState.MISSING, ""
    if refused.is_queue_missing:
        return (
            PrerequisiteState.MISSING,
            f"the server answered that the queue does not exist ({_QUEUE_NOT_FOUND_STATUS_NAME})",
        )
    not_opened = f" (and it cannot be opened: {refused.refusal})" if refused.refusal else ""
    return PrerequisiteState.MISSING, f"no message arrives there, although messages arrive in {other}{not_opened}"


@contextmanager
def create_temporary_queue(control: Control) -> Iterator[str]:
    """Create a queue through the control channel, yield its name, and delete the queue afterwards; raise SutUnavailable
    if the queue may still exist.
    """
    name = f"private$\\mqc-preflight-{time.time_ns() // 1_000_000:x}"
    control.call("create_queue", name=name)
    try:
        yield name
    finally:
        try:
            control.call("delete_queue", name=name)
        except (ConformanceFailure, SutUnavailable) as error:
            raise SutUnavailable(
                f"the queue {name} was not deleted and could still exist in the system: {error}"
            ) from error
