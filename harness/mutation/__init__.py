"""Generate mutants of the reference. Each mutant is the reference with one bug that an implementer could introduce. The
bug may be anywhere in the code, even in code to which no rule applies.
"""
