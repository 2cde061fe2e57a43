"""Defines the operations that each type of object allows. Spec: the preconditions in MS-MQDSSM 3.1.6.1 to 3.1.6.7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reference_qm.directory import objects
from reference_qm.directory.interface import AttributeList
from reference_qm.directory.objects import MAX_LINK_COST, MIN_LINK_COST, DirectoryObject, list_directory_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectTypeRules:
    """The rules for one type of object.

    ``may_be_created``: whether events can create and delete objects of the type.
    ``attributes_needed_for_creation``: the attributes without which an object cannot be created.
    ``attributes_required_in_attribute_list``: the attributes that an iAttributeList, if it is given, must contain.
    ``attributes_forbidden_in_attribute_list``: the attributes that an iAttributeList must not contain.
    ``attributes_always_published_at_creation``: the attributes that are always published when an object is created.
    ``attributes_unchangeable_after_creation``: further attributes that do not change after the creation. Write
    Directory ignores the attributes in the last two sets.
    """

    may_be_created: bool = True
    attributes_needed_for_creation: frozenset[str] = frozenset()
    attributes_required_in_attribute_list: frozenset[str] = frozenset()
    attributes_forbidden_in_attribute_list: frozenset[str] = frozenset()
    attributes_always_published_at_creation: frozenset[str] = frozenset()
    attributes_unchangeable_after_creation: frozenset[str] = frozenset()


ATTRIBUTES_SET_BY_DIRECTORY: Final = frozenset({"Identifier", "CreateTime", "ModifyTime", "FullPath", "DirectoryPath"})
"""The attributes that the directory itself sets. It ignores values for these attributes in requests."""

RULES_BY_OBJECT_TYPE: Final[dict[type[DirectoryObject], ObjectTypeRules]] = {
    objects.QueueManager: ObjectTypeRules(
        attributes_needed_for_creation=frozenset({"SiteIdentifierList", "ComputerName"}),
        attributes_required_in_attribute_list=frozenset({"SiteIdentifierList"}),
        attributes_forbidden_in_attribute_list=frozenset({"ConnectedNetworkIdentifierList"}),
        attributes_always_published_at_creation=frozenset({"ComputerName"}),
        attributes_unchangeable_after_creation=frozenset(
            {"QualifiedComputerName", "OperatingSystemVersion", "Clustered"}
        ),
    ),
    objects.Queue: ObjectTypeRules(
        attributes_needed_for_creation=frozenset({"Pathname"}),
        attributes_required_in_attribute_list=frozenset({"Pathname"}),
        attributes_forbidden_in_attribute_list=frozenset({"Scope"}),
        attributes_always_published_at_creation=frozenset({"Pathname"}),
        attributes_unchangeable_after_creation=frozenset({"QualifiedPathname", "PrivateQueueNumber", "Transactional"}),
    ),
    objects.Site: ObjectTypeRules(
        attributes_needed_for_creation=frozenset({"Name"}),
        attributes_required_in_attribute_list=frozenset({"Name"}),
        attributes_forbidden_in_attribute_list=frozenset({"PrimarySiteController", "PublicSigningKeyList"}),
        attributes_always_published_at_creation=frozenset({"Name"}),
    ),
    objects.RoutingLink: ObjectTypeRules(
        attributes_needed_for_creation=frozenset({"Site1Identifier", "Site2Identifier", "ActualCost"}),
        attributes_required_in_attribute_list=frozenset({"Site1Identifier", "Site2Identifier", "ActualCost"}),
    ),
    objects.Enterprise: ObjectTypeRules(
        may_be_created=False, attributes_always_published_at_creation=frozenset({"Name"})
    ),
    objects.User: ObjectTypeRules(
        may_be_created=False, attributes_always_published_at_creation=frozenset({"SecurityIdentifier"})
    ),
    objects.Computer: ObjectTypeRules(
        may_be_created=False, attributes_always_published_at_creation=frozenset({"Name"})
    ),
    objects.DistributionList: ObjectTypeRules(
        attributes_needed_for_creation=frozenset({"Name"}), attributes_always_published_at_creation=frozenset({"Name"})
    ),
}
"""The rules for each type of object. The result of every operation on a ConnectedNetwork is GenericError.

Spec: MS-MQDSSM 3.1.6.3, 3.1.6.4, 3.1.6.7.
"""


def may_request_contain_attribute_list(kind: type[DirectoryObject], attributes: AttributeList) -> bool:
    """Return whether a request for an object of a type may contain an iAttributeList. Spec: MS-MQDSSM 3.1.6.3.2.1,
    3.1.6.3.5.1.
    """
    return kind in RULES_BY_OBJECT_TYPE and not RULES_BY_OBJECT_TYPE[
        kind
    ].attributes_forbidden_in_attribute_list.intersection(attributes or ())


def may_create_element(element: DirectoryObject, attributes: AttributeList) -> bool:
    """Return whether an element may be created. Spec: MS-MQDSSM 3.1.6.1 (preconditions, as in 3.1.6.1.1.1)."""
    kind = type(element)
    return (
        may_request_contain_attribute_list(kind, attributes)
        and RULES_BY_OBJECT_TYPE[kind].may_be_created
        and all(
            getattr(element, name) not in (None, ())
            for name in RULES_BY_OBJECT_TYPE[kind].attributes_needed_for_creation
        )
        and (
            attributes is None or RULES_BY_OBJECT_TYPE[kind].attributes_required_in_attribute_list.issubset(attributes)
        )
        and is_link_cost_valid(element)
    )


def is_link_cost_valid(element: DirectoryObject) -> bool:
    """Return whether the ActualCost of a link is in the valid range; True for an element that is not a link
    (MS-MQDMPR 3.1.1.8).
    """
    cost = element.ActualCost if isinstance(element, objects.RoutingLink) else None
    return cost is None or MIN_LINK_COST <= cost <= MAX_LINK_COST


def build_created_attributes(kind: type[DirectoryObject], attributes: AttributeList) -> set[str]:
    """Return the attributes that the creation of an element publishes."""
    rules = RULES_BY_OBJECT_TYPE[kind]
    known = (
        set(list_directory_attributes(kind))
        - ATTRIBUTES_SET_BY_DIRECTORY
        - rules.attributes_forbidden_in_attribute_list
    )
    return (
        known if attributes is None else known.intersection(attributes) | rules.attributes_always_published_at_creation
    )


def build_written_attributes(kind: type[DirectoryObject], attributes: AttributeList) -> set[str]:
    """Return the attributes that a write of a directory object updates."""
    rules = RULES_BY_OBJECT_TYPE[kind]
    known = (
        set(list_directory_attributes(kind))
        - ATTRIBUTES_SET_BY_DIRECTORY
        - rules.attributes_forbidden_in_attribute_list
        - rules.attributes_always_published_at_creation
        - rules.attributes_unchangeable_after_creation
    )
    return known if attributes is None else known.intersection(attributes)
