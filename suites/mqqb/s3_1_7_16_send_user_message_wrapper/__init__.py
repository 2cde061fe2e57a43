"""MS-MQQB 3.1.7.16 Send User Message Wrapper."""
