"""Take the same steps on a system and on a model of the required behavior, and compare everything that is visible in
both.
"""
