"""Stored results: runs by key, folders that are written whole, and where they can be."""
