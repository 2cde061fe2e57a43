"""MS-MQQP 3.1.4.6 RemoteQMCancelReceive (Opnum 5)."""
