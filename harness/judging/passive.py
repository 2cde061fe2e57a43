"""Passive predicates: rules about packets alone, judged on every packet that a SUT ever sends."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeVar

from harness.capture.recorder import MALFORMED, RPC, Connection, Frame
from harness.errors import HarnessError
from harness.paths import SUITES
from reference_qm.codec import FormatError


@dataclass(frozen=True, slots=True)
class NotExercised:
    """A finding on a packet that keeps a rule only because it lacks what the rule is about."""

    observed: str


Finding = tuple[bool, str] | NotExercised | None
"""None: the rule does not speak of this packet. Else: is it kept, and what was observed."""


class Summary(Protocol):
    """What a predicate has to know of the packets before, noted packet by packet."""

    def note(self, frame: Frame, connection: Connection) -> None:
        """Take the next packet, of either direction."""


S = TypeVar("S", bound=Summary)


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a packet for predicates: the SUT's role and what came before it on its connection."""

    frame: Frame
    connection: Connection | None

    @property
    def sut_role(self) -> str | None:
        """``initiator`` or ``acceptor``; None for datagrams."""
        return None if self.connection is None else self.connection.sut_role

    def before(self, kind: type[S]) -> S:
        """Return what a kind of summary has noted of the packets before this one, in both directions.

        It is shown each of them once, however often it is asked for: what a predicate knows of the packets before
        costs the same for the first as for the last.
        """
        noted: S
        if self.connection is None:
            return kind()
        seen, noted = self.connection.summaries.get(kind, (0, None))
        if noted is None or seen > self.frame.position:
            seen, noted = 0, kind()
        for frame in self.connection.frames[seen : self.frame.position]:
            noted.note(frame, self.connection)
        self.connection.summaries[kind] = (self.frame.position, noted)
        return noted


def record_of(frame: Frame) -> Any:
    """Return the strict codec's record of a packet; None of bytes that have none."""
    try:
        return frame.record
    except FormatError:
        return None


Predicate = Callable[[Any, Context], Finding]
"""A predicate on the strict codec's record of the packet; of bytes that are none, the FormatError that says why."""


@dataclass(frozen=True, slots=True)
class PassiveRule:
    """A rule with its predicate; ``kinds`` are the packet names (``Frame.kind``) that it is shown."""

    rule: str
    kinds: frozenset[str]
    expected: str
    predicate: Predicate
    advice: bool = False
    """Whether the predicate holds packets against the SHOULD in the sentence of a MUST."""
    decisive: bool = False
    """Whether a packet that breaks it cannot be read any further."""


PASSIVE: dict[str, PassiveRule] = {}


def passive(
    rule: str, kinds: str | Iterable[str], expected: str, *, advice: bool = False, decisive: bool = False
) -> Callable[[Predicate], Predicate]:
    """Register the predicate of a passive rule; several rules may share one function.

    ``advice``: what it looks at is a SHOULD of a sentence whose MUST is looked at elsewhere, and decides nothing there.
    ``decisive``: with a packet that breaks it nothing else can be judged; no other rule is to be blamed for it.
    """

    def register(predicate: Predicate) -> Predicate:
        if rule in PASSIVE:
            raise HarnessError(f"{rule} has two passive predicates")
        names = frozenset([kinds] if isinstance(kinds, str) else kinds)
        PASSIVE[rule] = PassiveRule(rule, names, expected, predicate, advice, decisive)
        return predicate

    return register


@cache
def load_predicates() -> dict[str, PassiveRule]:
    """Import the predicates of every section of the suites; return all, by rule."""
    for file in sorted(SUITES.glob("*/*/predicates.py")):
        importlib.import_module(".".join(["suites", *file.relative_to(SUITES).with_suffix("").parts]))
    return PASSIVE


@dataclass(slots=True)
class Tally:
    """The findings of a passive rule in one test.

    ``seen``: the packets that kept or broke it; ``idle``: those that lacked what it is about. ``first`` is one of the
    former, if there is any.
    """

    seen: int = 0
    idle: int = 0
    first: Frame | None = None
    first_observed: str = ""
    failures: list[tuple[Frame, str]] = field(default_factory=list)


class PassiveJudge:
    """A judge that shows every packet of the SUT in one test to every predicate of its kind."""

    def __init__(self) -> None:
        self.tallies: dict[str, Tally] = {}
        self.malformed: dict[Frame, str] = {}
        """The packets of the SUT that are not formed as specified, and what is wrong with each."""
        self.unreadable: dict[str, str] = {}
        """Decisive rules that were broken, and by what."""
        self._spoilt: set[Connection | None] = set()
        """Connections on which such a packet came: what others there count, or repeat, may be in it."""
        self._of_kind: dict[str, list[PassiveRule]] = {}
        self._rules = 0

    def on_frame(self, frame: Frame) -> None:
        """Judge one packet; a PDU of DCE/RPC is none of those that predicates are about."""
        if not frame.from_sut or frame.transport == RPC:
            return
        kind, record = frame.kind, _record(frame)
        if isinstance(record, FormatError):
            kind = MALFORMED
            self.malformed[frame] = str(record)
        context = Context(frame, frame.connection)
        for rule in self._rules_of(kind):
            if rule.decisive or frame.connection not in self._spoilt:
                self._note(rule, frame, rule.predicate(record, context))

    def _rules_of(self, kind: str) -> list[PassiveRule]:
        if self._rules != len(PASSIVE):  # registered since
            self._rules = len(PASSIVE)
            self._of_kind.clear()
        if kind not in self._of_kind:
            self._of_kind[kind] = [rule for rule in PASSIVE.values() if kind in rule.kinds]
        return self._of_kind[kind]

    def _note(self, rule: PassiveRule, frame: Frame, finding: Finding) -> None:
        if finding is None:
            return
        tally = self.tallies.setdefault(rule.rule, Tally())
        if isinstance(finding, NotExercised):
            tally.idle += 1
            if tally.first is None:
                tally.first, tally.first_observed = frame, finding.observed
            return
        kept, observed = finding
        tally.seen += 1
        if tally.seen == 1:
            tally.first, tally.first_observed = frame, observed
        if not kept:
            tally.failures.append((frame, observed))
            if rule.decisive:
                self._spoilt.add(frame.connection)
                self.unreadable.setdefault(rule.rule, f"the SUT's packet in frame {frame.number}: {observed}")


def _record(frame: Frame) -> Any:
    if frame.error is not None:  # no packet began there, whatever its bytes look like
        return frame.error
    try:
        return frame.record
    except FormatError as error:
        return error
