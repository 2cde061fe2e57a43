"""Generate mutants of the reference. A mutant is a version of the reference with one bug, as an implementer may
introduce it anywhere in the code. Rules need not apply to this code.
"""
