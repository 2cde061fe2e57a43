"""MS-MQQP 3.1.4.2 RemoteQMEndReceive (Opnum 1)."""
