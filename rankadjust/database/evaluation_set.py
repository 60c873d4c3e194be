"""Evaluation sets: a data set under a protocol, one of its splits and a side, with all that is known of its tasks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from rankadjust.base.words import same_name
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.metrics import Metric, expand
from rankadjust.counting.evaluators import Evaluation, evaluation_by, usual_evaluation
from rankadjust.database.constants import Constants, Database
from rankadjust.database.counted_baselines import chosen, known_baseline, why_no_gain
from rankadjust.database.histograms import Histograms, possible_ranks
from rankadjust.database.known_names import SIDE, SPLIT, known_name, narrowed, why_no_metric
from rankadjust.database.store import BASELINES_SCHEMA, SCHEMA

if TYPE_CHECKING:
    from rankadjust.counting.candidate_lists import Lists
    from rankadjust.counting.protocols import Protocol
    from rankadjust.database.own_triples import Triples


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """What is known of the tasks of a data set, a protocol, a split and a side.

    `rankadjust.EvaluationSet` describes it, and adds what the packages above do with a set.
    """

    dataset: str
    protocol: str
    split: str
    side: str
    constants: pl.DataFrame
    histograms: Histograms = field(default_factory=Histograms)
    pairs: pl.DataFrame | None = None
    rules: "Protocol | None" = None
    counting: Callable[[Sequence[str] | None], pl.DataFrame] | None = None
    listing: Callable[[], pl.DataFrame | None] | None = None

    # --- where evaluation sets come from -------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        constants: Constants,
        dataset: str,
        protocol: str | None = None,
        split: str | None = None,
        side: str | None = None,
        evaluator: str | None = None,
    ) -> Self:
        """Return an evaluation set of some constants. Every name may be an alias, in any spelling.

        protocol, split, side: None means as the evaluator (a code base) does it, or as is usual for the data set.
        Raises RankadjustError for a name that the database does not have.
        """
        table = constants.table
        if isinstance(dataset, str) and same_name(dataset, table["dataset"].unique()) is None:
            # What reads the registry takes long to import, and a data set of the database does not need it.
            from rankadjust.database.documented import approximate_rows  # noqa: PLC0415

            approximate = approximate_rows(dataset, constants, protocol, evaluator)
            table = table if approximate is None else approximate
        known = narrowed(table, "the database", lambda: constants.registry, dataset=dataset)
        meant = _meant(known, protocol, split, evaluator)
        wanted = {"dataset": dataset, "protocol": meant.protocol, "split": meant.split or "testing"}
        rows = narrowed(table, "the database", lambda: constants.registry, **wanted)
        dataset, protocol, split = rows.select(*wanted).row(0)

        def stored(metrics: Sequence[str] | None) -> pl.DataFrame:
            of_metrics = True if metrics is None else pl.col("metric").is_in(metrics)
            return constants.baselines.filter(of_metrics, dataset=dataset, protocol=protocol)

        def listed() -> pl.DataFrame | None:
            # What lists tasks takes long to import, and one printed value does not need it.
            from rankadjust.database.own_triples import tasks_of_run  # noqa: PLC0415

            return tasks_of_run(constants.file, dataset, protocol)

        whole = cls(
            dataset, protocol, split, "both", rows, constants.histograms, counting=stored, listing=listed
        )
        if side is None:
            side = next(each for each in (meant.side, "both", *whole.sides) if each in whole.sides)
        return whole.of_side(side)

    @classmethod
    def released(
        cls,
        dataset: str,
        protocol: str | None = None,
        split: str | None = None,
        side: str | None = None,
        evaluator: str | None = None,
    ) -> Self:
        """Return an evaluation set of the database that comes with rankadjust.

        Parameters
        ----------
        dataset, protocol, split, side : str
            Names in any spelling, or aliases: 'fb237', 'Filtered', 'test', 'object'. For a name that the database lacks
            RankadjustError names the nearest that it has. None: the usual ones of the data set, or of the evaluator.
        evaluator : str, optional
            A code base whose evaluation is meant, such as 'ULTRA' (config/evaluators.yaml).

        Examples
        --------
        >>> EvaluationSet.released("fb237", split="test", side="object")
        EvaluationSet('FB15k-237', protocol='filtered', split='testing', side='tail')

        """
        return cls.of(Constants.released(), dataset, protocol, split, side, evaluator)

    @classmethod
    def of_run(
        cls,
        results: str | Path,
        dataset: str,
        protocol: str | None = None,
        split: str | None = None,
        side: str | None = None,
    ) -> Self:
        """Return an evaluation set of a run of the workflow, or of the release if the run lacks it.

        Parameters
        ----------
        results : str or Path
            The folder `results` that the run wrote; RankadjustError where the run is not finished.
        dataset, protocol, split, side : str
            Names in any spelling, or aliases, also of the run's own data sets.

        """
        return cls.of(Constants.of_run(results).over(Constants.released()), dataset, protocol, split, side)

    @classmethod
    def from_triples(  # noqa: PLR0913 - options of the public API, by name only
        cls,
        train: "Triples",
        valid: "Triples | None",
        test: "Triples",
        *,
        protocol: "str | Protocol" = "filtered",
        split: str = "testing",
        side: str = "both",
        name: str = "own",
        candidates: "Lists | None" = None,
        relations: Sequence[str] | Sequence[int] | None = None,
    ) -> Self:
        """Count the candidates of every task of your own triples, and return their evaluation set.

        The set has exact expectations and variances, under a random scorer, too. RankadjustError if the frames are not
        triples, or the protocol does not apply to them.

        Parameters
        ----------
        train, valid, test : frame, array or list, shape (n, 3)
            Triples of labels or of integers from 0 on. A frame has the columns head, relation and tail; temporal data
            also have time, or time_start and time_end. valid may be None or empty.
        protocol : str or Protocol
            What is ranked against what: the name of a shipped protocol, or one of your own.
        split, side : str
            What is evaluated: training, validation or testing; head, tail or both.
        name : str
            What messages call the data set.
        candidates : mapping, optional
            The entities that heads and tails are ranked against, by side ({"head": [...], "tail": [...]}) or by
            relation and side; known answers are left out, as under filtered. A relation or side without a list is
            ranked against all entities.
        relations : sequence, optional
            The relations whose triples are ranked; the filter knows all triples.

        Examples
        --------
        >>> train = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "r", "a")]
        >>> own = EvaluationSet.from_triples(train, None, [("a", "r", "c")])
        >>> own.histogram.rows()
        [('testing', 'head', 3, 1), ('testing', 'tail', 3, 1)]
        >>> own.moments(["mr"])["expectation"].to_list()
        [2.0]

        """
        # What counts takes long to import, and one printed value does not need it.
        from rankadjust.counting.protocols import get_protocol  # noqa: PLC0415
        from rankadjust.database.own_triples import baselines_of, given_triples, own_counts, own_tasks  # noqa: PLC0415

        rules = get_protocol(protocol) if isinstance(protocol, str) else protocol
        given = given_triples({"training": train, "validation": valid, "testing": test})
        counts, rules = own_counts(given, rules, candidates, relations)
        known = counts.histogram["split"].unique().to_list()
        chosen = known_name(SPLIT, split, known, f"the triples of {name}")
        names = (pl.lit(name).alias("dataset"), pl.lit(rules.name).alias("protocol"))
        histogram = counts.histogram.select(*names, pl.all())
        nothing, pairs = pl.DataFrame(schema=SCHEMA), counts.pairs.filter(split=chosen)
        whole = cls(name, rules.name, chosen, "both", nothing, Histograms(histogram), pairs, rules)
        # Scorers that count would have to be ranked against the same lists.
        if candidates is None and relations is None:
            counting, listing = baselines_of(given, rules, name), partial(own_tasks, given, rules)
            whole = replace(whole, counting=counting, listing=listing)
        return whole.of_side(side)

    @classmethod
    def constant(cls, *, candidates: int, tasks: int) -> Self:
        """Return an evaluation set whose tasks all have the same number of candidates.

        Parameters
        ----------
        candidates, tasks : int
            Candidates of each task, the true answer included (50 for 49 sampled negatives), and how many tasks.

        Examples
        --------
        >>> EvaluationSet.constant(candidates=50, tasks=20_000).moments(["hits@10"])["expectation"].to_list()
        [0.2]

        """
        for what, number, least in (("candidates", candidates, 2), ("tasks", tasks, 1)):
            if not isinstance(number, Integral) or number < least:
                raise RankadjustError(f"{what} is {number!r}; give a whole number from {least} on")
        names = ("constant", f"sampled-{candidates - 1}", "testing", "both")
        row = {**dict(zip(EVALUATION, names, strict=True)), "num_candidates": candidates, "tasks": tasks}
        return cls(*names, pl.DataFrame(schema=SCHEMA), Histograms(pl.DataFrame([row])))

    # --- what is known of the tasks ------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return the name for messages."""
        return f"{self.dataset} ({self.protocol}, {self.split})"

    def __repr__(self) -> str:
        """Return what the set is a set of; its tables are long."""
        names = f"protocol={self.protocol!r}, split={self.split!r}, side={self.side!r}"
        return f"EvaluationSet({self.dataset!r}, {names})"

    @property
    def evaluation(self) -> tuple[str, str, str, str]:
        """Data set, protocol, split and side."""
        return self.dataset, self.protocol, self.split, self.side

    @property
    def sides(self) -> list[str]:
        """The sides whose tasks are known, 'both' among them."""
        if self.constants.height:
            return sorted(self.constants["side"].unique().to_list())
        return sorted({*self.histogram["side"], "both"})

    def of_side(self, side: str) -> Self:
        """Return the evaluation set of another side. Raises RankadjustError if there is no such side."""
        return replace(self, side=known_name(SIDE, side, self.sides, str(self)))

    @property
    def histogram(self) -> pl.DataFrame:
        """How many tasks of each side have how many candidates; no rows where that is not known."""
        return self._counts.select("split", "side", "num_candidates", "tasks")

    @property
    def _counts(self) -> pl.DataFrame:
        return self.histograms.counts(self.dataset, self.protocol, self.split)

    @property
    def candidate_counts(self) -> CandidateCounts | None:
        """How many tasks of this side have how many candidates, None where that is not known."""
        return self.histograms.candidate_counts(*self.evaluation)

    @property
    def tasks(self) -> int | None:
        """The number of tasks of this side, None where it is not known."""
        known = self._of_side("tasks")
        if known is not None or self.constants.height:
            return known
        return None if self.candidate_counts is None else int(self.candidate_counts.tasks.sum())

    @property
    def largest_count(self) -> int | None:
        """The last rank that a task can have, or else the number of entities; None where neither is known."""
        if self.candidate_counts is not None and self.candidate_counts.counts.size:
            return int(possible_ranks(self.protocol, self.candidate_counts.counts)[1][-1])
        return self._of_side("entities")

    def _of_side(self, column: str) -> int | None:
        known = self.constants.filter(side=self.side)[column].drop_nulls()
        return None if known.is_empty() else int(known.to_numpy().max())

    def row(self, metric: Metric) -> dict[str, Any] | None:
        """Return the constants of a metric, or None if it has no moments or the tasks are not known."""
        rows = self.moments([metric.key])
        return rows.row(0, named=True) if rows.height else None

    def moments(self, metrics: str | Sequence[str], ks: Sequence[int] = (1, 3, 5, 10)) -> pl.DataFrame:
        """Return the constants of each metric, in a row with the columns of `rankadjust.database.store.SCHEMA`.

        Parameters
        ----------
        metrics : str or sequence of str
            Keys or aliases; 'hits@k' stands for one metric for each of `ks`. What the database lacks is computed from
            the histogram; where that is not known either it has no row.
        ks : sequence of int
            What k stands for.

        Examples
        --------
        >>> nations = EvaluationSet.released("Nations")
        >>> nations.moments(["mrr", "hits@2"]).select("metric", pl.col("expectation").round(4)).rows()
        [('inverse_harmonic_mean_rank', 0.3844), ('hits_at_2', 0.3343)]

        """
        names = [metrics] if isinstance(metrics, str) else list(metrics)
        wanted = [metric for metric in expand(names, ks) if metric.has_moments]
        known = self.constants.filter(pl.col("side") == self.side).select(SCHEMA.names())
        missing = [metric for metric in wanted if metric.key not in set(known["metric"])]
        rows = pl.concat([known, self._computed(missing)]) if missing else known
        order = pl.DataFrame({"metric": [metric.key for metric in wanted]}, schema={"metric": pl.String})
        return order.join(rows, on="metric", how="inner", maintain_order="left").select(SCHEMA.names())

    def _computed(self, metrics: Sequence[Metric]) -> pl.DataFrame:
        from rankadjust.database.own_triples import computed  # noqa: PLC0415

        counts = self._counts
        if counts.is_empty() or counts["tasks"].null_count():
            return pl.DataFrame(schema=SCHEMA)
        rows = computed(counts, self.pairs, self.rules or self.protocol, metrics)
        return rows.filter(pl.col("side") == self.side)

    def baselines(
        self, metrics: Sequence[str] | None = None, ks: Sequence[int] = (1, 3, 5, 10)
    ) -> pl.DataFrame:
        """Return the values of counting baselines for each metric (docs/methods-baselines.md).

        metrics: keys or aliases; 'hits@k' stands for one metric for each of `ks`. None: all that are stored, or for own
        triples the mean rank, MRR and Hits@k.

        Returns
        -------
        polars.DataFrame
            A row for each baseline and metric: dataset, protocol, split, side, baseline, metric, value (over all orders
            of the tied), variance (over these orders), tasks, and reason, which says why a value is null. No rows where
            nothing was counted: data without training triples, constant candidates.

        Examples
        --------
        >>> fb = EvaluationSet.released("FB15k-237")
        >>> fb.baselines(["mrr"]).select("baseline", pl.col("value").round(4)).rows()
        [('popularity', 0.2345), ('redundancy', 0.0006), ('rules', 0.221)]

        """
        return self.counted(metrics, ks).filter(split=self.split, side=self.side)

    def counted(self, metrics: Sequence[str] | None = None, ks: Sequence[int] = ()) -> pl.DataFrame:
        """Return the same values as `baselines`, for all splits and sides."""
        if self.counting is None:
            return pl.DataFrame(schema=BASELINES_SCHEMA)
        return self.counting(None if metrics is None else [each.key for each in expand(list(metrics), ks)])

    def known_baseline(self, name: str | None) -> str | None:
        """Return our name of a counting baseline in any spelling, or None for the best baseline of each metric.

        Raises RankadjustError for a name that none of them has.
        """
        if name is None:
            return None
        return known_baseline(name, self.counted().drop_nulls("value")["baseline"], str(self))

    def each_task(self) -> pl.DataFrame:
        r"""Return the facts about each task of a test split, and the ranks that counting baselines give it.

        A row for each task: triple, line, ids, side, num_candidates, relation, query, cardinality; and for
        each baseline the least and the greatest rank that ties allow, such as popularity_optimistic and
        popularity_pessimistic (docs/compare.md). Raises RankadjustError where the triples are not at hand: of the
        release only counts are known.

        Examples
        --------
        >>> train = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "r", "a")]
        >>> own = EvaluationSet.from_triples(train, None, [("a", "r", "c")])
        >>> own.each_task().select("query", "popularity_optimistic", "popularity_pessimistic").rows()
        [('?\tr\tc', 1, 3), ('a\tr\t?', 1, 3)]

        """
        tasks = None if self.listing is None else self.listing()
        if tasks is None or self.split not in TEST_SPLITS:
            raise RankadjustError(
                f"{self}: a baseline's rank in each task needs facts about the tasks, which are missing; give the file "
                "that 'snakemake tasks' writes (--tasks), the results of a run with this data set (--results), or in "
                "Python EvaluationSet.from_triples"
            )
        return tasks.filter(split=self.split)

    def compared(self, metric: Metric, against: str | None) -> tuple[str | None, float | None, str | None]:
        """Return the counting baseline that a value is compared with, and its value, or why there is none."""
        known = self.counted([metric.key])
        of_side = chosen(known.filter(side=self.side), self.known_baseline(against)).filter(split=self.split)
        if of_side.height:
            return *of_side.select("baseline", "baseline_value").row(0), None
        return None, None, why_no_gain(self.counted(), self.split, metric.key)

    def under_others(self) -> list[Self]:
        """Return this split and side under the other protocols whose candidates are known."""
        known = (
            self.histograms.table.filter(dataset=self.dataset, split=self.split)["protocol"].unique().sort()
        )
        bare = replace(self, constants=pl.DataFrame(schema=SCHEMA), pairs=None, rules=None)
        return [replace(bare, protocol=name) for name in known if name != self.protocol]

    def evaluations_of(self, tasks: int, worst: float) -> list[str]:
        """Return other evaluations of this data set, as options, that have so many tasks and allow the worst rank."""
        of_side = pl.lit(self.side == "both") | (pl.col("side") == self.side)
        known = self.histograms.table.filter(of_side, dataset=self.dataset)
        totals = (pl.col("tasks").sum(), pl.col("num_candidates").max())
        sums = known.group_by("protocol", "split", maintain_order=True).agg(totals)
        fitting = sums.filter(pl.col("num_candidates") >= worst, tasks=tasks)
        fitting = fitting.sort(pl.col("split") != self.split, maintain_order=True)
        return [
            f"--protocol {protocol} --split {split}"
            for protocol, split in fitting.select("protocol", "split").head(2).rows()
        ]

    def why_absent(self, metric: Metric) -> str:
        """Return the reason why a metric has no constants."""
        if not metric.has_moments:
            return f"{metric.label} cannot be adjusted, because its expectation under chance is not known"
        return why_no_metric(metric, self.constants["metric"].unique(), f"the database for {self}")


