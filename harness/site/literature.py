"""The data of the site: the shipped literature, adjusted with the released database. No run is needed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from rankadjust.data.registry import Dataset, load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.case_study import audit
from rankadjust.literature.contradictions import check
from rankadjust.literature.full_ranking import add_full_bounds
from rankadjust.literature.rescore import rescore
from rankadjust.literature.summaries import below_baselines, chance_share, not_above_chance
from rankadjust.literature.tidy import read_tidy
from rankadjust.page.boards import Board, boards
from rankadjust.page.charts import AUDIT, RESULTS, figures_of
from rankadjust.page.material import Material, all_values

PROJECT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Literature:
    """The published values and results derived from them; material is the data of the report."""

    material: Material
    registry: Mapping[str, Dataset]

    @cached_property
    def values(self) -> pl.DataFrame:
        """All values, in the form of the report."""
        return all_values(self.material)

    @cached_property
    def contradictions(self) -> pl.DataFrame:
        """The contradictions of all files."""
        return self.material.comparison["contradictions"]

    @cached_property
    def boards(self) -> Mapping[str, list[Board]]:
        """The boards of each data set, its most common test evaluation first."""
        by_dataset: dict[str, list[Board]] = {}
        for board in boards(self.values, self.material.comparison):
            by_dataset.setdefault(board.key[0], []).append(board)
        return by_dataset

    @cached_property
    def datasets(self) -> list[str]:
        """The data sets that have constants or printed values, by name."""
        known = {*self.material.constants.table["dataset"], *self.values["dataset"].drop_nulls()}
        return sorted(known, key=str.casefold)


def literature(*names: str) -> Literature:
    """Return the shipped tables of these names, by default all of them, adjusted, checked and compared."""
    constants, registry = Constants.released().over(None), load_registry()
    paths = sorted((PROJECT / "resources/published").glob("*.csv"))
    tables = {path.stem: read_tidy(path) for path in paths if not names or path.stem in names}
    results = add_full_bounds(rescore(pl.concat(tables.values(), how="diagonal"), constants), constants)
    contradictions = check(results, constants)
    comparison = {
        "contradictions": contradictions,
        "chance-share": chance_share(results),
        "not-above-chance": not_above_chance(results, contradictions),
        "below-baselines": below_baselines(results),
    }
    material = Material(
        tables={name: results.filter(file=f"{name}.csv") for name in tables},
        constants=constants,
        datasets=constants.datasets,
        comparison=comparison,
        licences={name: dataset.licence for name, dataset in registry.items() if dataset.licence},
    )
    return Literature(material, registry)


def with_figures(material: Material) -> Material:
    """Return the material with the figures of the report added."""
    results = pl.concat(material.tables.values(), how="diagonal")
    study = audit(results.filter(file="hoyt2022-case-study.csv"), material.constants.table)
    return replace(material, figures=list(figures_of({RESULTS: results, AUDIT: study})))
