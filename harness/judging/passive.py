"""Define passive predicates. A passive predicate is a function that judges a rule about packets on every packet
that a SUT sends.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, TypeVar

from harness.capture.recorder import MALFORMED_PACKET_KIND, RPC_TRANSPORT_NAME, Connection, Frame
from harness.errors import HarnessError
from harness.judging.compared import ComparedMessages
from harness.paths import SUITES
from reference_qm.codec import FormatError, UserMessagePacket

MAX_FAILURES_RECORDED = 3
"""The maximum number of failing packets that one check records for each passive rule. The tally only counts further
failing packets.
"""

MAX_REASONS_RECORDED = 20
FURTHER_REASONS_TEXT = "other bytes are not in the capture"
"""The reason for all further unjudged packets after MAX_REASONS_RECORDED different reasons have been recorded.
"""


@dataclass(frozen=True, slots=True)
class NotExercised:
    """The finding that a packet keeps a rule only because the packet does not contain the subject of the rule."""

    observed: str


Finding = tuple[bool, str] | NotExercised | None
"""The type of a predicate's result. The result is None if the rule does not apply to the packet; otherwise it
states whether the packet keeps the rule, and contains the observation.
"""


class ConnectionSummary(ABC):
    """A summary of the earlier packets of a connection, which predicates use. ``note`` is called once for each
    packet.

    A summary exists as long as its connection is open. So it must store only a few packets, or only a few values of
    each packet.
    """

    SUMMARY_CLASSES: ClassVar[list[type[ConnectionSummary]]] = []
    covers_whole_system: ClassVar[bool] = False
    """Whether the summary covers all connections of the system. Such a summary exists as long as its judge exists.
    """

    def __init_subclass__(cls) -> None:
        ConnectionSummary.SUMMARY_CLASSES.append(cls)

    @abstractmethod
    def note(self, frame: Frame, connection: Connection) -> None:
        """Add the next packet, of either direction, to the summary."""


SummaryType = TypeVar("SummaryType", bound=ConnectionSummary)
RecentValueKey = TypeVar("RecentValueKey")
RecentValue = TypeVar("RecentValue")


class RecentValues(dict[RecentValueKey, RecentValue]):
    """The most recent values in a summary, by message. When there are too many values, the oldest are removed, because
    no system resends a message after so many newer messages.
    """

    MAX_VALUES = 16_384

    def store_new_value(self, key: RecentValueKey, value: RecentValue) -> None:
        """Store a value unless its key already has a value. If there are too many values, remove the oldest value."""
        if key not in self:
            self[key] = value
            if len(self) > self.MAX_VALUES:
                del self[next(iter(self))]


class NotCaptured(Exception):
    """The error when a predicate needs packets that its capture does not contain."""


@dataclass(slots=True)
class Context:
    """The context in which predicates judge a packet: the role of the SUT, and the earlier packets of the
    connection.
    """

    frame: Frame
    connection: Connection | None
    of_system: dict[type, Any] = field(default_factory=dict)
    """The summaries of all connections."""
    known: dict[str, Any] = field(default_factory=dict)
    """The facts about the current packet that all predicates use."""

    @property
    def sut_role(self) -> str | None:
        """The SUT's role on the connection (``initiator`` or ``acceptor``), or None for datagrams. Raise
        NotCaptured if the capture does not contain the opening of the connection.
        """
        if self.connection is None:
            return None
        if not self.connection.sut_role:
            raise NotCaptured("the capture does not show which side opened the connection")
        return self.connection.sut_role

    def before(self, kind: type[SummaryType]) -> SummaryType:
        """Return the summary, of the given class, of the earlier packets of this connection in both directions.

        Raise NotCaptured if the capture does not contain some of these packets. For a summary of all connections,
        missing packets are not detected.
        """
        noted: SummaryType
        if kind.covers_whole_system:
            noted = self.of_system.get(kind) or kind()
            return noted
        if self.connection is None:
            return kind()
        if self.connection.missing_frames_reason is not None:
            raise NotCaptured(self.connection.missing_frames_reason)
        noted = self.connection.summary_by_class.get(kind) or kind()
        return noted


def note(frame: Frame, of_system: dict[type, Any] | None = None) -> None:
    """Add a packet to the summaries of its connection and of its system."""
    connection = frame.connection
    if connection is None or frame.transport == RPC_TRANSPORT_NAME:
        return
    for kind in ConnectionSummary.SUMMARY_CLASSES:
        if not kind.covers_whole_system and connection.missing_frames_reason is not None:
            continue
        summaries = of_system if kind.covers_whole_system else connection.summary_by_class
        if summaries is None:
            continue
        if kind not in summaries:
            summaries[kind] = kind()
        summaries[kind].note(frame, connection)


def parse_frame_strictly(frame: Frame) -> Any:
    """Return a packet as parsed by the strict codec, or None if the codec cannot parse the bytes."""
    try:
        return frame.record
    except FormatError:
        return None


Predicate = Callable[[Any, Context], Finding]
"""The type of predicates. A predicate is called with the packet as parsed by the strict codec, or with the
FormatError if the codec refuses the bytes.
"""


@dataclass(frozen=True, slots=True)
class PassiveRule:
    """A rule with its predicate. ``kinds``: the kinds of packets (``Frame.kind``) that the predicate judges."""

    rule: str
    kinds: frozenset[str]
    expected: str
    predicate: Predicate
    advice: bool = False
    """Whether the predicate judges only the SHOULD in the sentence of a MUST."""
    makes_packet_unparsable: bool = False
    """Whether a packet that breaks the rule cannot be parsed further."""
    binds_only_complete_system: bool = False
    """Whether the rule binds only a complete system. Packets that a check composes are then exempt."""


PASSIVE_RULES: dict[str, PassiveRule] = {}


def passive(
    rule: str,
    kinds: str | Iterable[str],
    expected: str,
    *,
    advice: bool = False,
    decisive: bool = False,
    of_system: bool = False,
) -> Callable[[Predicate], Predicate]:
    """Register the predicate of a passive rule. Several rules may share one function.

    ``advice``: whether the predicate judges only the SHOULD in a sentence whose MUST is judged elsewhere.
    ``decisive``: whether a packet that breaks the rule cannot be judged further, so that it breaks no other rule.
    ``of_system``: whether the rule binds only a complete system, so that packets which a check composes are exempt.
    """

    def register_predicate(predicate: Predicate) -> Predicate:
        if rule in PASSIVE_RULES:
            raise HarnessError(f"{rule} has two passive predicates")
        names = frozenset([kinds] if isinstance(kinds, str) else kinds)
        PASSIVE_RULES[rule] = PassiveRule(rule, names, expected, predicate, advice, decisive, of_system)
        return predicate

    return register_predicate


@cache
def load_predicates() -> dict[str, PassiveRule]:
    """Import the predicates of every section of the suites; return all predicates by rule."""
    for file in sorted(SUITES.glob("*/*/predicates.py")):
        importlib.import_module(".".join(["suites", *file.relative_to(SUITES).with_suffix("").parts]))
    return PASSIVE_RULES


@dataclass(slots=True)
class PassiveRuleTally:
    """The findings about a passive rule in one test.

    ``judged_packet_count``: the number of packets that kept or broke the rule. ``idle``: the number of packets without
    the rule's subject. ``first``: the first of the packets counted in ``judged_packet_count``, if any.
    """

    judged_packet_count: int = 0
    idle: int = 0
    missing: Counter[str] | None = None
    """The number of packets that could not be judged, by the missing part of the capture. It is None if every packet
    could be judged.
    """
    first: Frame | None = None
    first_observed_text: str = ""
    failed: int = 0
    failures: list[tuple[Frame, str]] = field(default_factory=list)
    """The first packets that broke the rule, each with the observation. The list contains at most
    MAX_FAILURES_RECORDED packets.
    """

    def note(self, frame: Frame, finding: tuple[bool, str] | NotExercised | NotCaptured) -> None:
        """Count a packet according to the predicate's finding."""
        if isinstance(finding, tuple):
            kept, observed = finding
            self.judged_packet_count += 1
            if self.judged_packet_count == 1:
                self.first, self.first_observed_text = frame, observed
            if not kept:
                self.record_failure(frame, observed)
        elif isinstance(finding, NotExercised):
            self.idle += 1
            if self.first is None:
                self.first, self.first_observed_text = frame, finding.observed
        else:
            why = str(finding)
            if self.missing is None:
                self.missing = Counter()
            self.missing[
                why if why in self.missing or len(self.missing) < MAX_REASONS_RECORDED else FURTHER_REASONS_TEXT
            ] += 1

    def add(self, other: PassiveRuleTally) -> None:
        """Add the counts from a further run of the same varied check, with different parameter values."""
        if other.first is not None and (self.first is None or not self.judged_packet_count):
            self.first, self.first_observed_text = other.first, other.first_observed_text
        self.judged_packet_count += other.judged_packet_count
        self.idle += other.idle
        if other.missing is not None:
            self.missing = other.missing if self.missing is None else self.missing + other.missing
        self.failed += other.failed
        self.failures += other.failures[: MAX_FAILURES_RECORDED - len(self.failures)]

    def record_failure(self, frame: Frame, observed: str) -> None:
        """Count a packet that broke the rule."""
        self.failed += 1
        if len(self.failures) < MAX_FAILURES_RECORDED:
            self.failures.append((frame, observed))


