"""MS-MQQP 3.1.4.3 RemoteQMOpenQueue (Opnum 2)."""
