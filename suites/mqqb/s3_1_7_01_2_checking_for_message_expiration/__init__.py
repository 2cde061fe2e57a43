"""MS-MQQB 3.1.7.1.2 Checking for Message Expiration."""
