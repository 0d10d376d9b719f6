"""Sweeps: many runs over a grid, stored under a key, so that running again does only the missing runs."""

from longfat.study.grid import Axis, Point
from longfat.sweep.file import from_dict, load
from longfat.sweep.grid import Sweep
from longfat.sweep.handle import Swept, open_sweep
from longfat.sweep.run import report, run, told

__all__ = ["Axis", "Point", "Sweep", "Swept", "from_dict", "load", "open_sweep", "report", "run", "told"]
