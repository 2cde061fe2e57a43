"""Judge the packets of a walk (a sequence of random steps) by the passive predicates of the suites, and compare
messages on the control channel with their packets. Both include fields that no model describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from harness.explore.walk import DrivenSystem
from harness.explore.worlds import RuleBrokenByPacket, StepObservation
from harness.judging.compared import ComparedRule, load_compared_rules
from harness.judging.passive import PASSIVE_RULES, PassiveJudge, PassiveRule, load_predicates
from harness.model.steps import Step
from harness.peer.peer import Peer
from harness.rules.catalogue import load_catalogue


class PacketJudgedSystem:
    """A system that takes the steps of a model. After each step, the passive predicates judge its packets."""

    def __init__(self, driven: DrivenSystem, peer: Peer) -> None:
        load_predicates()
        self._rules: Mapping[str, PassiveRule | ComparedRule] = {**PASSIVE_RULES, **load_compared_rules()}
        self._driven = driven
        self._profile = peer.sut.file.sut.profile
        self._packets = PassiveJudge()
        peer.sut.observe_answers(self._packets.compare_messages().on_answer)
        peer.recorder.listeners.append(self._packets.on_frame)

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        """Take a step; return the observation after the step, including the rules that packets have broken since the
        first step.
        """
        return replace(self._driven.take(step, awaited), broken_rules=tuple(self._list_broken_rules()))

    def elapsed_ms(self) -> int | None:
        """Return the real time since the start (int ms), or None in an environment in which only steps take time."""
        return self._driven.elapsed_ms()

    def idle(self, ms: int) -> None:
        """Let real time pass."""
        self._driven.idle(ms)

    def _list_broken_rules(self) -> Iterator[RuleBrokenByPacket]:
        for rule, tally in sorted(self._packets.tallies.items()):
            judged = self._rules[rule]
            if tally.failures and not judged.advice and not self._is_violation_tolerated(rule):
                frame, observed = tally.failures[0]
                yield RuleBrokenByPacket(rule, judged.expected, f"{observed} in {frame}")

    def _is_violation_tolerated(self, rule: str) -> bool:
        """Return whether a violation of a rule counts only as a warning for this system."""
        catalogue = load_catalogue()
        return catalogue[rule].is_advice or rule in catalogue.notes.list_excused_rules(self._profile)
