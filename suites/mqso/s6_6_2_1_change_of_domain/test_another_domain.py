"""MS-MQSO 6.6.2, 6.6.2.1: a computer that rejoins its own domain, or joins a new domain."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.judging.judge import Judge
from harness.peer.handshake import establish_request
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.opening import format_guid
from suites.mqqb.steps.pinging import ping_sut, read_data_model_element
from suites.mqqb.steps.sender import Sender

pytestmark = needs("directory", "environment", "inspect", "restart", "queue_control")

DIRECTORY_OBJECT_PRESENT_OUTCOME, DIRECTORY_OBJECT_MISSING_OUTCOME = "present", "missing"
LAST_DOMAIN_ELEMENT = "MachineDomainId"
OBJECT_ATTRIBUTES = ("public_encryption_keys_base64", "public_signing_keys_base64", "sites", "routing_server")
"""The visible attributes of a computer's directory object at its creation."""
CHANGE_OF_DOMAIN_RULES = ("MQSO-6.6.2-03", "MQSO-6.6.2-D04", "MQSO-6.6.2.1-01")
NO_DIRECTORY_OBJECT_REASON = "the SUT creates no object in a new domain, which MS-MQSO 6.6.2 and 6.6.2.1 only recommend"


def _restart_in_environment(sut: Sut, **environment: bool) -> None:
    """Change the environment and restart the SUT. In a new domain, the SUT may have a new identifier."""
    sut.change_environment(**environment)
    sut.control.call("restart")


def _return_to_own_domain(sut: Sut) -> None:
    sut.change_environment(own_domain=True)
    sut.restart()


def _read_directory_object_presence(sut: Sut) -> str:
    return DIRECTORY_OBJECT_MISSING_OUTCOME if sut.read_directory_object() is None else DIRECTORY_OBJECT_PRESENT_OUTCOME


def _is_last_domain_that_of_computer(sut: Sut) -> str:
    """Return whether LastDomain of the SUT is the domain of the computer."""
    queue_manager = sut.inspect_queue_manager()
    last, machine = (
        read_data_model_element(queue_manager, "LastDomain"),
        read_data_model_element(queue_manager, "MachineDomainId"),
    )
    return LAST_DOMAIN_ELEMENT if machine and last == machine else f"{last}, not MachineDomainId {machine}"


def _await_directory_object(peer: Peer, sut: Sut) -> str:
    """Wait for the SUT to create its directory object; return whether it did."""
    peer.eventually(lambda: _read_directory_object_presence(sut) == DIRECTORY_OBJECT_PRESENT_OUTCOME)
    return _read_directory_object_presence(sut)


def _is_directory_offline(sut: Sut) -> bool:
    return bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryOffline"))


def _read_guid(sut: Sut) -> UUID:
    return UUID(sut.control.call("identity")["guid"])


def _select_attributes(published: dict[str, Any] | None) -> dict[str, Any]:
    """Return the attributes of a computer's object that the directory contains."""
    return {name: (published or {}).get(name) for name in OBJECT_ATTRIBUTES}


@covers("MQSO-6.6.2-D02", "MQDMPR-3.1.3-06", "MQDMPR-3.1.3-10", "MQDMPR-3.1.3-D02")
def test_computer_that_rejoins_domain_is_in_directory_mode(peer, sut, judge):
    """The SUT starts without its domain and then in its domain. LastDomain of the SUT is then that domain, its
    directory object exists, and it creates a public queue. LastDomain is still that domain after a start without the
    directory.
    """
    enterprise = Enterprise(peer, sut)
    sut.change_environment(domain=False)
    sut.restart()
    without = read_data_model_element(sut.inspect_queue_manager(), "MachineDomainId")
    sut.change_environment(domain=True)
    sut.restart()
    within = read_data_model_element(sut.inspect_queue_manager(), "MachineDomainId")
    noted = {"domain_shown_outside_the_domain": bool(without), "domain_shown_inside_the_domain": bool(within)}
    expected = facts(domain_shown_outside_the_domain=False, domain_shown_inside_the_domain=True)
    judge(
        "MQDMPR-3.1.3-06",
        "MQDMPR-3.1.3-10",
        "MQDMPR-3.1.3-D02",
        expected=expected,
        observed=noted,
        case="MachineDomainId",
    )
    if not read_data_model_element(sut.inspect_queue_manager(), "DirectoryIntegrated"):
        judge.mark_not_exercised("MQSO-6.6.2-D02", reason="a SUT that has left its domain stays in workgroup mode")
        return
    enterprise.await_directory_online()
    directory_object = _await_directory_object(peer, sut)
    observed = {
        "directory_object": directory_object,
        "LastDomain": _is_last_domain_that_of_computer(sut),
        "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
    }
    expected = facts(
        directory_object=DIRECTORY_OBJECT_PRESENT_OUTCOME,
        LastDomain=LAST_DOMAIN_ELEMENT,
        creation_of_a_public_queue=Outcome.DONE,
    )
    judge("MQSO-6.6.2-D02", expected=expected, observed=observed)
    _judge_last_domain_after_start_without_directory(sut, judge, "MQSO-6.6.2-D02")
    sut.restart()


