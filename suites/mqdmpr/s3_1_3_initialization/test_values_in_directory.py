"""MS-MQDMPR 3.1.3 Initialization: keys, sites, the retry duration and the domain of a SUT in a directory."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order
from harness.run.marks import covers, needs
from harness.wire.protection import read_listed_keys
from suites.mqdmpr.steps.directory import Enterprise

pytestmark = needs("directory", "inspect")

KEY_LISTS_BY_RULE = {"MQDMPR-3.1.3-22": "PublicEncryptionKeyList", "MQDMPR-3.1.3-25": "PublicSigningKeyList"}


def _list_providers_of_listed_keys(queue_manager, name):
    keys = bytes.fromhex(queue_manager[name] or "")
    return sorted(read_listed_keys(keys)) if keys else []


@needs("environment", "queue_control", "restart", "security")
@covers(*KEY_LISTS_BY_RULE, "MQDMPR-3.1.3-D04", "MQDMPR-3.1.3-D05")
def test_keys_sites_and_retry_duration_survive_outage_and_restart(peer, sut, judge):
    """The SUT has a key of each provider in each list, its sites, and its retry duration. It has the same values after
    a restart, while the directory is unavailable, and when it uses the directory again.
    """
    enterprise = Enterprise(peer, sut)
    if not enterprise.await_directory_online():
        raise ConformanceFailure("the SUT has no directory at the start of the check")
    first = sut.inspect_queue_manager()
    shown = {}
    sut.restart()
    if not enterprise.await_directory_online():
        raise ConformanceFailure("the SUT does not use its directory after a restart")
    shown["after a restart"] = sut.inspect_queue_manager()
    enterprise.go_offline()
    shown["without the directory"] = sut.inspect_queue_manager()
    sut.change_environment(directory=True)
    if not enterprise.await_directory_online():
        raise ConformanceFailure("the SUT does not use its directory, which is available again")
    shown["with the directory again"] = sut.inspect_queue_manager()
    for time, model in shown.items():
        for rule, name in KEY_LISTS_BY_RULE.items():
            before = _list_providers_of_listed_keys(first, name)
            case = f"providers with a key in {name} {time}"
            judge(rule, expected=any_order(*before), observed=_list_providers_of_listed_keys(model, name), case=case)
        judge(
            "MQDMPR-3.1.3-D05",
            expected=any_order(*(str(one).lower() for one in first["SiteIdentifierList"])),
            observed=[str(one).lower() for one in model["SiteIdentifierList"]],
            case=f"SiteIdentifierList {time}",
        )
        duration = str(model["InitializationRetryTimerDuration"])
        judge(
            "MQDMPR-3.1.3-D04",
            expected=str(first["InitializationRetryTimerDuration"]),
            observed=duration,
            case=f"retry duration in seconds {time}",
        )


@needs("environment", "queue_control", "restart")
@covers("MQDMPR-3.1.3-D03")
def test_qualified_name_stays_the_same_whenever_directory_is_read(peer, sut, judge):
    """Neither the name of the SUT's computer nor its domain changes. The QualifiedComputerName of the SUT is the same
    at the start of the check, after two restarts, and when the SUT uses its directory again after an outage.
    """
    enterprise = Enterprise(peer, sut)

    def read_qualified_computer_names(time: str) -> dict[str, str]:
        if not enterprise.await_directory_online():
            raise ConformanceFailure(f"the SUT does not use its directory {time}")
        model = sut.inspect_queue_manager()
        return {name: str(model[name]).lower() for name in ("QualifiedComputerName", "ComputerName")}

    first = read_qualified_computer_names("at the start of the check")
    for time in ("after a restart", "after a second restart", "after an outage of the directory"):
        if time == "after an outage of the directory":
            enterprise.go_offline()
            sut.change_environment(directory=True)
        else:
            sut.restart()
        judge("MQDMPR-3.1.3-D03", expected=first, observed=read_qualified_computer_names(time), case=f"names {time}")
