"""MS-MQQB 3.1.5.5.5 Validate Message Counts."""
