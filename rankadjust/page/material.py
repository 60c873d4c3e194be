"""The data of a report page: the results of one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from rankadjust.database.constants import Constants
from rankadjust.page.charts.figure import Figure

# The argument `of` (rankadjust.base.stages) for the file with the literature beside the user's own tables.
BESIDE = "the literature beside own tables"


@dataclass(frozen=True)
class Material:
    """The results of one run, as far as the page shows them.

    tables: rows of `rankadjust.literature.rescore.rescore` by the name of their table. own: the names of the tables of
    the user. literature: rows of the shipped literature on the same evaluations, if it is not among the tables.
    comparison: the frames of results/comparison by name. constants, datasets (rows of datasets.tsv): the rows of the
    run, and rows of the release for anything that the run lacks. charts: the figures of results/figures in their order.
    figures: their SVG text by name. licences: the licences by data set.
    """

    tables: Mapping[str, pl.DataFrame]
    constants: Constants
    datasets: pl.DataFrame
    comparison: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, str] = field(default_factory=dict)
    charts: Sequence[Figure] = ()
    licences: Mapping[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    literature: pl.DataFrame | None = None
