"""MS-MQSO 6.6.2, 6.6.2.2: a computer that leaves its domain."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.pinging import read_data_model_element

pytestmark = needs("directory", "environment", "inspect", "restart", "queue_control")


EMPTY_LAST_DOMAIN_VALUES = (None, "", str(UUID(int=0)))
"""The values that an empty LastDomain can have."""


def _read_public_keys_of_peer(peer, sut):
    return (sut.read_directory_object(queue_manager=str(peer.identifier)) or {}).get("public_encryption_keys_base64")


@covers("MQSO-6.6.2-D03", "MQSO-6.6.2.2-01", "MQSO-6.6.2.2-02")
def test_computer_without_domain_is_in_workgroup_mode(peer, sut, judge):
    """A SUT that is started twice without its domain shows DirectoryIntegrated False and refuses to create a public
    queue. Its object remains in the directory. Its LastDomain stays empty if it then starts without the directory.
    """
    enterprise = Enterprise(peer, sut)
    sut.change_environment(domain=False)
    expected = facts(DirectoryIntegrated=False, creation_of_a_public_queue=Outcome.REFUSED)
    for time in ("first", "second"):
        sut.restart()
        integrated = bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryIntegrated"))
        observed = {
            "DirectoryIntegrated": integrated,
            "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
        }
        judge(
            "MQSO-6.6.2-D03",
            "MQSO-6.6.2.2-01",
            expected=expected,
            observed=observed,
            case=f"after the {time} start without the domain",
        )
        shown = sut.inspect_queue_manager()
        if "LastDomain" in shown:
            judge(
                "MQSO-6.6.2-D03",
                expected=holds("LastDomain is empty"),
                observed=shown["LastDomain"] in EMPTY_LAST_DOMAIN_VALUES or str(shown["LastDomain"]),
                case=f"after the {time} start without the domain",
            )
    sut.change_directory_object(
        queue_manager=str(peer.identifier), public_encryption_keys_base64=_read_public_keys_of_peer(peer, sut)
    )
    peer.settle()
    observed = {
        "DirectoryIntegrated": bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryIntegrated")),
        "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
    }
    judge("MQSO-6.6.2.2-01", expected=expected, observed=observed, case="after a change of the directory")
    judge(
        "MQSO-6.6.2.2-02",
        expected=holds("the SUT has a directory object"),
        observed=sut.read_directory_object() is not None,
    )
    sut.change_environment(domain=True, directory=False)
    sut.restart()
    shown = sut.inspect_queue_manager()
    if "LastDomain" in shown:
        judge(
            "MQSO-6.6.2-D03",
            expected=holds("LastDomain is empty"),
            observed=shown["LastDomain"] in EMPTY_LAST_DOMAIN_VALUES or str(shown["LastDomain"]),
            case="in the domain, after a start without the directory",
        )
    sut.change_environment(directory=True)
    sut.restart()


@covers("MQSO-6.6.2.2-01", "MQSO-6.6.2.2-02")
def test_directory_keeps_public_queue_of_computer_without_domain(peer, sut, judge):
    """A SUT that has a public queue and is started without its domain shows DirectoryIntegrated False. The directory
    objects of the SUT and of its queue remain, even when the SUT is in the domain again.
    """
    enterprise = Enterprise(peer, sut)
    public = enterprise.create_queue()
    sut.change_environment(domain=False)
    sut.restart()
    integrated = bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryIntegrated"))
    judge("MQSO-6.6.2.2-01", expected=False, observed=integrated, case="DirectoryIntegrated")
    _judge_kept_directory_objects(enterprise, judge, public, "without the domain")
    sut.change_environment(domain=True)
    sut.restart()
    enterprise.await_directory_online()
    _judge_kept_directory_objects(enterprise, judge, public, "in the domain again")
    sut.attempt(sut.delete_queue, public)


def _judge_kept_directory_objects(enterprise, judge, public, when):
    observed = {
        "object_of_the_SUT": bool(enterprise.read_directory_object()),
        "object_of_the_public_queue": bool(enterprise.read_directory_object(public)),
    }
    expected = facts(object_of_the_SUT=True, object_of_the_public_queue=True)
    judge("MQSO-6.6.2.2-02", expected=expected, observed=observed, case=when)
