"""A dask.distributed cluster as the pool of a sweep: batches of runs go out, rows come back.

No run is lost when a worker dies: the scheduler gives its batches to others. A batch that kills worker after
worker is split, and the run at fault becomes one failure among the results. Only the driver writes results,
so nothing is stored twice however often a batch is computed.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from longfat import _core, extras
from longfat.errors import InputError, LongfatError, WorkerError
from longfat.runs.pool import ENDED, Failure

if TYPE_CHECKING:
    from distributed import Future

TIMEOUT_S = 10.0
"""How long to wait for the scheduler."""
BATCH = 8
"""Runs in one batch, so that small runs are worth the trip."""
BATCHES_PER_THREAD = 2
"""Batches per worker: one runs, one waits."""
RETRIES = 2

Task = tuple[int, Any]


class Cluster:
    """A scheduler that responds and whose workers run this version of Longfat."""

    def __init__(self, address: str) -> None:
        """Connects.

        Raises:
            InputError: the scheduler does not respond, has no worker, or a worker has another version.
        """
        if "://" not in address:
            raise InputError(
                f"--scheduler {address}: this is not an address; accepted: an address such as tcp://host:8786"
            )
        extras.load("distributed", "cluster", f"--scheduler {address}")
        from distributed import Client
        from distributed.comm.registry import backends

        if address.partition("://")[0] not in backends:  # a client would start and not give up in time
            known = ", ".join(sorted(backends))
            raise InputError(
                f"--scheduler {address}: there is no such protocol; accepted: one of {known}, "
                "such as tcp://host:8786"
            )
        # silences tracebacks when the scheduler goes away: one line reports that
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self.address = address
        try:
            self._client = Client(address, timeout=TIMEOUT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"--scheduler {address}: does not answer ({_first(error)}); accepted: the address of a dask "
                "scheduler such as tcp://host:8786"
            ) from None
        self._check()

    def _check(self) -> None:
        """Raises InputError if there is no worker, or one that runs another version."""
        here = versions()
        try:
            there = self._client.run(versions, on_error="return")
        except (OSError, ValueError) as error:
            raise InputError(f"--scheduler {self.address}: {_first(error)}") from None
        # ignore workers that have left meanwhile; dask's communication errors are OSErrors
        there = {worker: found for worker, found in there.items() if not isinstance(found, OSError)}
        if not there:
            self._client.close()
            raise InputError(f"--scheduler {self.address}: has no worker; accepted: a scheduler with workers")
        for worker, found in there.items():
            if found != here:
                self._client.close()
                told = found if isinstance(found, str) else f"no Longfat ({_first(found)})"
                raise InputError(
                    f"--scheduler {self.address}: worker {worker} runs {told}, this is {here}; "
                    "accepted: the same"
                )

    def outcomes(self, function: Callable[[Any], Any], tasks: Iterator[Any]) -> Iterator[tuple[int, Any]]:
        """Does the same as `pool.outcomes`, on the cluster.

        Raises:
            LongfatError: the scheduler is gone; results that arrived are kept.
        """
        from distributed import as_completed

        numbered = enumerate(tasks)
        out: dict[Future[Any], list[Task]] = {}
        with self._client as client:
            done = as_completed(loop=client.loop)

            def submit(batch: list[Task]) -> None:
                future = client.submit(_batch, function, batch, versions(), pure=False, retries=RETRIES)
                out[future] = batch
                done.add(future)

            def fill() -> None:
                room = max(1, sum(client.nthreads().values())) * BATCHES_PER_THREAD
                while len(out) < room:
                    batch = list(itertools.islice(numbered, BATCH))
                    if not batch:
                        return
                    submit(batch)

            try:
                fill()
                while out:
                    future = self._next(done)
                    batch = out.pop(future)
                    yield from self._answers(future, batch, submit)
                    fill()
            except OSError:  # dask's communication errors are OSErrors too
                raise self._gone() from None

    def _next(self, done: Any) -> Future[Any]:
        try:
            future: Future[Any] = next(done)
        except StopIteration:
            raise self._gone() from None
        if future.status in ("lost", "cancelled"):
            raise self._gone()
        return future

    def _gone(self) -> LongfatError:
        return LongfatError(
            f"--scheduler {self.address}: is gone; finished runs are kept, run again to continue"
        )

    def _answers(
        self, future: Future[Any], batch: list[Task], submit: Callable[[list[Task]], None]
    ) -> Iterator[tuple[int, Any]]:
        """Returns the rows of a batch; a batch that killed its workers is repeated run by run."""
        from distributed.scheduler import KilledWorker

        try:
            rows = future.result()
        except KilledWorker:
            if len(batch) == 1:
                yield batch[0][0], Failure(WorkerError(ENDED))
                return
            for task in batch:
                submit([task])
            return
        except (OSError, RuntimeError) as error:
            if future.status != "error":
                raise self._gone() from None
            for position, _ in batch:
                yield position, Failure(error)
            return
        except (LongfatError, TypeError):  # an older version may have other arguments here
            self._check()
            raise
        yield from rows


def versions() -> str:
    """What must be the same here and on the workers."""
    return f"Longfat {_core.version()} (results {_core.results_version()})"


def _batch(function: Callable[[Any], Any], batch: list[Task], driver: str) -> list[tuple[int, Any]]:
    """Runs on a worker, which may have joined after the sweep began."""
    if versions() != driver:
        raise WorkerError(f"a worker that joined runs {versions()}, the sweep {driver}")
    rows: list[tuple[int, Any]] = []
    for position, task in batch:
        try:
            rows.append((position, function(task)))
        except Exception as error:
            rows.append((position, Failure(error)))
    return rows


def _first(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
