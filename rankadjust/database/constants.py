"""Constants: a database with the tables beside it, and the only place that loads it.

A database comes from the release, from a run of the workflow, from files or as a frame. Whichever it is, the numbers of
candidates come with it, since what no ranking can have is checked with them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.frames import require_frame
from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import resolve
from rankadjust.database.histograms import Histograms
from rankadjust.database.known_names import KINDS, known_name
from rankadjust.database.store import (
    BASELINES,
    BASELINES_SCHEMA,
    CANDIDATES,
    DATABASE,
    DATASETS,
    SCHEMA,
    beside_database,
    database_of_run,
    load_baselines,
    load_candidates,
    load_database,
    load_datasets,
    names_of_datasets,
    with_released,
)

if TYPE_CHECKING:
    from rankadjust.data.registry import Dataset

Names = str | Sequence[str]

_SET = ("dataset", "protocol", "split")
# The shipped protocols for data with times; to read them all takes longer than everything else.
_TEMPORAL = ("time-aware", "time-static")
_CONFIGURATION = "run_config.yaml"
# What must be the same for a row to be a released one: all else follows.
_TOLD_BY = ("tasks", "expectation", "variance", "expectation_low", "expectation_high")


class Constants:
    """The constants of evaluation sets, the numbers of candidates behind them, and the names of the data sets.

    Make them with `released`, `of_run`, `from_files` or `of_frame`. Files are read when they are needed, and once:
    again only after they were written to.

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
        dataset: str | None = None,
    ) -> None:
        """Take what is known already; the class methods say where the rest comes from.

        table: rows with the columns of `rankadjust.database.store.SCHEMA`, optionally with `origin` (computed,
        released). histograms: of the candidates. file: the database, None for the released one or a frame.
        baselines: what counting baselines reach (`rankadjust.database.store.BASELINES_SCHEMA`). dataset: no rows
        of others are read from the file.
        """
        self.file = file
        self._dataset = dataset
        self._table = table
        self._histograms = histograms
        self._baselines = baselines

    @cached_property
    def table(self) -> pl.DataFrame:
        """The rows of the database."""
        file = beside_database(None, DATABASE) if self.file is None else self.file
        return _read_once(load_database, file, self._dataset) if self._table is None else self._table

    @cached_property
    def histograms(self) -> Histograms:
        """The histograms of the candidates, as far as they are known."""
        if self._histograms is not None:
            return self._histograms
        is_there = beside_database(self.file, CANDIDATES).exists()
        return Histograms(lambda: [self.candidates] if is_there else [])

    @property
    def candidates(self) -> pl.DataFrame:
        """The candidate histograms beside the database. Raises RankadjustError where there are none."""
        return _read_once(load_candidates, beside_database(self.file, CANDIDATES), self._dataset)

    @property
    def datasets(self) -> pl.DataFrame:
        """The counts of data sets beside the database, as text. Raises RankadjustError where there are none."""
        return _read_once(_datasets, beside_database(self.file, DATASETS))

    @cached_property
    def baselines(self) -> pl.DataFrame:
        """The known values of the counting baselines; for a frame, of its released rows."""
        if self._baselines is not None:
            return self._baselines
        if self._table is not None:
            parts = self._of_released(lambda released: [released.baselines], ["dataset", "protocol"])
            return parts[0] if parts else pl.DataFrame(schema=BASELINES_SCHEMA)
        file = beside_database(self.file, BASELINES)
        if not file.exists():
            return pl.DataFrame(schema=BASELINES_SCHEMA)
        return _read_once(load_baselines, file, self._dataset)

    @classmethod
    def released(cls) -> "Constants":
        """Return the constants that come with rankadjust."""
        return cls.from_files()

    @classmethod
    def of_run(cls, results: str | Path) -> "Constants":
        """Return the constants of a run of the workflow.

        `over` adds what the run lacks: Constants.of_run("results").over(Constants.released()).

        Parameters
        ----------
        results : str or Path
            The folder `results` that the run wrote.

        Raises
        ------
        RankadjustError
            Where the run is not finished.

        """
        return cls.from_files(database_of_run(results))

    @classmethod
    def from_files(cls, database: str | Path | None = None) -> "Constants":
        """Return the constants of a database file and of the files beside it.

        Parameters
        ----------
        database : str or Path, optional
            None means the released one. Its histograms are in candidates.parquet beside it, if there is such a file.

        """
        return cls(file=None if database is None else Path(database))

    @classmethod
    def of_frame(cls, table: pl.DataFrame) -> "Constants":
        """Return the constants of a frame.

        Parameters
        ----------
        table : polars.DataFrame, or a frame of pandas or pyarrow
            Rows with the columns of `rankadjust.database.store.SCHEMA`. Evaluation sets whose rows are released rows
            use the released histograms; values of other sets are not checked against numbers of candidates.

        """
        constants = cls(_typed(require_frame(table, "the database")))
        constants._histograms = Histograms(
            lambda: constants._of_released(lambda released: released.histograms.tables, _SET)
        )
        return constants

    @classmethod
    def given(cls, database: "Database" = None) -> "Constants":
        """Return what a public function was given as its database: constants, a frame, a file, None for the release."""
        if isinstance(database, Constants):
            return database
        if database is None or isinstance(database, str | Path):
            return cls.from_files(database)
        return cls.of_frame(database)

    def over(self, released: "Constants | None") -> "Constants":
        """Return these constants, completed by released rows; the column origin says where a row comes from."""
        return _Stacked(self, released)

    def over_file(self, released: str | Path) -> "Constants":
        """Return these constants, completed by a database file if it exists."""
        return self.over(Constants.from_files(released) if Path(released).exists() else None)

    def only(self, dataset: str) -> "Constants":
        """Return the constants of one data set, in any spelling; all of them where none has this name.

        Of a file its rows are then read without the others, in a tenth of the time.
        """
        if self._table is not None or not isinstance(dataset, str):
            return self
        file = beside_database(None, DATABASE) if self.file is None else self.file
        try:
            known = _read_once(_names, file)["dataset"].to_list()
            name = known_name(KINDS["dataset"], dataset, known, "the database", lambda: self.registry)
        except RankadjustError:
            return self
        return Constants(file=self.file, dataset=name)

    @cached_property
    def _unchanged(self) -> pl.DataFrame:
        """The evaluation sets whose rows in a frame are exactly the released rows."""
        return _released_among(self.table, Constants.released().table)

    def _of_released(
        self, tables_of: "Callable[[Constants], Sequence[pl.DataFrame]]", columns: Sequence[str]
    ) -> list[pl.DataFrame]:
        """Return what released tables say of the unchanged evaluation sets; nothing where they cannot be read."""
        try:
            known = self._unchanged
            # A frame has few data sets: joins with all rows of the release would take most of the time.
            is_near = pl.col("dataset").is_in(known["dataset"].unique().to_list())
            tables = tables_of(Constants.released())
            return [table.filter(is_near).join(known, on=columns, how="semi") for table in tables]
        except RankadjustError:
            return []

    @property
    def missing_histograms(self) -> Path | None:
        """The file of histograms that belongs to the database and is not there, None where nothing is missing."""
        file = beside_database(self.file, CANDIDATES)
        known = self._histograms is not None or self._table is not None
        return None if known or file.exists() else file

    @cached_property
    def registry(self) -> "Mapping[str, Dataset]":
        """The shipped data sets and the data sets of the run, with their known aliases."""
        return _registry_of(self.file)

    def has_times(self, dataset: str) -> bool:
        """Return whether a data set is temporal.

        Either it has a protocol for such data, or a scorer that sees times varies in another way than one that does
        not.
        """
        is_temporal = pl.col("protocol").is_in(_TEMPORAL) | (
            pl.col("variance_static_scorer") != pl.col("variance_random_scorer")
        )
        return bool(self.table.filter(pl.col("dataset") == dataset).select(is_temporal.any()).item())

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

        Parameters
        ----------
        dataset, protocol, split, side, metric : str or sequence of str, optional
            Names in any spelling, or aliases; None means all.

        Returns
        -------
        polars.DataFrame
            Never empty.

        Raises
        ------
        RankadjustError
            For a name that no row has, with a suggestion.

        Examples
        --------
        >>> Constants.released().rows(dataset="Nations", metric="Hits @ 10")["metric"].unique().to_list()
        ['hits_at_10']

        """
        rows, where = self.table, "the database"
        given = {"dataset": dataset, "protocol": protocol, "split": split, "side": side, "metric": metric}
        for column, names in given.items():
            if names is None:
                continue
            wanted = [names] if isinstance(names, str) else list(names)
            keys = [self._name(column, name, rows, where) for name in wanted]
            rows = rows.filter(pl.col(column).is_in(keys))
            where += f"{' for' if where == 'the database' else ','} {' and '.join(keys)}"
        return rows

    def _name(self, column: str, name: str, rows: pl.DataFrame, where: str) -> str:
        known = rows[column].unique().to_list()
        if column == "metric":
            metric = resolve(name)
            if metric.key not in known:
                labels = [resolve(key).label for key in sorted(known)]
                hint = did_you_mean(metric.label, labels) or f"; it has {', '.join(labels)}"
                raise RankadjustError(f"{metric.label} is not in {where}{hint}")
            return metric.key
        return known_name(KINDS[column], name, known, where, lambda: self.registry)


class _Stacked(Constants):
    """Constants of a run, completed by released constants."""

    def __init__(self, own: Constants, released: Constants | None) -> None:
        super().__init__(file=own.file)
        self._own = own
        self._released = released

    @cached_property
    def table(self) -> pl.DataFrame:
        """The rows of both, with their origin."""
        return with_released(self._own.table, None if self._released is None else self._released.table)

    @cached_property
    def histograms(self) -> Histograms:
        """The histograms of both."""
        own = self._own.histograms
        return own if self._released is None else own.over(self._released.histograms)

    @cached_property
    def baselines(self) -> pl.DataFrame:
        """The baselines of the run, completed by released rows of other data sets and protocols."""
        own = self._own.baselines
        if self._released is None:
            return own
        others = self._released.baselines.join(self._own.table, on=["dataset", "protocol"], how="anti")
        return pl.concat([own, others])

    @property
    def missing_histograms(self) -> Path | None:
        """The file of histograms that is not there."""
        return self._own.missing_histograms

    def only(self, dataset: str) -> "Constants":  # noqa: ARG002 - a run has few data sets, and completes others
        """Return these constants: a row of either may be meant."""
        return self


Database = Constants | pl.DataFrame | str | Path | None
"""What a public function takes as its database: constants, a frame, a file, None for the released one."""

_Load = Callable[[Path, str | None], pl.DataFrame]


def _read_once(load: _Load, file: Path, dataset: str | None = None) -> pl.DataFrame:
    """Return what a file holds of a data set, or of all; it is read again only after it was replaced or written to."""
    try:
        status = file.stat()
    except OSError:
        return load(file, dataset)
    return _read(load, file.absolute(), dataset, (status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=24)
def _read(load: _Load, file: Path, dataset: str | None, _: tuple[int, ...]) -> pl.DataFrame:
    return load(file, dataset)


def _datasets(file: Path, _: str | None) -> pl.DataFrame:
    return load_datasets(file)


def _names(file: Path, _: str | None) -> pl.DataFrame:
    return pl.DataFrame({"dataset": names_of_datasets(file)}, schema={"dataset": pl.String})


def _typed(table: pl.DataFrame) -> pl.DataFrame:
    """Return a database with the right column types, which other libraries lose where all values are missing."""
    return table.cast({name: kind for name, kind in SCHEMA.items() if name in table.columns})


def _released_among(table: pl.DataFrame, released: pl.DataFrame) -> pl.DataFrame:
    """Return the evaluation sets whose rows in a frame are exactly the released rows."""
    columns = [*KEY, *(name for name in _TOLD_BY if name in table.columns)]
    near = released.filter(pl.col("dataset").is_in(table["dataset"].unique().to_list()))
    changed = (
        table.select(columns)
        .join(near.select(columns), on=columns, how="anti", nulls_equal=True)
        .select(_SET)
        .unique()
    )
    return table.select(_SET).unique().join(changed, on=_SET, how="anti")


@cache
def _shipped_registry() -> "Mapping[str, Dataset]":
    # To read YAML takes longer than all the rest, and only names that the database lacks need it.
    from rankadjust.data.registry import load_registry  # noqa: PLC0415

    return load_registry()


def _registry_of(database: Path | None) -> "Mapping[str, Dataset]":
    """Return the shipped registry with the data sets of a run, from its registry files, or by name only.

    The run's configuration names the files, and the table beside its database all data sets that it counted. Of those
    whose file is not there any more neither aliases nor sources are known.
    """
    if database is None:
        return _shipped_registry()
    from rankadjust.data.registry import Dataset, load_registry  # noqa: PLC0415

    registry = load_registry(*_registry_files(database))
    beside = beside_database(database, DATASETS)
    if not beside.is_file():
        return registry
    table = _read_once(_datasets, beside)
    if not {"dataset", "role"} <= set(table.columns):
        return registry
    own = table.filter(~pl.col("dataset").is_in(list(registry))).select("dataset", "role")
    return registry | {
        name: Dataset(name=name, role=role, sources=(), splits=(), origin=database)
        for name, role in own.iter_rows()
    }


def _registry_files(database: Path) -> list[Path]:
    from rankadjust.base.schemas import read_yaml  # noqa: PLC0415

    results = database.absolute().parent.parent
    configuration = results / _CONFIGURATION
    if not configuration.is_file():
        return []
    named = (read_yaml(configuration) or {}).get("registry") or []
    # Paths are relative to the folder of the run, which also has its results.
    return [file for name in named if (file := results.parent / name).is_file()]
