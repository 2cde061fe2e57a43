"""Faults, which are deliberate violations of rules. Each fault changes the reference from outside its code, and
names the rules that it breaks.

A check counts as proven only if it passes on the reference without faults and fails on a fault of its rule
(``mqconform prove``).
"""
