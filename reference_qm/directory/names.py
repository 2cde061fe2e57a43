"""Builds the distinguished name of an object in the directory. Spec: MS-MQDSSM 2.2.1, 3.1.6.1.4.2.

MS-MQDSSM 3.1.6.1.3.2 creates sites under CN=Services, but 2.2.1 reads them under CN=Sites. This module follows
2.2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reference_qm.directory import objects
from reference_qm.directory.objects import DirectoryObject

_ESCAPED_NAME_CHARACTERS: Final = '\\,+"<>;='
_CONFIGURATION_PATH: Final = ("CN=Configuration",)
_DIRECTORY_ROOT_NAME: Final = "DC=enterprise,DC=invalid"
"""The distinguished name of the container that contains all objects of the directory. MS-MQDSSM does not prescribe this
name.
"""


def _build_common_name(value: str) -> str:
    """Return the relative distinguished name ``CN=value`` for a value. Spec: RFC 4514 2.4 (allowed characters)."""
    escaped = "".join(f"\\{one}" if one in _ESCAPED_NAME_CHARACTERS else one for one in value)
    return f"CN={escaped}"


def _build_path_of_computer(name: str) -> tuple[str, ...]:
    return ("CN=msmq", _build_common_name(name), "CN=Computers")


def _build_path_of_computer_object(element: objects.Computer) -> tuple[str, ...]:
    return (_build_common_name(element.Name), "CN=Computers") if element.Name else ()


def _build_path_of_distribution_list(element: objects.DistributionList) -> tuple[str, ...]:
    return (_build_common_name(element.Name), "CN=Users") if element.Name else ()


def _build_path_of_queue_manager(element: objects.QueueManager) -> tuple[str, ...]:
    return _build_path_of_computer(element.ComputerName) if element.ComputerName else ()


def _build_path_of_queue(element: objects.Queue) -> tuple[str, ...]:
    computer, separator, name = (element.Pathname or "").partition("\\")
    return (_build_common_name(name), *_build_path_of_computer(computer)) if separator and computer and name else ()


def _build_path_of_site(element: objects.Site) -> tuple[str, ...]:
    return (_build_common_name(element.Name), "CN=Sites", *_CONFIGURATION_PATH) if element.Name else ()


def _build_path_of_routing_link(element: objects.RoutingLink) -> tuple[str, ...]:
    ends = (element.Site1Identifier, element.Site2Identifier)
    name = "".join(end.hex for end in ends if end)
    return (f"CN={name}", "CN=MsmqServices", "CN=Services", *_CONFIGURATION_PATH) if all(ends) else ()


def _build_path_of_enterprise(element: objects.Enterprise) -> tuple[str, ...]:
    return ("CN=MsmqServices", "CN=Services", *_CONFIGURATION_PATH)


def _build_path_of_user(element: objects.User) -> tuple[str, ...]:
    return (f"CN={element.SecurityIdentifier.hex()}", "CN=Users") if element.SecurityIdentifier else ()


_PATH_BUILDERS: Final[dict[type[DirectoryObject], Callable[[Any], tuple[str, ...]]]] = {
    objects.QueueManager: _build_path_of_queue_manager,
    objects.Queue: _build_path_of_queue,
    objects.Site: _build_path_of_site,
    objects.RoutingLink: _build_path_of_routing_link,
    objects.Enterprise: _build_path_of_enterprise,
    objects.User: _build_path_of_user,
    objects.Computer: _build_path_of_computer_object,
    objects.DistributionList: _build_path_of_distribution_list,
}


def build_distinguished_name(element: DirectoryObject) -> str | None:
    """Build the distinguished name of an element from its naming attributes. Return None if one of these attributes is
    not set.
    """
    names = _PATH_BUILDERS[type(element)](element)
    return ", ".join((*names, _DIRECTORY_ROOT_NAME)) if names else None
