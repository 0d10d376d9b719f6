"""The `longfat` command: one file a command."""
