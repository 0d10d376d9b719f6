"""Trains a small policy that sets the rate of a flow as Aurora does, in a minute or two on a processor.

The policy is linear, with ten weights for three intervals of Aurora's observation. CMA-ES, of the library
`cma`, trains it: it draws weights, they all play on the same random path, and the best say where it draws the
next ones.
Run it: pip install "longfat[gym]" cma, then python examples/learn_rate.py
"""

import argparse
import dataclasses

import cma  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from longfat.env import AURORA, AURORA_PATHS, VectorEnv

SCENARIO = {
    "duration": "20 s",
    "bottleneck": {"rate": "3 Mbit/s", "buffer": "100 packets"},
    "flow": [{"algorithm": "reno", "rtt": "100 ms"}],
}
SETTING = dataclasses.replace(AURORA, history=3)
PATHS = {**AURORA_PATHS, "flow.0.rtt": {"uniform": ["60 ms", "300 ms"]}}
REST = np.tile([quantity.at_rest for quantity in SETTING.observed], SETTING.history)
WEIGHTS = 1 + REST.size
SPREAD = 0.5
"""The standard deviation of the first weights that are drawn."""

Numbers = NDArray[np.float64]


def actions(weights: Numbers, seen: NDArray[np.float32]) -> Numbers:
    """Returns the action of each policy for what it sees, between -1 and 1."""
    found: Numbers = np.tanh(weights[:, 0] + np.sum(weights[:, 1:] * (seen - REST), axis=1))
    return found[:, np.newaxis]


def play(env: VectorEnv, weights: Numbers, seed: int) -> Numbers:
    """Returns the mean reward of each policy in an episode; all play on the path of this seed."""
    seen, _ = env.reset(seed=[seed] * env.num_envs)
    rewards, intervals = np.zeros(env.num_envs), np.zeros(env.num_envs)
    over = np.zeros(env.num_envs, dtype=bool)
    while not over.all():
        seen, reward, _, truncated, _ = env.step(actions(weights, seen).astype(np.float32))
        rewards += np.where(over, 0.0, reward)
        intervals += ~over
        over |= truncated
    return rewards / intervals


def train(env: VectorEnv, generations: int, seed: int) -> Numbers:
    """Returns the weights that CMA-ES finds, which minimizes; so it gets negative rewards."""
    options = {"popsize": env.num_envs, "seed": seed, "verbose": -9}
    search = cma.CMAEvolutionStrategy(np.zeros(WEIGHTS), SPREAD, options)
    for generation in range(generations):
        weights = search.ask()
        scores = play(env, np.array(weights), seed=generation)
        search.tell(weights, -scores)
        print(f"generation {generation + 1:3}  mean reward {scores.mean():7.3f}  best {scores.max():7.3f}")
    found: Numbers = search.result.xfavorite
    return found


def main() -> None:
    """Print the rewards while the policy learns, and those on paths that it has not seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--population", type=int, default=32)
    parser.add_argument("--paths", type=int, default=20, help="on how many new paths to try the policy")
    given = parser.parse_args()
    env = VectorEnv(SCENARIO, SETTING, given.population, paths=PATHS)
    learnt = train(env, given.generations, seed=1)
    env.close()

    pair = VectorEnv(SCENARIO, SETTING, 2, paths=PATHS)
    weights = np.stack([np.zeros(WEIGHTS), learnt])
    tried = np.array([play(pair, weights, seed=10_000 + i) for i in range(given.paths)])
    better = int(np.sum(tried[:, 1] > tried[:, 0]))
    print(f"the first rate for ever: mean reward {tried[:, 0].mean():.3f}")
    learnt_reward = f"{tried[:, 1].mean():.3f}, better on {better} of {given.paths} paths"
    print(f"the learnt policy:       mean reward {learnt_reward}")


if __name__ == "__main__":
    main()
