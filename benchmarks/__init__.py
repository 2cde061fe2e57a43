"""Contains the benchmarks that ``make bench`` runs. They measure figures and compare them with targets, but test
nothing.
"""
