"""Generate mutants of the reference: versions with one bug that an implementer may make anywhere, not only where a rule
applies.
"""
