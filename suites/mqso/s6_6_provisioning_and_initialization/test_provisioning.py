"""MS-MQSO 6.6.1 Provisioning of a Queue Manager: modes and roles."""

from __future__ import annotations

from typing import Any

from harness.expectations import each, holds, none, one_of
from harness.judging.judge import Judge
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.pinging import read_data_model_element

SETTING_NAME_BY_QUEUE_MANAGER_ELEMENT = {
    "Clustered": "clustered",
    "SrmpHttpSupport": "srmp_http_support",
    "SrmpPgmSupport": "srmp_pgm_support",
}
ATTRIBUTE_BY_PROVISIONED_ROLE = {"DirectoryServer": "directory_server", "RoutingServer": "routing_server"}
"""Attributes of the queue manager, each with the key of [provisioned] in the SUT file that states its value."""
RETRY_DURATIONS_S = ("120", "900")
"""InitializationRetryTimerDuration in seconds: the provisioned value, and the value after the first expiry (MS-MQSO
6.4.4.1).
"""
INITIALIZATION_RULES = ("MQSO-6.6-06", "MQSO-6.6.1-D06")
VALUES_OF_UNINITIALIZED_ATTRIBUTE = (None, False)
PUBLIC_KEY_ATTRIBUTES = ("PublicEncryptionKeyList", "PublicSigningKeyList")


def _select_shown_attributes(shown: dict[str, Any], expected: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the expected and the observed values of those attributes that the SUT shows."""
    return {name: value for name, value in expected.items() if name in shown}, {
        name: shown[name] for name in expected if name in shown
    }


def _judge_provisioned_modes(sut: Sut, judge: Judge, shown: dict[str, Any]) -> None:
    read_data_model_element(shown, "DirectoryIntegrated")
    modes = {name: getattr(sut.file.provisioned, key) for name, key in SETTING_NAME_BY_QUEUE_MANAGER_ELEMENT.items()}
    integrated = sut.file.capabilities.get("directory", False)  # also where the peer is not the one of the SUT file
    expected, observed = _select_shown_attributes(shown, {"DirectoryIntegrated": integrated, **modes})
    judge("MQSO-6.6-06", "MQSO-6.6.1-03", "MQSO-6.6.1-D03", expected=expected, observed=observed)


def _judge_missing_roles(sut: Sut, judge: Judge, shown: dict[str, Any]) -> None:
    """Judge that a SUT in workgroup mode has no role."""
    if sut.file.capabilities.get("directory", False):
        judge.mark_not_exercised("MQSO-6.6.1-D04", reason="the SUT is in directory mode")
        return
    set_there = [
        name for name in ATTRIBUTE_BY_PROVISIONED_ROLE if shown.get(name) not in VALUES_OF_UNINITIALIZED_ATTRIBUTE
    ]
    judge(
        "MQSO-6.6.1-D04",
        "MQSO-6.6-06",
        expected=none("flag for the role of a directory server or routing server"),
        observed=set_there,
    )


@needs("inspect")
@covers("MQSO-6.6.1-03", "MQSO-6.6.1-D03", "MQSO-6.6.1-D04", *INITIALIZATION_RULES)
def test_modes_are_as_provisioned(sut, judge):
    """The SUT shows the modes that its SUT file declares, and an InitializationRetryTimerDuration of 120 or 900
    seconds. In workgroup mode, it is neither a directory server nor a routing server.
    """
    queue_manager = sut.inspect_queue_manager()
    _judge_provisioned_modes(sut, judge, queue_manager)
    _judge_missing_roles(sut, judge, queue_manager)
    retry_s = str(read_data_model_element(queue_manager, "InitializationRetryTimerDuration"))
    judge(
        *INITIALIZATION_RULES, expected=one_of(*RETRY_DURATIONS_S), observed=retry_s, case="retry duration in seconds"
    )


@needs("inspect", "directory")
@covers("MQSO-6.6.1-03", "MQSO-6.6.1-D03", "MQSO-6.6.1-D04", *INITIALIZATION_RULES)
def test_directory_roles_are_as_provisioned(sut, judge):
    """A SUT in directory mode shows the roles that its SUT file declares, and belongs to a site."""
    queue_manager = sut.inspect_queue_manager()
    _judge_provisioned_modes(sut, judge, queue_manager)
    read_data_model_element(queue_manager, "RoutingServer")
    expected, observed = _select_shown_attributes(
        queue_manager, {name: getattr(sut.file.provisioned, key) for name, key in ATTRIBUTE_BY_PROVISIONED_ROLE.items()}
    )
    judge("MQSO-6.6.1-D04", expected=expected, observed=observed)
    judge(
        *INITIALIZATION_RULES,
        expected=holds("the directory object names a site"),
        observed=bool(read_data_model_element(queue_manager, "SiteIdentifierList")),
    )


@needs("inspect", "restart")
@covers("MQSO-6.6-06", "MQSO-6.6.1-03", "MQSO-6.6.1-D03", "MQSO-6.6.1-D04")
def test_modes_are_as_provisioned_after_restart(sut, judge):
    """After each of two restarts, the SUT shows the modes that its SUT file declares. In workgroup mode, it is neither
    a directory server nor a routing server.
    """
    for _ in range(2):
        sut.restart()
        shown = sut.inspect_queue_manager()
        _judge_provisioned_modes(sut, judge, shown)
        _judge_missing_roles(sut, judge, shown)


@needs("inspect", "directory", "security")
@covers("MQSO-6.6.1-D06")
def test_provisioned_sut_has_public_keys(sut, judge):
    """A SUT in directory mode that supports security shows public encryption keys and public signing keys."""
    shown = sut.inspect_queue_manager()
    keys = {name: bool(shown[name]) for name in PUBLIC_KEY_ATTRIBUTES if name in shown}
    if not keys:
        judge.mark_not_exercised("MQSO-6.6.1-D06", reason="the SUT does not show its public keys")
        return
    judge("MQSO-6.6.1-D06", expected=each(True, "list"), observed=keys, case="the list contains public keys")
