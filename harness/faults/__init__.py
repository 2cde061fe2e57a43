"""Deliberate violations. Each is wrapped around the core from outside, and names the rules that it breaks.

A check counts only if it passes on the clean reference and fails on a fault of its rule (``mqconform prove``).
"""
