"""Define the system under test as a check sees it, independent of the driver."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from harness.capture.recorder import Recorder
from harness.environment import Environment
from harness.errors import ConformanceFailure, HarnessError, SutLost, SutUnavailable
from harness.sut.control import Control, Unsupported
from harness.sut.observed_control import AnswerListener, ObservedControl
from harness.sut.outcomes import get_label, get_outcome_of_call
from harness.sut.own_queues import QueuesOfTest
from harness.sut.provisioning import load_sut_keys
from harness.sut.shown import NotShown, parse_reply
from harness.sut.stand_ins import ALTERNATIVE_NEED_BY_NAME, add_needs_met_by_facilities, list_needs_met_by_file
from harness.sut.surroundings import build_environment_changed_by_commands
from harness.sut.sut_file import CAPABILITIES, KNOWN_PEER_CAPABILITIES, SutFile
from harness.sut.timeouts import ANSWER_TIMES_PER_TIMER, VIRTUAL_TIMEOUTS, Timeouts
from harness.varying.variant import RowVariant
from harness.varying.varied_control import VariedControl
from reference_qm.control import VERBS_BY_FACILITY
from reference_qm.surface.inputs import Endpoint

SESSION_RETRY_MS = 5_000
"""int ms: the Session Retry Connect Timer (MS-MQQB 3.1.2.3, note <45>)."""
TIME_UNTIL_DIRECTORY_IS_ONLINE_MS = 60_000
"""int ms: the Directory Online Timer (MS-MQDMPR 3.1.2.5)."""

ENVIRONMENT_PARTS_NEEDED_TO_ANSWER = ("store", "service")
"""The parts of the environment that the system needs to answer requests."""
ENVIRONMENT_PARTS_THAT_IDENTIFY_THE_SUT = ("own_domain", "registration")
"""The parts of the environment from which the system determines its identity when it starts."""
ENVIRONMENT_PARTS_NOTICED_AT_START = ("store", "configuration", "domain", "own_domain", "registration")
"""The parts of the environment whose restoration the system notices only when it starts or when a timer expires."""


class EnvironmentNotRestored(Exception):
    """Raised when a part of the environment is still changed, although a command reported that it restored this
    part.
    """


class CheckNotesInterface(Protocol):
    """The interface to the notes in the capture of a check. The notes are either written or replayed."""

    def begin(self, recorder: Recorder, sut: Sut, run: str, test: str) -> None:
        """Begin the notes of a check."""

    def lose(self, why: str) -> None:
        """Record that the capture lacks information that influences the check."""

    def record_observation(self, what: str, found: str | None) -> str | None:
        """Record an observation about the system that packets do not show, or None if nothing was observed yet.
        Return the observation to use.
        """

    def end(self) -> None:
        """End the notes of a check. This method is called before the changes that the check made are undone."""


class Sut(QueuesOfTest):
    """The system under test as one test sees it."""

    def __init__(
        self,
        file: SutFile,
        environment: Environment,
        control: Control | None,
        *,
        identifier: UUID | None,
        facilities: frozenset[str],
        tcp_port: int,
        ping_port: int,
        scale: int,
        encryption_keys: bytes = b"",
        rpc_port: int = 0,
        own: str = "own",
        shared: bool = False,
        timeouts: Timeouts = VIRTUAL_TIMEOUTS,
    ) -> None:
        super().__init__(file, control, facilities, own)
        self.timeouts = timeouts
        self.environment = environment
        self.tape: CheckNotesInterface | None = None
        """The notes in the capture. They record everything except the packets that is needed to replay the test.
        """
        self.identifier = identifier
        self.tcp_port = tcp_port
        self.ping_port = ping_port
        self.scale = scale
        self.rpc_port = rpc_port
        """The port at which the SUT offers the RPC interfaces qmcomm and qm2qm."""
        self.shown_keys = encryption_keys
        """The PublicEncryptionKeyList (MQDSPUBLICKEYS) that the control channel shows, or empty if the channel
        shows none.
        """
        self.encryption_keys = encryption_keys or base64.b64decode(file.provisioned.public_encryption_keys_base64)
        """The SUT's PublicEncryptionKeyList (MQDSPUBLICKEYS) from the control channel or the SUT file, or empty if
        neither contains the list.
        """
        self.shared = shared
        """Whether other tests use the SUT at the same time."""
        self.must_repeat_alone = False
        """Whether this test affects other tests that use the SUT, and must therefore be repeated without them."""
        self.residue: list[str] = []
        """The changes of this test that could not be undone at its end."""
        self.knows_peer = True
        """Whether this test's peer is the peer that the SUT file describes. The SUT knows no other peer."""
        self.forgets = False
        """Whether the SUT is reset before the next test."""
        self.peer_returns = False
        """Whether later tests use the same peer or peer address. Such tests would receive the messages that the SUT
        stores for this test's peer.
        """
        self.process_ended: Callable[[float], str | None] = lambda within_s: None
        """The function that waits for the given number of seconds for the end of the SUT's process. It returns a
        description of how the process ended, or None while the process runs.
        """
        self.hangs: Callable[[], bool] = lambda: False
        """The function that returns whether the SUT is known to be in an endless computation."""
        self.restarted = False
        """Whether the test restarted the SUT."""
        self._timers: dict[str, int] = {}
        """The original durations of the timers that ``set_timers`` changed in this test."""
        self._settings: dict[str, Any] = {}
        """The original values of the settings that ``configure`` changed in this test."""
        self.open_systems: Callable[[], dict[str, Any]] | None = None
        """The function that returns the three systems of a topology in this test's environment, by role."""
        self.found_at_port = 0
        """For each system of a topology, by role, the port at which the other systems reach it."""
        self._offline = False
        """Whether this test took the SUT off the network."""
        self._surroundings: dict[str, Any] = {}
        """The original states of the parts of the environment that ``change_environment`` has changed, by part."""
        self.controls_environment = True
        """Whether the control channel can also change the environment."""
        self.commanded_environment = build_environment_changed_by_commands(file.environment)
        """The parts of the environment that commands of the SUT file can change."""
        self.broken: str | None = None
        """A one-line message about the parts of the environment that could not be restored, or None if all were
        restored.
        """

    def lose(self, why: str) -> None:
        """Record that the capture lacks information that influences this test."""
        if self.tape is not None:
            self.tape.lose(why)

    # -- identity and configuration -----------------------------------------------------------------------------

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint at which the SUT accepts sessions."""
        return Endpoint(self.address, self.tcp_port)

    @property
    def guid(self) -> UUID:
        """The QueueManager.Identifier. Raise ConformanceFailure if neither the control channel nor a session has
        shown it.
        """
        if self.identifier is None:
            raise ConformanceFailure(
                "the SUT's QueueManager.Identifier is unknown, because the SUT did not answer an EstablishConnection"
            )
        return self.identifier

    @property
    def receiving_keys(self) -> bytes:
        """The keys with which messages to the SUT are encrypted. They are the keys that the SUT shows or, if it
        shows none, the keys of ``mqconform provision``.
        """
        return self.encryption_keys or load_sut_keys()

    @property
    def operating_system_type(self) -> str:
        """The OperatingSystemType (MS-MQDMPR 3.1.1.1). A check that reads it has the need ``operating_system``."""
        return self.file.provisioned.operating_system_type or str(self.inspect_queue_manager()["OperatingSystemType"])

    @property
    def is_directory_integrated(self) -> bool:
        """Whether the SUT file declares that the SUT is integrated with a directory."""
        return self.file.capabilities.get("directory", False)

    @property
    def reads_remotely(self) -> bool:
        """Whether checks read the SUT's queues over qm2qm. Such reading does not show how a message was
        authenticated.

        An agent with the facility ``receive`` can also make the SUT itself read remotely (``remote_read``).
        """
        return "receive" in self.facilities and "remote_read" not in self.facilities

    def has(self, need: str) -> bool:
        """Return whether the SUT has a capability or a facility. Capabilities are declared in the SUT file;
        facilities are announced by the control channel.
        """
        if need in CAPABILITIES:
            return self.file.capabilities.get(need, False) and (self.knows_peer or need not in KNOWN_PEER_CAPABILITIES)
        if need in ALTERNATIVE_NEED_BY_NAME:
            return need in add_needs_met_by_facilities(self.facilities) | list_needs_met_by_file(self.file)
        if need in VERBS_BY_FACILITY:
            return need in self.facilities
        known = ", ".join([*CAPABILITIES, *VERBS_BY_FACILITY, *ALTERNATIVE_NEED_BY_NAME])
        raise HarnessError(f"unknown need {need!r}; known: {known}")

    # -- time ---------------------------------------------------------------------------------------------------

    @property
    def response_timeout_ms(self) -> int:
        """How long to wait for an immediate reaction of the SUT (int ms)."""
        return self.timeouts.response_ms

    @property
    def connect_timeout_ms(self) -> int:
        """How long to wait for the SUT to open a session (int ms). This is twice the retry time of the SUT, because
        an attempt may fail while the SUT is busy.
        """
        return self.duration_ms(2 * SESSION_RETRY_MS) + self.slack_ms(2 * SESSION_RETRY_MS) + self.response_timeout_ms

    @property
    def quiet_ms(self) -> int:
        """The silence window (int ms): how long to wait before silence counts as the absence of a reaction."""
        return self.timeouts.quiet_ms

    def duration_ms(self, specified_ms: int) -> int:
        """Return the actual duration of a protocol timer (int ms), given its specified duration (ms). The actual
        duration is shorter if set_timers makes timers run faster.
        """
        return max(1, specified_ms // self.scale)

    def slack_ms(self, specified_ms: int) -> int:
        """The tolerance for the time at which a timer is observed to expire (int ms). Network and scheduling may
        delay this observation.
        """
        if self.environment.is_time_virtual:
            return 20
        return 300 + self.duration_ms(specified_ms) // 4 + 2 * self.timeouts.worst_ms

    def inspect(self) -> dict[str, Any]:
        """Read the SUT's abstract data model."""
        found: dict[str, Any] = parse_reply(self.control.call("inspect").get("adm", {}))
        return found

    def inspect_queue_manager(self) -> dict[str, Any]:
        """Read the LocalQueueManager in the SUT's abstract data model."""
        found: dict[str, Any] = self.inspect()["QueueManager"]
        return found

    def inspect_queue(self, path_name: str) -> dict[str, Any]:
        """Read a Queue in the SUT's abstract data model. Raise NotShown if the SUT does not show the queue."""
        for queue in self.inspect_queue_manager()["QueueCollection"]:
            if queue["Pathname"].lower().endswith(path_name.lower()):
                found: dict[str, Any] = queue
                return found
        raise NotShown(f"the SUT does not show the queue {path_name} in its abstract data model")

    # -- requests of applications and administrators --------------------------------------------------------------

    def attempt(self, request: str | Callable[..., object], *arguments: Any, **named: Any) -> str:
        """Send a request to the SUT with a verb of the control channel, or by calling a method. Return Outcome.DONE
        or Outcome.REFUSED.
        """
        action = partial(self.control.call, request) if isinstance(request, str) else request
        return get_outcome_of_call(partial(action, *arguments, **named))

    def read_label(self, verb: str, **where: Any) -> str:
        """Read a message without waiting, with a verb of the control channel. Return the label of the message, or
        Outcome.NOTHING if no message was read.
        """
        return get_label(self.control.call(verb, timeout_ms=0, **where)["message"])

    # -- changes by a test ---------------------------------------------------------------------------------------

    def set_timers(self, **durations: int) -> None:
        """Change the durations of the SUT's protocol timers for this test (int ms, before scaling by
        ``time_scale``).
        """
        self.require_running_alone("set_timers changes the SUT")
        self._timers = self._read_settings_in_force("set_timers", durations) | self._timers
        self.control.call("set_timers", **durations)
        self.scale = durations.get("scale", self.scale)

    def get_timer_duration_ms(self, name: str, wanted_ms: int) -> int:
        """Return the specified duration of a timer (int ms). It is ``wanted_ms`` if the SUT's timers can be set,
        otherwise the duration in the SUT file. A check that calls this method has the need ``timers``.
        """
        if "set_timers" in self.facilities:
            self.set_timers(**{name: wanted_ms})
            return wanted_ms
        stated: int = getattr(self.file.timers, name)
        if not stated:
            raise NotShown(f"the facility set_timers is missing, and the SUT file does not state timers.{name}")
        return stated

    def limit_time_scale(self, scale: int) -> None:
        """Limit the factor by which protocol timers run faster than specified. A check that must act before a timer
        expires calls this method.
        """
        scale = self.timeouts.scale(scale, ANSWER_TIMES_PER_TIMER)
        if self.scale > scale:
            self.set_timers(scale=scale)

    def configure(self, **settings: Any) -> None:
        """Change settings of the SUT (MS-MQQB 3.1.1.3) for this test."""
        self.require_running_alone("configure changes the SUT")
        self._settings = self._read_settings_in_force("configure", settings) | self._settings
        self.control.call("configure", **settings)

    def enable_insecure_nacks(self) -> None:
        """Make sure that SendInsecureNacks is TRUE for this test. Either the SUT was provisioned with this value,
        or the value is changed. A check that calls this method has the need ``insecure_nacks``.
        """
        if not self.file.provisioned.send_insecure_nacks:
            self.configure(send_insecure_nacks=True)

    def provide_quota_kb(self, wanted_kb: int) -> int:
        """Return the QueueManagerQuota of the SUT for this test (KB). It is the value with which the SUT was
        provisioned, or ``wanted_kb`` if the value can be changed. A check that calls this method has the need
        ``queue_manager_quota``.
        """
        if "configure" not in self.facilities:
            return self.file.provisioned.quota_kb
        self.configure(quota_kb=wanted_kb)
        return wanted_kb

    def _read_settings_in_force(self, verb: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the current values of the settings that a check is about to change. Raise Unsupported if the SUT
        does not return the value of one of them.
        """
        found = self.control.call(verb)
        if missing := sorted(changes.keys() - found.keys()):
            raise Unsupported(
                f"{verb} of the SUT's control channel cannot restore {', '.join(missing)}: "
                "the current value is missing from the answer"
            )
        return {name: found[name] for name in changes}

    def take_offline(self) -> None:
        """Take the SUT off the network (MS-MQDMPR 3.1.4.12). At the end of this test, at the latest, the SUT is
        brought back.
        """
        self.require_running_alone("take_offline changes the SUT")
        self._offline = True
        self.control.call("take_offline")

    def bring_online(self) -> None:
        """Bring the SUT back online (MS-MQDMPR 3.1.4.13)."""
        self.control.call("bring_online")
        self._offline = False

    def change_environment(self, **values: Any) -> None:
        """Change the environment of the SUT for this test, for example the availability of its directory.

        Raise NotShown if the tester cannot change one of the given parts. If only some parts were changed, this is
        undone at the end of the test.
        """
        self.require_running_alone("environment changes the SUT")
        in_force = self._change_environment_parts({})
        if lacking := values.keys() - in_force.keys():
            raise NotShown(f"the part {min(lacking)} of the SUT's environment cannot be changed")
        before = self._surroundings
        self._surroundings = {name: in_force[name] for name in values} | before
        if self.environment.pulse is not None and any(
            values.get(part) is False for part in ENVIRONMENT_PARTS_NEEDED_TO_ANSWER
        ):
            self.environment.pulse.stop_asking()
        try:
            self._change_environment_parts(values)
        except Unsupported:  # a part that could not be changed need not be restored
            mine = self.commanded_environment.current_value_by_part.keys() & values.keys()
            self._surroundings = before | {name: in_force[name] for name in mine if name not in before}
            raise

    @property
    def may_be_another_system(self) -> bool:
        """Return whether this test started the SUT in an environment in which it may be a different queue manager
        (MS-MQSO 6.6.2.1).
        """
        return not self._surroundings.keys().isdisjoint(ENVIRONMENT_PARTS_THAT_IDENTIFY_THE_SUT)

    def read_directory_object(self, **which: Any) -> Any:
        """Return an object of the directory as an administrator reads it, or None if the directory has no such
        object. Raise NotShown if the control channel does not show the directory.
        """
        return self.change_directory_object(**which)

    def change_directory_object(self, **arguments: Any) -> Any:
        """Change an object of the directory as an administrator. Return the changed object, or None if the
        directory has no such object. Raise NotShown if the control channel does not show the directory.
        """
        if not self.controls_environment:
            raise NotShown("the control channel does not show the objects of the SUT's directory")
        return self.control.call("published", **arguments)["published"]

    def _change_environment_parts(self, values: Mapping[str, int]) -> dict[str, Any]:
        """Change parts of the environment with commands of the SUT file or over the control channel. Return the
        states of all parts.
        """
        commanded_environment = self.commanded_environment
        commanded_environment.change_parts(values)
        found: dict[str, Any] = {}
        if self.controls_environment:
            others = {
                name: value for name, value in values.items() if name not in commanded_environment.current_value_by_part
            }
            found = self.control.call("environment", **others)
        return {**found, **commanded_environment.current_value_by_part}

    def _restore_environment(self, wanted: Mapping[str, Any]) -> None:
        """Restore each part of the environment that this test changed. End the run if one of the parts cannot be
        restored.
        """
        steps: dict[str, Callable[[], object]] = {
            name: partial(self._restore_part, name, value) for name, value in sorted(wanted.items())
        }
        if not wanted.keys().isdisjoint(ENVIRONMENT_PARTS_NOTICED_AT_START):
            steps["restart"] = partial(self.control.call, "restart")
        left: dict[str, str] = {}
        for name, step in steps.items():
            try:
                step()
            except (ConformanceFailure, SutUnavailable, EnvironmentNotRestored) as error:
                left[name] = f"{name} ({error})"
        if left:
            self.broken = f"{self.file.sut.name}: its environment could not be restored: {', '.join(left.values())}"
        elif "directory" in wanted:  # otherwise the system would still be offline in the next check
            self.environment.run_until(
                self._has_directory_again,
                self.duration_ms(TIME_UNTIL_DIRECTORY_IS_ONLINE_MS) + self.response_timeout_ms,
            )

    def _restore_part(self, name: str, value: int) -> None:
        reported = self._change_environment_parts({name: value}).get(name)
        if reported != value:
            raise EnvironmentNotRestored(f"the SUT reports the value {reported}")

    def _has_directory_again(self) -> bool:
        """Return whether the SUT shows that it has reconnected to its directory."""
        return "inspect" in self.facilities and not self.inspect().get("QueueManager", {}).get("DirectoryOffline")

    def restart(self) -> None:
        """Restart the SUT. The restart discards its express messages and its sessions."""
        self.require_running_alone("restart changes the SUT")
        self.restarted = True
        self.control.call("restart")
        if not self.environment.is_time_virtual:  # in virtual time no other system can answer
            self._confirm_identity()

    def _confirm_identity(self) -> None:
        found = self.control.call("identity")["guid"]
        if self.identifier is not None and found.lower() != str(self.identifier):
            raise SutLost(
                f"{self.file.sut.name} was queue manager {self.identifier} before the restart; "
                f"the control channel now belongs to {found}, which is a different system"
            )

    @property
    def is_reset_between_rows(self) -> bool:
        """Return whether the SUT is reset before a varied check runs with its next row (set of parameter values)."""
        return "reset" in self.facilities and not self.shared

    def end_row(self) -> None:
        """Undo the changes that a varied check made while it ran with one row (set of parameter values). Changes that
        will be undone by the reset before the next row are not undone here.
        """
        self.scale = self._timers.get("scale", self.scale)
        if not self.is_reset_between_rows or self._surroundings or self._offline:
            self.undo_changes()
        self.forget_queues_of_row()
        self._timers, self._settings = {}, {}

    def observe_answers(self, listener: AnswerListener) -> bool:
        """Report every answer on the control channel to a listener. Return whether there is a control channel."""
        if self._control is None:
            return False
        self._control = ObservedControl(self._control, listener)
        return True

    def begin_row(self, variant: RowVariant) -> None:
        """Use the values of the next row (set of parameter values) of a varied check for all following requests. If the
        system can be reset, reset it.
        """
        if self._control is None:
            return
        if isinstance(self._control, VariedControl):
            self._control = self._control.control
        if self.is_reset_between_rows:
            self._control.call("reset")
            if "set_timers" in self.facilities and not self.environment.is_time_virtual:
                self._control.call("set_timers", scale=self.scale)
        self._control = VariedControl(self._control, variant)

    def require_running_alone(self, why: str) -> None:
        """Break off a test that would affect all tests on the SUT. The test is repeated later, while no other test uses
        the SUT.
        """
        if self.shared:
            self.must_repeat_alone = True
            raise HarnessError(f"{why} also for the checks that run in parallel")

    def restore_state(self) -> None:
        """Restore the state that the SUT had before this test, as far as the control channel supports this. Record
        the objects that remain in ``residue``. Call this method while the peer can still receive packets from the
        SUT.
        """
        self.undo_changes()

    def undo_changes(self) -> None:
        """Undo the changes that this test, or its run with one row (set of parameter values), made to the SUT."""
        undo: list[Callable[[], object]] = [
            *([partial(self._restore_environment, self._surroundings)] if self._surroundings else []),
            *([self.bring_online] if self._offline else []),
            *self._undo_queues(),
            *([partial(self.control.call, "set_timers", **self._timers)] if self._timers else []),
            *([partial(self.control.call, "configure", **self._settings)] if self._settings else []),
        ]
        self._timers, self._settings, self._surroundings = {}, {}, {}
        for action in undo:
            try:
                action()
            except ConformanceFailure as error:
                self.residue.append(str(error))
            except SutUnavailable as error:
                self.residue.append(f"all objects that the check created or changed: {error}")
                return

    def close(self) -> None:
        """Close the control channel."""
        self.restore_state()
        if self._control is not None:
            self._control.close()