def _judge_last_domain_after_start_without_directory(sut: Sut, judge: Judge, rule: str) -> None:
    """Start the SUT while its directory is unavailable, and judge that its LastDomain is still the domain."""
    _restart_in_environment(sut, directory=False)
    last_domain = _is_last_domain_that_of_computer(sut)
    case = "LastDomain after a start without the directory"
    judge(rule, expected=LAST_DOMAIN_ELEMENT, observed=last_domain, case=case)
    sut.change_environment(directory=True)


def _judge_used_identifiers(sender: Sender, judge: Judge, identifier: str, time: str) -> None:
    """Judge the Identifier of the SUT in its packets, in its abstract data model, and in a private format name."""
    peer, sut = sender.peer, sender.sut
    used: dict[str, str] = {}
    evidence: list[Frame] = []
    shown = sut.inspect_queue_manager()
    if "Identifier" in shown:
        used["QueueManager.Identifier"] = str(shown["Identifier"])
    used["private format name"] = sut.private_format_name(sut.new_queue(f"domain-{time}")).partition("\\")[0]
    exchange = ping_sut(peer) if sut.has("ping") else None
    if exchange is not None and exchange.ping is not None:
        used["QMGuid of a Ping Response"] = str(exchange.ping.QMGuid)
        evidence.append(exchange.sent)
    if sut.has("send"):
        sender.send(1)
        session, frames = sender.await_first_messages(1)
        request = sender.get_establish_request(session)
        used["ClientGuid of a request"] = str(request["EstablishConnectionHeader"].ClientGuid)
        used["SourceQueueManager of a message"] = str(frames[0]["UserHeader"].SourceQueueManager)
        evidence += [request, *frames]
        session.acknowledge_all()
    used = {place: guid.removeprefix("PRIVATE=").strip("{}").lower() for place, guid in used.items()}
    case = f"Identifier of the SUT after the {time} start in the new domain"
    expected = dict.fromkeys(used, identifier.lower())
    judge("MQSO-6.6.2.1-05", expected=expected, observed=used, evidence=evidence, case=case)
    connection = peer.connect()
    connection.send(establish_request(peer))
    accepted = connection.expect("EstablishConnection")
    if accepted["InternalHeader"].CS:
        raise ConformanceFailure("the SUT refuses a session")
    judge(
        "MQQB-3.1.5.3.1-09",
        expected=format_guid(identifier),
        observed=format_guid(accepted["EstablishConnectionHeader"].ServerGuid),
        evidence=accepted,
        case=f"ServerGuid of a response after the {time} start in the new domain",
    )


@covers(*CHANGE_OF_DOMAIN_RULES, "MQSO-6.6.2.1-05", "MQSO-6.6.2.1-D05", "MQQB-3.1.5.3.1-09")
def test_sut_in_new_domain_creates_object_and_uses_its_identifier(peer, sut, judge):
    """A SUT that is started in a new domain creates its object with the attributes of the old object, and stores the
    new domain as LastDomain. It uses the new object's Identifier, even after a restart. LastDomain is still the new
    domain after a start without the directory.
    """
    object_before = _select_attributes(sut.read_directory_object())
    _restart_in_environment(sut, own_domain=False)
    _await_directory_object(peer, sut)
    new_object = sut.read_directory_object()
    observed = {
        "directory_object": _read_directory_object_presence(sut),
        "LastDomain": _is_last_domain_that_of_computer(sut),
    }
    judge(
        *CHANGE_OF_DOMAIN_RULES,
        expected=facts(directory_object=DIRECTORY_OBJECT_PRESENT_OUTCOME, LastDomain=LAST_DOMAIN_ELEMENT),
        observed=observed,
    )
    if new_object is None:
        judge.mark_not_exercised(
            "MQSO-6.6.2.1-05", "MQSO-6.6.2.1-D05", "MQQB-3.1.5.3.1-09", reason=NO_DIRECTORY_OBJECT_REASON
        )
    else:
        sender = Sender(peer, sut, peer.direct_name("mqc-domain"))
        for time in ("first", "second"):
            case = f"Identifier after the {time} start in the new domain"
            judge("MQSO-6.6.2.1-05", expected=new_object["identifier"], observed=str(_read_guid(sut)), case=case)
            _judge_used_identifiers(sender, judge, new_object["identifier"], time)
            if time == "first":
                sut.control.call("restart")
        judge("MQSO-6.6.2.1-D05", expected=object_before, observed=_select_attributes(new_object))
        _judge_last_domain_after_start_without_directory(sut, judge, "MQSO-6.6.2-D04")
    _return_to_own_domain(sut)


