"""MS-MQDMPR 3.1.1.1 QueueManager: attributes with default values, while other attributes and the state change."""

from __future__ import annotations

from typing import Any

import pytest

from harness.run.marks import covers, needs
from harness.sut.sut import Sut

DEFAULT_ATTRIBUTE_BY_RULE: dict[str, tuple[str, Any]] = {
    "MQDMPR-3.1.1.1-08": ("QueueManagerQuota", 0x0010_0000),
    "MQDMPR-3.1.1.1-09": ("ConnectedNetworkIdentifierList", []),
    "MQDMPR-3.1.1.1-10": ("SupportingServer", False),
    "MQDMPR-3.1.1.1-D01": ("JournalQuota", 0xFFFF_FFFF),
}
CHANGED_QUEUE_MANAGER_QUOTA_KB = 0x0030_0000


def _read_default_attributes(sut: Sut) -> dict[str, Any]:
    shown = sut.inspect_queue_manager()
    return {name: shown[name] for name, _ in DEFAULT_ATTRIBUTE_BY_RULE.values()}


@needs("inspect", "configure", "restart")
@covers(*DEFAULT_ATTRIBUTE_BY_RULE)
@pytest.mark.parametrize("place", ["any enterprise", pytest.param("directory", marks=needs("directory"))])
def test_default_attributes_stay_in_each_state(peer, sut, judge, place):
    """An attribute with its default value keeps this value after a session, after a change of a different quota, and
    after restarts, even if the SUT is integrated with a directory. An attribute that an administrator has changed is
    not judged.
    """
    found: dict[str, dict[str, Any]] = {"at first": _read_default_attributes(sut)}
    session = peer.open_session()
    session.send(peer.message(label="a message"))
    session.require_session_ack_for_message()
    found["during a session"] = _read_default_attributes(sut)
    sut.restart()
    found["after a restart"] = _read_default_attributes(sut)
    settings = sut.control.call("configure")
    for name, other in (("journal_quota_kb", "JournalQuota"), ("quota_kb", "QueueManagerQuota")):
        if name in settings:
            sut.configure(**{name: CHANGED_QUEUE_MANAGER_QUOTA_KB})
            values = _read_default_attributes(sut)
            del values[other]
            found[f"after a change of {other}"] = values
            sut.configure(**{name: settings[name]})
    sut.restart()
    found["after a second restart"] = _read_default_attributes(sut)
    for rule, (name, default) in DEFAULT_ATTRIBUTE_BY_RULE.items():
        published = (
            sut.read_directory_object()["quota_kb"] if sut.controls_environment and place == "directory" else default
        )
        if name == "QueueManagerQuota" and published != default:
            judge.mark_not_exercised(rule, reason="the directory contains a different quota for the SUT")
            continue
        for time, values in found.items():
            if name in values:
                judge(rule, expected={name: default}, observed={name: values[name]}, case=f"{name} {time} ({place})")
