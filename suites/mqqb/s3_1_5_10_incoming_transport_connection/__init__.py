"""MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection."""