def _meant(known: pl.DataFrame, protocol: str | None, split: str | None, evaluator: str | None) -> Evaluation:
    """Return the evaluation that is asked for, of a data set with these rows in a database."""
    dataset, protocols = known["dataset"][0], known["protocol"].unique().to_list()
    if evaluator is not None:
        if protocol is not None:
            raise RankadjustError("an evaluator stands for a protocol, so give only one of the two")
        return evaluation_by(evaluator, dataset, split)
    usual = usual_evaluation(dataset)
    # A run may have counted other protocols.
    others = (usual.protocol, "filtered", *sorted(protocols))
    chosen = protocol or next(each for each in others if each in protocols)
    return replace(usual, protocol=chosen, split=split or usual.split)


def evaluation_set_of(
    dataset: str | EvaluationSet,
    protocol: str | None,
    split: str | None,
    side: str | None,
    database: Database,
    evaluator: str | None = None,
) -> EvaluationSet:
    """Return what a public function was given as its evaluation: the set itself, or the names of one in a database.

    side: of a set, head or tail take this side of it; its protocol and split are its own.
    """
    if isinstance(dataset, EvaluationSet):
        return dataset if side in (None, "both") else dataset.of_side(side)
    return _named(Constants.given(database), dataset, protocol, split, side, evaluator)


# A script adjusts many values of one set.
@lru_cache(maxsize=16)
def _named(constants: Constants, *names: str | None) -> EvaluationSet:
    dataset, *others = names
    return EvaluationSet.of(constants, str(dataset), *others)
