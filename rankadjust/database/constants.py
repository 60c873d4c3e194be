"""Constants: a database with the tables beside it, and the only place that loads it.

A database comes from the release, from a run of the workflow or from files, and the numbers of candidates come with
it, since what no ranking can have is checked with them.
"""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import KEY
from rankadjust.database import store
from rankadjust.database.histograms import Histograms
from rankadjust.database.known_names import Names, narrowed

if TYPE_CHECKING:
    from rankadjust.data.registry import Dataset

_CONFIGURATION = "run_config.yaml"


class Constants:
    """The constants of evaluation sets, the numbers of candidates behind them, and the names of the data sets.

    Make them with `released`, `of_run` or `from_files`. Files are read when they are needed, and once: again only after
    they were written to. Constants(table) has the rows of a frame alone, whose values are not checked against numbers
    of candidates.

    Attributes
    ----------
    table : polars.DataFrame
        The rows of the database, with the columns of `rankadjust.database.store.SCHEMA`.
    histograms : Histograms
        How many tasks have how many candidates, as far as that is known.

    Examples
    --------
    >>> constants = Constants.released()
    >>> constants.rows(dataset="fb237", protocol="filtered", split="test", side="both", metric="MRR").height
    1

    """

    def __init__(
        self,
        table: pl.DataFrame | None = None,
        histograms: Histograms | None = None,
        *,
        file: Path | None = None,
        baselines: pl.DataFrame | None = None,
    ) -> None:
        self.file = file
        if table is not None:
            nothing = pl.DataFrame(schema=store.BASELINES_SCHEMA)
            self.table, self.histograms = table, histograms or Histograms()
            self.baselines = nothing if baselines is None else baselines

    @cached_property
    def table(self) -> pl.DataFrame:
        """The rows of the database."""
        return store.load_database(self.file)

    @cached_property
    def histograms(self) -> Histograms:
        """The histograms of the candidates, as far as they are known."""
        file = store.beside_database(self.file, store.CANDIDATES)
        return Histograms(store.load_candidates(file) if file.exists() else None)

    @cached_property
    def baselines(self) -> pl.DataFrame:
        """The known values of the counting baselines."""
        file = store.beside_database(self.file, store.BASELINES)
        return store.load_baselines(file) if file.exists() else pl.DataFrame(schema=store.BASELINES_SCHEMA)

    @cached_property
    def datasets(self) -> pl.DataFrame:
        """The counts of data sets beside the database, as text. Raises RankadjustError where there are none."""
        return store.load_datasets(store.beside_database(self.file, store.DATASETS))

    @classmethod
    def released(cls) -> "Constants":
        """Return the constants that come with rankadjust."""
        return cls.from_files()

    @classmethod
    def of_run(cls, results: str | Path) -> "Constants":
        """Return the constants of a run of the workflow, from its folder `results`.

        `over` adds what the run lacks: Constants.of_run("results").over(Constants.released()). Raises RankadjustError
        where the run is not finished.
        """
        return cls.from_files(store.database_of_run(results))

    @classmethod
    def from_files(cls, database: str | Path | None = None) -> "Constants":
        """Return the constants of a database file (None for the release) and of the files beside it.

        Its histograms are in candidates.parquet, if there is such a file.
        """
        file = None if database is None else Path(database)
        names = (store.DATABASE, store.CANDIDATES, store.BASELINES, store.DATASETS)
        files = [store.beside_database(file, name) for name in names]
        return _of_files(file, tuple(map(_written, files if file is None else [file, *files[1:]])))

    @classmethod
    def given(cls, database: "Database" = None) -> "Constants":
        """Return the constants of a parameter `database`, which may be constants, a file, or None for the release."""
        if isinstance(database, Constants):
            return database
        if database is None or isinstance(database, str | Path):
            return cls.from_files(database)
        raise RankadjustError(
            f"a database is a file or Constants, not {type(database).__name__}; of a frame make Constants(frame)"
        )

    def over(self, released: "Constants | None") -> "Constants":
        """Return these constants with released rows added, and a column origin that says where a row is from."""
        table, histograms, baselines = (
            self.table.with_columns(origin=pl.lit("computed")),
            self.histograms,
            self.baselines,
        )
        if released is not None:
            others = released.table.select(store.SCHEMA.names()).join(table, on=KEY, how="anti")
            table = pl.concat([table, others.with_columns(origin=pl.lit("released"))])
            histograms = histograms.over(released.histograms)
            known = released.baselines.join(
                table.filter(origin="computed"), on=["dataset", "protocol"], how="anti"
            )
            baselines = pl.concat([baselines, known])
        return Constants(table, histograms, file=self.file, baselines=baselines)

    def over_file(self, released: str | Path) -> "Constants":
        """Return these constants with the rows of a database file added, if there is such a file."""
        return self.over(Constants.from_files(released) if Path(released).exists() else None)

    @cached_property
    def registry(self) -> "Mapping[str, Dataset]":
        """The shipped data sets and the data sets of the run, with their aliases.

        The configuration of the run names registry files; of a data set whose file is gone only the name is known.
        """
        # To read YAML takes longer than all the rest, and only names that the database lacks need it.
        from rankadjust.base.schemas import read_yaml  # noqa: PLC0415
        from rankadjust.data.registry import Dataset, load_registry  # noqa: PLC0415

        if self.file is None:
            return load_registry()
        results = self.file.absolute().parent.parent
        configuration = results / _CONFIGURATION
        named = (read_yaml(configuration) or {}).get("registry") if configuration.is_file() else []
        # Paths are relative to the folder of the run, which also has its results.
        registry = load_registry(*(file for name in named or () if (file := results.parent / name).is_file()))
        if store.beside_database(self.file, store.DATASETS).is_file():
            for name, role in self.datasets.select("dataset", "role").iter_rows():
                only_name = Dataset(name=name, role=role, sources=(), splits=(), origin=self.file)
                registry.setdefault(name, only_name)
        return registry

    def rows(
        self,
        *,
        dataset: Names | None = None,
        protocol: Names | None = None,
        split: Names | None = None,
        side: Names | None = None,
        metric: Names | None = None,
    ) -> pl.DataFrame:
        """Return the rows of some data sets, protocols, splits, sides and metrics.

        Names are in any spelling, or aliases; None means all. Raises RankadjustError for a name that no row has, with a
        suggestion.

        Examples
        --------
        >>> Constants.released().rows(dataset="Nations", metric="Hits @ 10")["metric"].unique().to_list()
        ['hits_at_10']

        """
        names = {"dataset": dataset, "protocol": protocol, "split": split, "side": side, "metric": metric}
        return narrowed(self.table, "the database", lambda: self.registry, **names)


Database = Constants | str | Path | None
"""What a public function takes as its database: constants, a file, None for the released one."""


def _written(file: Path) -> tuple[Path, int, int] | None:
    """Return what is another when a file was replaced or written to, None where there is no file."""
    return (file.absolute(), file.stat().st_ino, file.stat().st_mtime_ns) if file.exists() else None


# A script adjusts many values, one by one, with the same files.
@lru_cache(maxsize=4)
def _of_files(file: Path | None, _: tuple[tuple[Path, int, int] | None, ...]) -> Constants:
    return Constants(file=file)
