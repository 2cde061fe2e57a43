"""MS-MQQB 3.1.5.8.7 Recoverable Message Processing."""
