"""Stored results: runs by key, files and folders that are written whole, and where they lie."""
