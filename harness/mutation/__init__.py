"""Generate mutants of the reference. A mutant is a version with one bug that an implementer may make anywhere in
the code, not only where a rule applies.
"""
