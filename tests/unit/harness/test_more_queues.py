"""[[more_queues]] and [provisioned]: the queues and settings that a SUT file offers to checks without queue control and
`configure`.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import HarnessError, UsageError
from harness.sut.control import ControlRefused
from harness.sut.more_queues import QueueEntry
from harness.sut.shown import NotShown
from harness.sut.stand_ins import add_needs_met_by_facilities, describe_unmet_need
from harness.sut.sut import Sut
from harness.sut.sut_file import GREATEST_QUOTA_TO_FILL_KB, parse_sut_file
from harness.sut.virtual_driver import VirtualDriver
from harness.sut.worker_configurations import build_worker_configurations

SMALL = {"name": "private$\\small", "quota_kb": 8}
KEPT = {"name": "private$\\kept", "journaling": True, "private_number": 5}


def tree(*entries: dict[str, Any], **provisioned: Any) -> dict[str, Any]:
    return {
        "sut": {"name": "limited"},
        "driver": {"kind": "virtual"},
        "reference": {"facilities": ["send"]},
        "capabilities": {"qm2qm": True},
        "provisioned": provisioned,
        "more_queues": list(entries),
    }


def view(*entries: dict[str, Any], **provisioned: Any) -> Sut:
    return VirtualDriver(parse_sut_file(tree(*entries, **provisioned))).open("check")


def test_check_gets_each_provisioned_queue_with_exactly_its_properties_once() -> None:
    with closing(view(SMALL, KEPT, {"name": "private$\\plain"})) as sut:
        assert sut.has("queues")
        assert not sut.has("queue_control")
        assert sut.new_queue("small", quota_kb=8) == "private$\\small"
        assert sut.new_queue() == "private$\\plain"
        for wanted in ({"quota_kb": 8}, {}, {"journaling": True, "quota_kb": 8}, {"label": "x"}):
            with pytest.raises(NotShown, match="more_queues"):
                sut.new_queue(**wanted)


def test_provisioned_queue_and_its_journal_are_emptied_before_and_after_use() -> None:
    with closing(view(KEPT)) as sut:
        sut.send(sut.direct_name("private$\\kept"), label="earlier")
        queue = sut.new_queue(journaling=True)
        assert sut.labels(queue) == []
        sut.send(sut.direct_name(queue), label="own")
        sut.control.call("receive", queue=queue)
        assert sut.labels(f"{queue};journal") == ["own"]
        sut.restore_state()
        assert sut.labels(f"{queue};journal") == []


def test_provisioned_queue_missing_on_the_sut_is_named() -> None:
    file = parse_sut_file(tree(SMALL))
    driver = VirtualDriver(parse_sut_file(tree()))
    with closing(driver.open("check")) as sut:
        sut.file = file
        with pytest.raises(ControlRefused, match="QUEUE_NOT_FOUND"):
            sut.new_queue(quota_kb=8)


def test_private_number_of_sut_file_gives_private_format_name_of_queue() -> None:
    with closing(view(KEPT, {"name": "private$\\mqc-plain", "private_number": 1}, {"name": "private$\\x"})) as sut:
        assert sut.private_format_name(sut.new_queue(journaling=True)) == f"PRIVATE={sut.guid}\\00000005"
        assert sut.private_format_name(sut.queue()) == f"PRIVATE={sut.guid}\\00000001"
        with pytest.raises(NotShown, match="private_number"):
            sut.private_format_name(sut.new_queue())
        with pytest.raises(HarnessError):
            sut.format_names("private$\\never")


def test_provisioned_queues_without_remote_reading_replace_no_facility() -> None:
    given = tree(SMALL)
    given["capabilities"] = {}
    with closing(VirtualDriver(parse_sut_file(given)).open("check")) as sut:
        assert not sut.has("queues")
        assert describe_unmet_need("queues") == "queue_control (or [[more_queues]] in the SUT file)"
    assert "queues" in add_needs_met_by_facilities({"queue_control"})


def test_provisioned_settings_replace_the_configure_facility() -> None:
    with closing(view(send_insecure_nacks=True, public_encryption_keys_base64="a2V5cw==")) as sut:
        assert sut.has("insecure_nacks")
        assert not sut.has("configure")
        sut.enable_insecure_nacks()
        assert sut.encryption_keys == b"keys"
    with closing(view()) as sut:
        assert not sut.has("insecure_nacks")


def test_provisioned_quota_is_that_of_the_queue_manager() -> None:
    with closing(view(quota_kb=9_000)) as sut:
        assert sut.has("queue_manager_quota")
        assert sut.provide_quota_kb(8_192) == 9_000
    with closing(view(quota_kb=GREATEST_QUOTA_TO_FILL_KB + 1)) as sut:
        assert not sut.has("queue_manager_quota")


def test_provisioned_rejection_of_40_bit_keys_is_that_of_the_reference() -> None:
    file = parse_sut_file(tree(reject_enhanced_rc2_using_40_bit_keys=True))
    given = replace(file, capabilities={"security": True}, reference=replace(file.reference, facilities=("configure",)))
    with closing(VirtualDriver(given).open("check")) as sut:
        assert sut.has("rejected_40_bit_keys")
        assert sut.control.call("configure")["reject_enhanced_rc2_using_40_bit_keys"] is True


def test_quota_of_system_that_can_be_configured_is_set() -> None:
    given = tree() | {"reference": {"facilities": ["configure"]}}
    with closing(VirtualDriver(parse_sut_file(given)).open("check")) as sut:
        assert sut.provide_quota_kb(8_192) == 8_192
        assert sut.control.call("configure")["quota_kb"] == 8_192


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([{"quota_kb": 1}], "more_queues.name is missing"),
        ([SMALL, {"name": "PRIVATE$\\SMALL"}], "twice"),
        ([SMALL | {"quota_kb": -1}], "it must be 0 to"),
        ([SMALL | {"privacy": "some"}], "must be one of none, optional, body"),
        ([SMALL | {"name": "a\nb"}], "U\\+000A"),
        ({}, "list of tables"),
    ],
)
def test_invalid_more_queues_entry_is_named(entries: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_sut_file({**tree(), "more_queues": entries})


def test_provisioned_quota_below_zero_is_refused() -> None:
    with pytest.raises(UsageError, match=r"provisioned\.quota_kb is -1"):
        parse_sut_file(tree(quota_kb=-1))


def test_provisioned_public_keys_that_are_not_base64_are_refused() -> None:
    with pytest.raises(UsageError, match="public_encryption_keys_base64 is not base64"):
        parse_sut_file(tree(public_encryption_keys_base64="?"))


def test_each_worker_has_provisioned_queues_with_its_own_names() -> None:
    file = parse_sut_file(tree({"name": "private$\\more-{worker}"}))
    assert build_worker_configurations(file, 2)[1].more_queues == (QueueEntry("private$\\more-1"),)


def test_keys_of_the_file_are_not_shown_by_the_sut() -> None:
    with closing(view(public_encryption_keys_base64="a2V5cw==")) as sut:
        assert (sut.shown_keys, sut.encryption_keys) == (b"", b"keys")