@covers("MQDMPR-3.1.3-06", "MQDMPR-3.1.3-10", "MQDMPR-3.1.3-D02", "MQDMPR-3.1.1.1-11")
def test_machine_domain_is_domain_of_each_start(sut, judge):
    """The SUT restarts in its own domain, in another domain, and in its own domain again. MachineDomainId is the GUID
    of the domain of each start. Unless the SUT is a directory server, it has no DirectoryServerType.
    """
    own = str(read_data_model_element(sut.inspect_queue_manager(), "MachineDomainId")).lower()
    observed = []
    for is_from_this_queue_manager in (True, False, True):
        _restart_in_environment(sut, own_domain=is_from_this_queue_manager)
        observed.append(str(read_data_model_element(sut.inspect_queue_manager(), "MachineDomainId")).lower())
        identifier = str(_read_guid(sut))
        shown = sut.inspect_queue_manager()
        if shown["DirectoryServer"]:
            judge.mark_not_exercised("MQDMPR-3.1.1.1-11", reason="the SUT is a directory server")
        else:
            server_type = shown["DirectoryServerType"]
            judge("MQDMPR-3.1.1.1-11", expected=None, observed=server_type, case="DirectoryServerType")
        if not is_from_this_queue_manager:
            no_domain = ("none", str(UUID(int=0)), own, identifier)
            judge(
                "MQDMPR-3.1.3-06",
                "MQDMPR-3.1.3-10",
                "MQDMPR-3.1.3-D02",
                expected=holds("the GUID of another domain"),
                observed=observed[-1] not in no_domain or observed[-1],
                case="MachineDomainId in another domain",
            )
    _return_to_own_domain(sut)
    judge(
        "MQDMPR-3.1.3-06",
        "MQDMPR-3.1.3-10",
        "MQDMPR-3.1.3-D02",
        expected=[own, own],
        observed=[observed[0], observed[2]],
        case="MachineDomainId in the own domain",
    )


@covers("MQSO-6.6.2.1-D01")
def test_sut_in_new_domain_without_directory_creates_object_at_next_start(peer, sut, judge):
    """A SUT is started in a new domain while the directory is unavailable. It creates no object when the directory
    becomes available, but creates one at its next start.
    """
    _restart_in_environment(sut, own_domain=False, directory=False)
    sut.change_environment(directory=True)
    peer.settle()
    first_state = _read_directory_object_presence(sut)
    sut.control.call("restart")
    second = _await_directory_object(peer, sut)
    observed = {
        "directory_object_after_the_first_start": first_state,
        "directory_object_after_the_second_start": second,
    }
    if (
        first_state == second == DIRECTORY_OBJECT_MISSING_OUTCOME
        and _is_last_domain_that_of_computer(sut) != LAST_DOMAIN_ELEMENT
    ):
        judge.mark_not_exercised("MQSO-6.6.2.1-D01", reason=NO_DIRECTORY_OBJECT_REASON)
    else:
        judge(
            "MQSO-6.6.2.1-D01",
            expected=facts(
                directory_object_after_the_first_start=DIRECTORY_OBJECT_MISSING_OUTCOME,
                directory_object_after_the_second_start=DIRECTORY_OBJECT_PRESENT_OUTCOME,
            ),
            observed=observed,
        )
    _return_to_own_domain(sut)


@covers("MQSO-6.6.2.1-03", "MQSO-6.6.2.1-D02")
def test_object_with_same_name_in_new_domain_sets_directory_offline(peer, sut, judge):
    """A SUT is started in a new domain whose directory contains an object with the SUT's name but with a different
    Identifier. The SUT keeps its own Identifier. It shows DirectoryOffline, even after two queries, until the object
    has that Identifier.
    """
    enterprise = Enterprise(peer, sut)
    own_identifier = _read_guid(sut)
    _restart_in_environment(sut, own_domain=False, registration=False)
    guid, offline, last = _read_guid(sut), _is_directory_offline(sut), _is_last_domain_that_of_computer(sut)
    if guid == own_identifier and offline and last != LAST_DOMAIN_ELEMENT:
        judge.mark_not_exercised("MQSO-6.6.2.1-03", reason=NO_DIRECTORY_OBJECT_REASON)
    else:
        observed = {"Identifier": guid, "DirectoryOffline": offline, "LastDomain": last}
        expected = facts(Identifier=own_identifier, DirectoryOffline=True, LastDomain=LAST_DOMAIN_ELEMENT)
        judge("MQSO-6.6.2.1-03", expected=expected, observed=observed)
    for when in ("after the start", "after the first query", "after the second query"):
        offline = _is_directory_offline(sut)
        judge("MQSO-6.6.2.1-D02", expected=True, observed=offline, case=f"DirectoryOffline {when}")
        enterprise.await_expiry_of_online_timer()
    sut.change_environment(registration=True)
    enterprise.await_directory_online()
    observed = {"Identifier": _read_guid(sut), "DirectoryOffline": _is_directory_offline(sut)}
    judge("MQSO-6.6.2.1-D02", expected=facts(Identifier=own_identifier, DirectoryOffline=False), observed=observed)
    _return_to_own_domain(sut)
