"""Roots: the conditions on which all verdicts on a real system rest. preflight checks them before a run, a run at its
first bad verdict.
"""
