"""MS-MQQB 3.1.7.8 Receive Ping Response."""
