"""A dask.distributed cluster as the pool of a sweep: batches of runs go to its workers, rows come back here.

A worker that dies takes no run with it: the scheduler gives its batches to others. A batch that ends worker
after worker is taken apart, and the run that does it is one failure among the results. Results are written
by the driver alone, so nothing is doubled however often a batch is computed.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from longfat import _core
from longfat.errors import InputError, LongfatError, WorkerError
from longfat.runs.pool import ENDED, Failure

if TYPE_CHECKING:
    from distributed import Future

TIMEOUT_S = 10.0
"""For the scheduler to answer."""
BATCH = 8
"""Runs that go to a worker at once, so that small ones are worth their way."""
BATCHES_PER_THREAD = 2
"""Out at a time: one is worked on, one waits."""
RETRIES = 2

Task = tuple[int, Any]


class Cluster:
    """The scheduler at an address, which answers and whose workers run this version of Longfat."""

    def __init__(self, address: str) -> None:
        """Connects.

        Raises:
            InputError: nobody answers there, it has no worker, or one has another version.
        """
        if "://" not in address:
            raise InputError(f"--scheduler {address}: accepted: an address such as tcp://host:8786")
        try:
            from distributed import Client
            from distributed.comm.registry import backends
        except ImportError:
            raise InputError(
                f"--scheduler {address}: needs dask; accepted: pip install 'longfat[cluster]'"
            ) from None
        if address.partition("://")[0] not in backends:  # a client would begin, and not end in time
            known = ", ".join(sorted(backends))
            raise InputError(f"--scheduler {address}: accepted: one of {known}, such as tcp://host:8786")
        # its tracebacks when the scheduler goes: that is told in a line
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
        here = versions()
        try:
            there = self._client.run(versions, on_error="return")
        except (OSError, ValueError) as error:
            raise InputError(f"--scheduler {self.address}: {_first(error)}") from None
        # a worker that goes while it is asked runs nothing; dask's errors of communication are OSErrors
        there = {worker: found for worker, found in there.items() if not isinstance(found, OSError)}
        if not there:
            self._client.close()
            raise InputError(f"--scheduler {self.address}: has no worker; accepted: one that has some")
        for worker, found in there.items():
            if found != here:
                self._client.close()
                told = found if isinstance(found, str) else f"no Longfat ({_first(found)})"
                raise InputError(
                    f"--scheduler {self.address}: worker {worker} runs {told}, this is {here}; "
                    "accepted: the same"
                )

    def outcomes(self, function: Callable[[Any], Any], tasks: Iterator[Any]) -> Iterator[tuple[int, Any]]:
        """As `pool.outcomes`, on the cluster.

        Raises:
            LongfatError: the scheduler has gone; what was answered is answered.
        """
        from distributed import as_completed

        numbered = enumerate(tasks)
        out: dict[Future[Any], list[Task]] = {}
        with self._client as client:
            done = as_completed(loop=client.loop)

            def submit(batch: list[Task]) -> None:
                future = client.submit(_batch, function, batch, pure=False, retries=RETRIES)
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
            except OSError:  # of which dask's errors of communication are
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
            f"--scheduler {self.address}: has gone; what has finished is kept, run again to go on"
        )

    def _answers(
        self, future: Future[Any], batch: list[Task], submit: Callable[[list[Task]], None]
    ) -> Iterator[tuple[int, Any]]:
        """The rows of a batch; one that ended its workers comes back run by run."""
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
        yield from rows


def versions() -> str:
    """What has to be the same here and there."""
    return f"Longfat {_core.version()} (results {_core.results_version()})"


def _batch(function: Callable[[Any], Any], batch: list[Task]) -> list[tuple[int, Any]]:
    rows: list[tuple[int, Any]] = []
    for position, task in batch:
        try:
            rows.append((position, function(task)))
        except Exception as error:
            rows.append((position, Failure(error)))
    return rows


def _first(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
