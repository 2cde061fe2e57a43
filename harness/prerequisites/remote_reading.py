"""Check whether a remote reader can find the endpoint of qm2qm through the endpoint mapper. Spec: MS-MQQP 2.1;
C706 O.
"""

from __future__ import annotations

from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.prerequisites.system import SystemWithCheckedPrerequisites

REMOTE_READING_SUBJECT = "rpc mapper"


def check_qm2qm_endpoint(system: SystemWithCheckedPrerequisites) -> PrerequisiteFinding:
    """Ask the endpoint mapper for the endpoint of qm2qm. The endpoint mapper is at its usual port or at the port of
    qmcomm, because only privileged programs can use the usual port.
    """
    from harness.sut import endpoint_mapper  # importing the layers of DCE/RPC takes a second
    from harness.wire.rpc import QM2QM

    driver, why = system.file.driver, ""
    if not system.file.capabilities.get("qm2qm", False):
        return PrerequisiteFinding(REMOTE_READING_SUBJECT, PrerequisiteState.NOT_DECLARED, "not tried")
    for port in (endpoint_mapper.MAPPER_PORT, driver.rpc_port):
        found = endpoint_mapper.ask_endpoint_mapper(driver.address, port, QM2QM)
        if isinstance(found, str):
            why = why or f"{driver.address}:{port}: {found}"
        elif found:
            return PrerequisiteFinding(
                REMOTE_READING_SUBJECT,
                PrerequisiteState.OK,
                f"the endpoint mapper at {driver.address}:{port} returns port {found[0]} for qm2qm",
            )
        else:
            why = why or f"the endpoint mapper at {driver.address}:{port} has no entry for qm2qm"
    declared = f"{system.file.label} declares qm2qm (capabilities.qm2qm)"
    said = f"{declared}, but a remote reader does not find this interface: {why}"
    remedy = (
        f"start the endpoint mapper (Windows: service RpcEptMapper), or open TCP port "
        f"{endpoint_mapper.MAPPER_PORT} in the firewall of the system"
    )
    return PrerequisiteFinding(REMOTE_READING_SUBJECT, PrerequisiteState.MISSING, said, remedy)
