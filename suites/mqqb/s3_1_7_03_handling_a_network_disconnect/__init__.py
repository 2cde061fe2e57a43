"""MS-MQQB 3.1.7.3 Handling a Network Disconnect."""
