"""What ``make bench`` runs: figures measured side by side, never a test."""