class PassiveJudge:
    """A judge that applies the predicates to every packet from the SUT in one test. Each predicate judges only packets
    of its registered kinds.
    """

    def __init__(self) -> None:
        _PREDICATES_BY_KIND.discard_outdated_predicates()
        self.tallies: dict[str, PassiveRuleTally] = {}
        self.malformed: dict[Frame, str] = {}
        """The malformed packets from the SUT, each with its error."""
        self.unreadable: dict[str, str] = {}
        """The decisive rules that were broken, each with a description of the violation."""
        self._connections_with_malformed_packet: set[Connection | None] = set()
        """The connections on which the SUT sent a malformed packet. Such a packet may cause wrong counts and
        repetitions in later packets.
        """
        self.summaries: dict[type, Any] = {}
        """The summaries of all connections."""
        self.compared: ComparedMessages | None = None
        """The comparison of messages on the control channel with their packets, if the system has a control channel."""

    def compare_messages(self) -> ComparedMessages:
        """Begin to compare packets with messages on the control channel, and return the object that compares them."""
        if self.compared is None:
            self.compared = ComparedMessages(self._note_comparison)
        return self.compared

    def _note_comparison(self, rule: str, frame: Frame, kept: bool, observed: str) -> None:
        if frame.connection not in self._connections_with_malformed_packet:
            self.tallies.setdefault(rule, PassiveRuleTally()).note(frame, (kept, observed))

    def on_frame(self, frame: Frame) -> None:
        """Judge one packet. Predicates do not apply to DCE/RPC PDUs."""
        if frame.transport == RPC_TRANSPORT_NAME:
            return
        if frame.from_sut:
            self._judge_record(frame)
        if self.compared is not None and isinstance(packet := parse_frame_strictly(frame), UserMessagePacket):
            self.compared.on_message(frame, packet)
        self.note(frame)

    def note(self, frame: Frame) -> None:
        """Add a packet to the summaries of its connection without judging the packet."""
        note(frame, self.summaries)

    def _judge_record(self, frame: Frame) -> None:
        kind, record = frame.kind, _parse_record(frame)
        if isinstance(record, FormatError):
            kind = MALFORMED_PACKET_KIND
            self.malformed[frame] = str(record)
        connection, tallies = frame.connection, self.tallies
        context = Context(frame, connection, self.summaries)
        for predicate, rules in _PREDICATES_BY_KIND.find(kind):
            try:
                finding: Finding | NotCaptured = predicate(record, context)
            except NotCaptured as error:
                finding = error
            if finding is None:
                continue
            for rule, is_decisive in rules:
                if not is_decisive and connection in self._connections_with_malformed_packet:
                    continue
                tally = tallies.get(rule)
                if tally is None:
                    tally = tallies[rule] = PassiveRuleTally()
                if finding.__class__ is tuple and finding[0] and tally.judged_packet_count:  # the usual case
                    tally.judged_packet_count += 1
                    continue
                tally.note(frame, finding)
                if is_decisive and isinstance(finding, tuple) and not finding[0]:
                    self._connections_with_malformed_packet.add(connection)
                    self.unreadable.setdefault(rule, f"the SUT's packet in frame {frame.number}: {finding[1]}")

    def begin_row(self) -> PassiveJudge:
        """Return a judge for the next run of the same varied check, with different parameter values. The returned judge
        does not know the packets of earlier runs.
        """
        made = PassiveJudge()
        if self.compared is not None:
            made.compare_messages()
        return made

    def add(self, other: PassiveJudge) -> None:
        """Add the findings from a further run of the same varied check, with different parameter values."""
        for rule, tally in other.tallies.items():
            if rule in self.tallies:
                self.tallies[rule].add(tally)
            else:
                self.tallies[rule] = tally
        self.malformed |= other.malformed
        self.unreadable = {**other.unreadable, **self.unreadable}

    def discard_connection(self, connection: Connection) -> None:
        """Discard the summaries of a connection after its end."""
        self._connections_with_malformed_packet.discard(connection)


