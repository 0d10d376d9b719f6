"""Sweeps: many runs over a grid, stored under a key, so that running again does only the missing runs."""

from longfat.sweep.axes import Axis
from longfat.sweep.file import from_dict, load
from longfat.sweep.grid import Point, Sweep
from longfat.sweep.handle import Swept, open_sweep
from longfat.sweep.run import report, run, told

__all__ = ["Axis", "Point", "Sweep", "Swept", "from_dict", "load", "open_sweep", "report", "run", "told"]
