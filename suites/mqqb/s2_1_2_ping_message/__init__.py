"""MS-MQQB 2.1.2 Ping Message."""
