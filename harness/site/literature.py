"""The data of the site: the shipped literature, adjusted with the released database. No run is needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.data.registry import Dataset, load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check
from rankadjust.literature.rescore import rescore
from rankadjust.literature.tidy import read_tidy
from rankadjust.page.answers import answers
from rankadjust.page.boards import Board, boards
from rankadjust.page.material import Material, all_values

PROJECT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Literature:
    """The published values and results derived from them."""

    constants: Constants
    registry: Mapping[str, Dataset]
    values: pl.DataFrame
    contradictions: pl.DataFrame

    @cached_property
    def boards(self) -> list[Board]:
        """All boards, by data set, the one with most results first."""
        return boards(self.values, self.contradictions)

    @cached_property
    def answers(self) -> Mapping[str, list[dict[str, Any]]]:
        """The evaluations of each data set that has constants, the usual one first."""
        return answers(self.constants, self.boards)

    @cached_property
    def wanted(self) -> pl.DataFrame:
        """The published results that no public file with numbers is known of."""
        return pl.read_csv(PROJECT / "resources/published/wanted/wanted.csv", infer_schema=False)

    @cached_property
    def datasets(self) -> list[str]:
        """The data sets that have a page, by name."""
        return sorted(self.answers, key=str.casefold)


def literature(*names: str) -> Literature:
    """Return the shipped tables of these names, by default all of them, adjusted and checked."""
    constants = Constants.released().over(None)
    paths = sorted((PROJECT / "resources/published").glob("*.csv"))
    tables = {path.stem: read_tidy(path) for path in paths if not names or path.stem in names}
    results = rescore(pl.concat(tables.values(), how="diagonal"), constants)
    by_table = {name: results.filter(file=f"{name}.csv") for name in tables}
    return Literature(
        constants, load_registry(), all_values(Material(by_table, constants)), check(results, constants)
    )
