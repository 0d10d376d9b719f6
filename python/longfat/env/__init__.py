"""Reinforcement learning: scenarios as environments of gymnasium, one by one or many at once.

Needs gymnasium: `pip install "longfat[gym]"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.lazy import getter

if TYPE_CHECKING:
    from longfat.env.environment import Env, VectorEnv
    from longfat.env.paths import AURORA_PATHS
    from longfat.env.quantities import QUANTITIES, Quantity
    from longfat.env.setting import AURORA, ORCA, Action, Setting

__all__ = [
    "AURORA",
    "AURORA_PATHS",
    "ORCA",
    "QUANTITIES",
    "Action",
    "Env",
    "Quantity",
    "Setting",
    "VectorEnv",
]

_MODULES = {
    **dict.fromkeys(("Env", "VectorEnv"), "environment"),
    "AURORA_PATHS": "paths",
    **dict.fromkeys(("QUANTITIES", "Quantity"), "quantities"),
    **dict.fromkeys(("AURORA", "ORCA", "Action", "Setting"), "setting"),
}

__getattr__ = getter(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
