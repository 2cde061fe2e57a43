"""Model the answers to Ping Requests of the peer. Spec: MS-MQQB 2.2.7, 3.1.7.7."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.steps import Model, transition
from harness.model.unused_fields import RULE_BY_UNUSED_PING_FIELD, list_rules_about_unused_fields

NAMES_OF_SOURCE_PORTS_OF_PINGS = ("first", "second")
"""The ports from which the peer sends Ping Requests."""


class PingTransitions(Model):
    """The transitions in which a peer sends Ping Requests."""

    @transition(
        *("MQQB-3.1.7.7-01", "MQQB-3.1.7.7-02", "MQQB-3.1.7.7-03", "MQQB-3.1.7.7-04", "MQQB-3.1.7.7-05"),
        *("MQQB-3.1.7.7-07", "MQQB-3.1.7.7-08", "MQQB-3.1.7.7-09", "MQQB-3.1.7.7-10", "MQQB-3.1.7.7-11"),
        *("MQQB-2.1.2-02", "MQQB-2.2.7-01", "MQQB-2.2.7-03", "MQQB-2.2.7-04", "MQQB-2.2.7-21", "MQQB-2.2.7-22"),
        needs=("ping",),
        weight=4,
        rc=0,
        rf=0,
        unused=[],
        valid=True,
    )
    def ping(self, end: str, cookie: int, rc: int, rf: int, unused: list[str], valid: bool) -> None:
        """Let the peer send a Ping Request. ``valid``: whether its Signature is correct."""
        response = {"end": end, "cookie": cookie, "rc": rc, "rf": 0, "guid": "own", "signature": True, "size": 24}
        self.cite_rules(*list_rules_about_unused_fields(unused))
        self.answers["answer"] = [response] if valid else []
        self.settle()

    def settle(self) -> None:
        """Let time pass until the system has reacted to the step."""
        raise NotImplementedError

    def draw_ping(self, chance: Random) -> dict[str, Any]:
        return {
            "end": chance.choice(NAMES_OF_SOURCE_PORTS_OF_PINGS),
            "cookie": chance.choice((0, 1, 0xFFFF_FFFF, chance.getrandbits(32))),
            "rc": chance.choice((0, 1)),
            "rf": int(chance.random() < 0.2),
            "unused": sorted(chance.sample(list(RULE_BY_UNUSED_PING_FIELD), chance.choice((0, 0, 1, 3)))),
            "valid": chance.random() < 0.85,
        }
