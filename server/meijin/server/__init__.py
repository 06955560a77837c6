"""The match server: sessions, arbiter, tournaments and servicers."""
