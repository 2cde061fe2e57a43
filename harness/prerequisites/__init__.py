"""Check the prerequisites on which all verdicts about a real system depend, such as a route from the system to the
peer. `mqconform preflight` checks them before a run, and a run checks them at its first bad verdict.
"""
