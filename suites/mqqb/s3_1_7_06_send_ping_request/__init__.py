"""MS-MQQB 3.1.7.6 Send Ping Request."""
