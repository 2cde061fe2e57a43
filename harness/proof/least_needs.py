"""Find the smallest set of capabilities and facilities with which each rule can be judged (``mqconform rules
--needs``). The sets follow from the needs that checks declare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.proof.inventory import RuleInventory
from harness.rules.catalogue import ROW_CLASSES_OF_DEMANDS
from harness.sut import remote_control
from harness.sut.stand_ins import ALTERNATIVE_NEED_BY_NAME
from harness.sut.sut_file import CAPABILITIES
from reference_qm.control import VERBS_BY_FACILITY

CAPABILITIES_WITHOUT_CONTROL = (
    frozenset(CAPABILITIES) - {"directory", "topology", "two_addresses"}
    | remote_control.FACILITIES_OF_REMOTE_CONTROL
    | ALTERNATIVE_NEED_BY_NAME.keys()
)
"""The needs that a single system can meet without a directory and without a control channel. The SUT file of this
system declares all capabilities except directory, topology and two_addresses. Checks read the queues of the system
remotely.
"""
FACILITIES_OF_LIMITED_AGENT = CAPABILITIES_WITHOUT_CONTROL | {
    *(
        "queue_control",
        "send",
        "send_extension",
        "open_to_send",
        "receive",
        "transactions",
        "management",
        "pause",
        "restart",
        "set_timers",
    ),
    "remote_read",
}
CAPABILITIES_BY_SYSTEM: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "without control": CAPABILITIES_WITHOUT_CONTROL,
        "with only the command send": CAPABILITIES_WITHOUT_CONTROL | {"send"},
        "with an agent without reset, inspect, configure": FACILITIES_OF_LIMITED_AGENT,
        "with every capability and facility": frozenset({*CAPABILITIES, *VERBS_BY_FACILITY}),
    }
)
"""The kinds of systems. For each kind, the rules that can be judged are counted."""


@dataclass(frozen=True, slots=True)
class LeastNeedsOfRule:
    """The smallest set of capabilities and facilities with which a rule can be judged, and a check with exactly
    these needs. If any packet can decide the rule, the set is empty.
    """

    rule: str
    needs: tuple[str, ...]
    check: str


def list_least_needs(inventory: RuleInventory, rules: Iterable[str]) -> Iterator[LeastNeedsOfRule]:
    """Yield, for each checked rule, the check that needs the fewest facilities. Among several such checks, yield
    the check that needs the fewest capabilities.
    """
    for rule in rules:
        if rule in inventory.passive:
            yield LeastNeedsOfRule(rule, (), "")
        elif checks := inventory.checks_by_rule.get(rule):
            check = min(checks, key=lambda name: _compute_cost_of_needs(inventory.needs[name]))
            yield LeastNeedsOfRule(rule, tuple(sorted(inventory.needs[check], key=_compute_sort_key_of_needs)), check)


def list_must_demands(inventory: RuleInventory) -> frozenset[str]:
    """Return the demands of level MUST, whether or not they are checked."""
    return frozenset(
        name
        for name, row in inventory.catalogue.items()
        if row.level.startswith("MUST") and row.kind in ROW_CLASSES_OF_DEMANDS
    )


def count_rules_by_least_needs(found: Iterable[LeastNeedsOfRule]) -> list[tuple[tuple[str, ...], int]]:
    """For each smallest set of needs, return the number of rules that can be judged with it. The sets with the most
    rules come first.
    """
    counts = Counter(one.needs for one in found)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def count_rules_judged_without_control(inventory: RuleInventory, rules: Collection[str], more: Collection[str]) -> int:
    """Return the number of rules that can be judged on a system without a control channel if it also meets the needs
    ``more``.
    """
    return len(inventory.list_judgeable_rules(CAPABILITIES_WITHOUT_CONTROL | frozenset(more)) & frozenset(rules))


def count_judgeable_rules_by_system(inventory: RuleInventory, rules: Collection[str]) -> Mapping[str, int]:
    """Return, for each of ``CAPABILITIES_BY_SYSTEM``, the number of rules that can be judged on the system."""
    return {
        name: len(inventory.list_judgeable_rules(have) & frozenset(rules))
        for name, have in CAPABILITIES_BY_SYSTEM.items()
    }


def _compute_cost_of_needs(needs: Collection[str]) -> tuple[int, int, list[str]]:
    return sum(name not in CAPABILITIES for name in needs), len(needs), sorted(needs)


def _compute_sort_key_of_needs(name: str) -> tuple[bool, str]:
    return name in CAPABILITIES, name
