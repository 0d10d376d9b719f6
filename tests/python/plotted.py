"""Figures of results, for tests of `longfat plot`."""

from longfat import plots
from longfat.figure.grouping import figure
from longfat.figure.request import Request, check
from longfat.sources import open_folders


def made(folders, **asked):
    source = open_folders([folders] if not isinstance(folders, list) else folders)
    return figure(check(Request(**asked), source), source)


def sampled(folder, more=""):
    """A short run whose algorithms record themselves."""
    folder.mkdir()
    (folder / "mine.toml").write_text(
        'duration = "3 s"\nbottleneck = { rate = "5 Mbit/s" }\nsample = { internals = true }\n'
        'flow = [{ algorithm = "cubic", rtt = "20 ms" }, { algorithm = "bbr", rtt = "20 ms" }]\n' + more
    )
    return folder / "mine.toml"


def plots_figure(results, **asked):
    source = plots._source(results)
    return figure(check(Request(**asked), source), source)
