"""Represent the findings about an agent: about each verb, about each facility, and about the agent's use of the
control protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from harness.printable import one_line
from reference_qm.control import VERBS_BY_FACILITY, list_offered_facilities

MAX_AGENT_TEXT_CHARACTERS = 200
_FACILITIES_BY_PRECEDENCE_FOR_SHARED_VERBS = ("remote_read", "management", "open_to_send", "queue_control", "receive")
"""The facilities in order of precedence. If a verb belongs to several facilities, a report lists it under the first
of them in this order; purge and close_queue, however, are always listed under receive.
"""


class VerbState(StrEnum):
    """The result of calling a verb."""

    WORKS = "works"
    REFUSED = "refused"
    """The agent refused the verb although the verb should have succeeded."""
    MISSING = "missing"
    """The agent answered that it does not support the verb."""
    WRONG = "wrong"
    """The answer violates the contract or contradicts an earlier answer."""
    SILENT = "silent"
    NOT_TRIED = "not tried"


VERB_STATES_WORST_FIRST = (
    VerbState.WRONG,
    VerbState.SILENT,
    VerbState.REFUSED,
    VerbState.MISSING,
    VerbState.NOT_TRIED,
    VerbState.WORKS,
)
"""The states from worst to best. If there are several findings about a verb, a report shows the worst of them."""


@dataclass(slots=True)
class VerbFinding:
    """The state of one verb, and the reason for it."""

    verb: str
    state: VerbState
    said: str = ""


def _find_facility_of_verb(verb: str) -> str:
    if verb in ("purge", "close_queue"):
        return "receive"
    owners = [name for name, verbs in VERBS_BY_FACILITY.items() if verb in verbs]
    return next(
        (name for name in _FACILITIES_BY_PRECEDENCE_FOR_SHARED_VERBS if name in owners), owners[0] if owners else ""
    )


FACILITY_BY_VERB: Mapping[str, str] = MappingProxyType(
    {verb: _find_facility_of_verb(verb) for verbs in VERBS_BY_FACILITY.values() for verb in sorted(verbs)}
)
"""The facility under which a report lists each verb."""


@dataclass(slots=True)
class AgentFindings:
    """All findings about an agent. ``problems`` contains one line for each violation of the protocol."""

    name: str = ""
    vendor: str = ""
    version: str = ""
    guid: str = ""
    protocol: int = 1
    announced: tuple[str, ...] = ()
    first_ms: int = 0
    usual_ms: int = 0
    verbs: dict[str, VerbFinding] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def offered_facilities(self) -> tuple[str, ...]:
        """The facilities that the agent announces, and each unannounced facility if all its verbs also belong to
        announced facilities. An unannounced facility is omitted if the agent answers that it does not support one of
        the facility's verbs.
        """
        return tuple(
            name
            for name in list_offered_facilities(VERBS_BY_FACILITY, self.announced)
            if name in self.announced
            or not any(one.state is VerbState.MISSING for one in self.list_verbs_of_facility(name))
        )

    def record_result(self, verb: str, state: VerbState, said: str = "") -> None:
        """Record the result of calling a verb. If a verb has several results, only the worst is kept."""
        known = self.verbs.get(verb)
        if known is None or VERB_STATES_WORST_FIRST.index(state) < VERB_STATES_WORST_FIRST.index(known.state):
            self.verbs[verb] = VerbFinding(verb, state, escape_agent_text(said))

    def is_working(self, verb: str) -> bool:
        """Return whether a verb was called and worked."""
        return verb in self.verbs and self.verbs[verb].state is VerbState.WORKS

    def list_verbs_of_facility(self, facility: str) -> list[VerbFinding]:
        """Return the findings about the verbs that a report lists under the given facility."""
        return [one for verb, one in self.verbs.items() if FACILITY_BY_VERB.get(verb) == facility]

    def describe_facility(self, name: str) -> str:
        """Return a short description of a facility: whether the agent announces it, and whether its verbs work."""
        there = [one for one in self.list_verbs_of_facility(name) if one.state is VerbState.WORKS]
        if name not in self.offered_facilities:
            return (
                "works, but is not announced"
                if there and len(there) == len(self.list_verbs_of_facility(name))
                else "missing"
            )
        bad = [one.verb for one in self.list_verbs_of_facility(name) if one.state in VERB_STATES_WORST_FIRST[:4]]
        if bad:
            return f"announced, but these verbs do not work: {', '.join(bad)}"
        return "works" if there else "announced"

    @property
    def matches_announced_facilities(self) -> bool:
        """Whether all tested verbs agree with the announced facilities and keep the contract."""
        announced = (one for one in self.verbs.values() if FACILITY_BY_VERB.get(one.verb, "") in ("", *self.announced))
        wrong = any(one.state in (VerbState.WRONG, VerbState.SILENT) for one in self.verbs.values())
        return not (self.problems or wrong or any(one.state is VerbState.REFUSED for one in announced))


def escape_agent_text(said: object) -> str:
    """Return a text that an agent sent, on one line and without control characters."""
    return one_line(str(said), MAX_AGENT_TEXT_CHARACTERS)
