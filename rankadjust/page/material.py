"""What a report page is made of: the results of one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from rankadjust.database.constants import Constants
from rankadjust.page.charts.figure import Figure

# To what the file of the literature beside the user's own tables belongs (rankadjust.base.stages).
BESIDE = "the literature beside own tables"


@dataclass(frozen=True)
class Material:
    """The results of one run, as far as the page shows them.

    tables: rows of `rankadjust.literature.rescore.rescore` by the name of their table. own: the names of those that are
    the user's, not the shipped literature. literature: rows of it on the same evaluations, where it is not among the
    tables. comparison: the frames of results/comparison by name. constants, datasets (rows of datasets.tsv): those of
    the release included where the run has none. charts: the figures of results/figures in their order;
    figures: their SVG text by name. licences: by data set.
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
