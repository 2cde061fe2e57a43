"""MS-MQQB 3.1.7.7 Receive Ping Request."""
