"""Longfat: a laboratory for congestion control on long fat networks."""
