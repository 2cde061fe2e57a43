"""Selects presentation contexts and transfer syntaxes. Spec: MS-RPCE 3.3.1.5.3, 3.3.1.5.6; C706 12.6.3.1."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from reference_qm.rpc.bind_bodies import PresentationContextElement, PresentationContextResult
from reference_qm.rpc.interfaces.method import Interface
from reference_qm.rpc.status import ProposalResult, ProviderReason
from reference_qm.rpc.syntaxes import (
    KEEP_CONNECTION_ON_ORPHAN_FEATURE,
    NDR,
    NDR64,
    SyntaxId,
    get_requested_bind_features,
)

TRANSFER_SYNTAXES = MappingProxyType({NDR: False, NDR64: True})
"""The supported transfer syntaxes. The value of a syntax is True if the syntax is NDR64."""

_UNKNOWN_INTERFACE_RESULT = PresentationContextResult(
    ProposalResult.PROVIDER_REJECTION, ProviderReason.ABSTRACT_SYNTAX_NOT_SUPPORTED
)
_SYNTAX_NOT_CHOSEN_RESULT = PresentationContextResult(
    ProposalResult.PROVIDER_REJECTION, ProviderReason.PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED
)


@dataclass(frozen=True, slots=True)
class PresentationContext:
    """An accepted presentation context: an interface and the transfer syntax of its calls."""

    p_cont_id: int
    interface: Interface
    wide: bool


def negotiate_contexts(
    proposals: Sequence[PresentationContextElement], interfaces: Collection[Interface], preferred: SyntaxId
) -> tuple[tuple[PresentationContextResult, ...], list[PresentationContext]]:
    """Return the result of each proposal, in order, and the accepted contexts.

    At most one transfer syntax is accepted for each interface: ``preferred`` if the client proposes it, otherwise
    the first supported syntax.
    """
    chosen = _choose_context_proposals(proposals, preferred)
    results: list[PresentationContextResult] = []
    accepted: list[PresentationContext] = []
    for place, proposal in enumerate(proposals):
        features = (
            get_requested_bind_features(proposal.transfer_syntaxes[0]) if len(proposal.transfer_syntaxes) == 1 else None
        )
        if features is not None:
            results.append(
                PresentationContextResult(ProposalResult.NEGOTIATE_ACK, features & KEEP_CONNECTION_ON_ORPHAN_FEATURE)
            )
            continue
        served = next((one for one in interfaces if one.syntax.serves_client_syntax(proposal.abstract_syntax)), None)
        if served is None:
            results.append(_UNKNOWN_INTERFACE_RESULT)
        elif place not in chosen:
            results.append(_SYNTAX_NOT_CHOSEN_RESULT)
        else:
            results.append(PresentationContextResult(ProposalResult.ACCEPTANCE, transfer_syntax=chosen[place]))
            accepted.append(PresentationContext(proposal.p_cont_id, served, TRANSFER_SYNTAXES[chosen[place]]))
    return tuple(results), accepted


def _choose_context_proposals(
    proposals: Sequence[PresentationContextElement], preferred: SyntaxId
) -> dict[int, SyntaxId]:
    """Choose one proposal for each abstract syntax. Return the chosen transfer syntaxes by the indexes of their
    proposals.
    """
    best: dict[SyntaxId, tuple[int, SyntaxId]] = {}
    for place, proposal in enumerate(proposals):
        for syntax in proposal.transfer_syntaxes:
            if syntax not in TRANSFER_SYNTAXES:
                continue
            known = best.get(proposal.abstract_syntax)
            if known is None or (syntax == preferred and known[1] != preferred):
                best[proposal.abstract_syntax] = (place, syntax)
    return dict(best.values())
