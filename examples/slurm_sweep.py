"""A sweep on a Slurm cluster: python examples/slurm_sweep.py SWEEP.toml OUT [--jobs N] [--show].

Each job is a dask worker; the scheduler and the results stay on this machine. The script needs
`pip install 'longfat[cluster]' dask-jobqueue` on this machine, and the same Python environment in a folder
that all nodes can read.
`--show` only prints the script that would be submitted.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longfat import sweep

CORES, MEMORY, WALL_TIME = 8, "16GiB", "04:00:00"
"""Resources of one job, which runs as many simulations at a time as it has cores."""


def cluster() -> Any:
    """Return what submits jobs to Slurm: one process each, one thread per core, as runs release the GIL."""
    from dask_jobqueue.slurm import SLURMCluster

    return SLURMCluster(cores=CORES, processes=1, memory=MEMORY, walltime=WALL_TIME, job_name="longfat")


def main() -> None:
    """Read the command line, ask Slurm for jobs and run the sweep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sweep", type=Path)
    parser.add_argument("out")
    parser.add_argument("--jobs", type=int, default=4, help="Slurm jobs")
    parser.add_argument("--show", action="store_true", help="print the job's script and exit")
    asked = parser.parse_args()
    planned = sweep.load(asked.sweep)
    with cluster() as jobs:
        if asked.show:
            print(jobs.job_script())
            return
        jobs.scale(jobs=asked.jobs)
        jobs.wait_for_workers(1)
        document = sweep.run(planned, asked.out, scheduler=jobs.scheduler_address)
    print(*sweep.told(document, asked.out, None), sep="\n")


if __name__ == "__main__":
    main()
