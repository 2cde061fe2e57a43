"""Deliberate violations, each wrapped around the core from outside, each naming the rules that it breaks.

A check counts only when it passes on the clean reference and fails on a fault of its rule (``mqconform prove``).
"""