class _PredicatesByKind:
    """The predicates for packets of each kind, with the rules of each predicate. All judges share this object."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[Predicate, list[tuple[str, bool]]]]] = {}
        self._rules: list[PassiveRule] = []

    def discard_outdated_predicates(self) -> None:
        """Discard the cached predicates if the registered rules have changed."""
        if self._rules != (rules := list(PASSIVE_RULES.values())):
            self._rules = rules
            self._found.clear()

    def find(self, kind: str) -> list[tuple[Predicate, list[tuple[str, bool]]]]:
        """Return the predicates for packets of a kind. Each predicate has the ids of its rules, and a flag for each
        rule that states whether the rule is decisive.
        """
        if len(self._rules) != len(PASSIVE_RULES):  # rules were registered in the meantime
            self.discard_outdated_predicates()
        if kind not in self._found:
            shared: dict[Predicate, list[tuple[str, bool]]] = {}
            for rule in self._rules:
                if kind in rule.kinds:
                    shared.setdefault(rule.predicate, []).append((rule.rule, rule.makes_packet_unparsable))
            self._found[kind] = list(shared.items())
        return self._found[kind]


_PREDICATES_BY_KIND = _PredicatesByKind()


def _parse_record(frame: Frame) -> Any:
    if frame.error is not None:  # no packet begins at this position, even if the bytes look like a packet
        return frame.error
    try:
        return frame.record
    except FormatError as error:
        return error
