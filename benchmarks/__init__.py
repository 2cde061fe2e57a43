"""What ``make bench`` runs: figures measured in parallel, never a test."""
