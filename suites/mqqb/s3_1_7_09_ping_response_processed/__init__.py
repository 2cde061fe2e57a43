"""MS-MQQB 3.1.7.9 Ping Response Processed."""
