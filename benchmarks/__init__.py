"""The benchmarks that ``make bench`` runs: figures to compare, measured in one run; never a test."""
