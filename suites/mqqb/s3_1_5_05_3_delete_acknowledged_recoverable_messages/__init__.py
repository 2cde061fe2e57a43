"""MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages."""
