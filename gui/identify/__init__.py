"""Identifying a rig from its recordings: a wizard over `rig identify`."""
