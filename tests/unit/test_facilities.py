"""Every verb of the control protocol belongs to a facility, and docs/control-protocol.md lists it there."""

from __future__ import annotations

import re

from harness.paths import SUITES
from reference_qm.control import _VERB_BY_NAME, VERBS_BY_FACILITY, find_verb_refusal_reason, list_offered_facilities

PAGE = (SUITES.parent / "docs" / "control-protocol.md").read_text(encoding="utf-8")
OF_NONE = {"identity"}


def test_every_control_verb_belongs_to_a_facility():
    owned = {verb for verbs in VERBS_BY_FACILITY.values() for verb in verbs}
    assert set(_VERB_BY_NAME) - OF_NONE == owned - {"restart", "reset"}


def test_control_verb_of_two_facilities_is_offered_with_either():
    assert (
        find_verb_refusal_reason("purge", {"receive"}) is find_verb_refusal_reason("purge", {"queue_control"}) is None
    )
    assert (
        find_verb_refusal_reason("purge", {"send"})
        == "purge is not offered here, because it needs the facility queue_control or receive"
    )


def test_receive_facility_includes_remote_read():
    assert list_offered_facilities(VERBS_BY_FACILITY, {"send", "receive"}) == ["send", "receive", "remote_read"]
    assert list_offered_facilities(VERBS_BY_FACILITY, {"remote_read"}) == ["remote_read"]


def test_facility_table_of_page_matches_code():
    for facility, verbs in VERBS_BY_FACILITY.items():
        if len(verbs) <= 1 or facility == "remote_read":
            assert f"`{facility}`" in PAGE
        elif facility != "send":
            row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{facility}` |"))
            named = set(re.findall(r"`([a-z_]+)`", row.split("|")[2])) - {"remote_read", "management"}
            shared = VERBS_BY_FACILITY["remote_read"] | (
                VERBS_BY_FACILITY["management"] if facility != "management" else set()
            )
            assert named == verbs - shared
