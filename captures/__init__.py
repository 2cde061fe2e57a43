"""Golden packets and recorded traffic (data only)."""
