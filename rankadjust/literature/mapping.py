"""Map the words of printed tables to the words of this project, and resolve names.

config/published.yaml holds the mapping as data: single words by column, and rules that use several columns of a row
(resources/published/README.md has the reasons).
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.frames import filled
from rankadjust.base.io import shipped
from rankadjust.base.schemas import read_yaml, validate
from rankadjust.base.vocabulary import PRINTED_SPLITS, SIDES
from rankadjust.base.words import PUBLISHED, folded, our_word, same_name
from rankadjust.chance.metrics import Names, find_adjusted, names_of, resolve
from rankadjust.counting.evaluators import (
    Evaluation,
    as_evaluator_prints,
    evaluation_by,
    find_evaluator,
    protocol_or_evaluator,
    usual_evaluation,
)
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.data.registry import Dataset, name_here, resolve_dataset
from rankadjust.database.arithmetic import stated_scores
from rankadjust.database.known_names import SPLIT, find_name
from rankadjust.literature.tidy import tidy_columns

UNITS = ("fraction", "percent", "rank", "index", "z")

# Columns whose words are mapped; <column>_as_printed keeps the printed word.
MAPPED = ("dataset", "split", "side", "protocol", "ties", "candidates", "metric", "unit")

# Protocols that rank against every entity of a data set, so that N is close to the number of entities.
ALL_ENTITIES = (
    *("filtered", "filtered-training", "filtered-cumulative", "raw", "pykeen", "time-aware", "time-static"),
)

# What the usual evaluation of a data set says where a table does not.
_OPEN = ("protocol", "split", "side")
# Code bases estimate it with 49 draws or with 50.
_ESTIMATED = "hits@10_50"

_PERCENT_SIGN = re.compile(r"(?<!\s)\s*+(\(%\)|\[%\]|%)\s*$")


@dataclass(frozen=True)
class Rules:
    """The mapping of words: single words by column, rules for rows, and names of printed adjusted metrics.

    entities: data set -> documented number of entities, for data sets that the registry lacks. variants: what a variant
    adds to the name of its model. models: the other names and the year of a model.
    """

    words: Mapping[str, Mapping[str, str]]
    rules: tuple[Mapping[str, Any], ...]
    adjusted: Names
    entities: Mapping[str, int] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@cache
def load_rules(path: str | Path | None = None) -> Rules:
    """Read mapping rules; None means the shipped config/published.yaml. Mistakes raise RankadjustError."""
    path = shipped(PUBLISHED) if path is None else Path(path)
    data = read_yaml(path)
    validate(data, "published", path)
    names = [rule["name"] for rule in data["rules"]]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise RankadjustError(f"{path}: two rules have the name '{repeated}'; give each its own")
    entities = {name: entry["count"] for name, entry in data.get("entities", {}).items()}
    adjusted, models = names_of(data["adjusted"]), data.get("models", {})
    return Rules(
        data["words"], tuple(data["rules"]), adjusted, entities, tuple(data.get("variants", ())), models
    )


@cache
def benchmark_names() -> Mapping[str, str]:
    """Return the folded names and aliases of the benchmarks with constant candidates -> their data set."""
    return {
        folded(word): benchmark.dataset
        for benchmark in load_benchmarks()
        for word in (benchmark.dataset, *benchmark.aliases)
    }


def map_words(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Map the words of the sources to the words of this project; <column>_as_printed keeps the printed words.

    Adds the missing columns of a tidy table and fills empty cells with the defaults. Adds rule_status and rule_message
    (null if no rule gives a status), and caveat and tags (null if no rule gives one).
    """
    columns = tidy_columns()["properties"]
    nothing = pl.lit(None, dtype=pl.String)
    absent = [name for name in columns if name not in frame.columns and not name.endswith("_as_printed")]
    printed = frame.with_columns(nothing.alias(name) for name in absent)
    mapped = {name: _in_our_words(printed[name], name, rules) for name in MAPPED}
    # A code base stands for its protocol, which depends on the data set (`_with_evaluations`).
    mapped["protocol"] = pl.coalesce(_sampled_by_candidates(mapped["protocol"]), "evaluator")
    status = message = nothing
    said: dict[str, list[pl.Expr]] = {"caveat": [nothing], "tags": [nothing]}
    for rule in rules.rules:
        matches = pl.all_horizontal(_holds(pl.col(name), wanted) for name, wanted in rule["match"].items())
        matches = matches.fill_null(value=False)
        for name, word in rule.get("set", {}).items():
            mapped[name] = pl.when(matches).then(pl.lit(word)).otherwise(mapped[name])
        if "status" in rule:
            given = None if rule["status"] == "ok" else rule["status"]
            status = pl.when(matches).then(pl.lit(given, dtype=pl.String)).otherwise(status)
            message = pl.when(matches).then(pl.lit(rule["reason"])).otherwise(message)
        for name, texts in said.items():
            if name in rule:
                texts.append(pl.when(matches).then(pl.lit(rule[name])))
    printed_names = {f"{name}_as_printed": pl.col(name) for name in MAPPED}
    defaults = {name: pl.lit(columns[name].get("default"), dtype=pl.String) for name in MAPPED}
    return printed.with_columns(
        **{name: word for name, word in printed_names.items() if name not in frame.columns},
        **{name: word.fill_null(defaults[name]) for name, word in mapped.items()},
        **{f"{name}_is_open": mapped[name].is_null() for name in _OPEN},
        rule_status=status,
        rule_message=message,
        **{
            name: pl.concat_str(texts, separator="; ", ignore_nulls=True).replace("", None)
            for name, texts in said.items()
        },
    )


def _in_our_words(printed: pl.Series, column: str, rules: Rules) -> pl.Expr:
    """Replace the known words of a column, in any spelling, by the words of this project; keep unknown words."""
    ours = {word: our_word(column, word, rules.words) or word for word in _distinct(printed)}
    return pl.col(column).replace(ours)


def _holds(column: pl.Expr, wanted: str | list[str | None] | Mapping[str, str] | None) -> pl.Expr:
    if wanted is None:
        return column.is_null()
    if isinstance(wanted, str):
        return column == wanted
    if isinstance(wanted, Mapping):
        return column.str.contains(wanted["pattern"])
    return column.is_in(wanted, nulls_equal=True)


def _sampled_by_candidates(protocol: pl.Expr) -> pl.Expr:
    """Name a sampled protocol by its number of candidates: some sources count the true answer among the q."""
    candidates = pl.col("candidates").str.extract(r"^([1-9][0-9]*)$", 1).cast(pl.Int64, strict=False)
    named = filled("sampled-{}", candidates - 1)
    return (
        pl.when(protocol.str.contains("^sampled") & candidates.is_not_null()).then(named).otherwise(protocol)
    )


_METRIC_FACTS = {
    **dict.fromkeys(("metric", "metric_found", "adjustment"), pl.String),
    **dict.fromkeys(("lower", "upper"), pl.Float64),
    **dict.fromkeys(("increasing", "additive", "has_moments"), pl.Boolean),
    "metric_problem": pl.String,
}


def _metric_facts(name: str, rules: Rules) -> tuple[Any, ...]:
    try:
        plain = _PERCENT_SIGN.sub("", name)
        metric, adjustment = find_adjusted(plain, rules.adjusted) or (resolve(plain), None)
    except RankadjustError as error:
        return (name, *[None] * (len(_METRIC_FACTS) - 2), str(error))
    bounds = {
        None: (metric.lower, metric.upper),
        "ratio": (0.0, math.inf),
        "index": (-math.inf, 1.0),
        "z": (-math.inf, math.inf),
    }[adjustment]
    facts = (metric.increasing, metric.additive, metric.has_moments)
    return (name, metric.key, adjustment, *bounds, *facts, None)


def resolve_names(
    rows: pl.DataFrame,
    database: pl.DataFrame,
    rules: Rules,
    registry: Mapping[str, Dataset],
    entities: Mapping[str, int],
) -> pl.DataFrame:
    """Replace names by the names of this project; add problems (<column>_problem) and facts of the metric."""
    metrics = [_metric_facts(name, rules) for name in _distinct(rows["metric"])]
    rows = _joined(rows, metrics, _METRIC_FACTS).with_columns(metric_problem=_or_empty("metric"))
    known = {name: database[name].unique().to_list() for name in ("dataset", "protocol")}
    finders: dict[str, Callable[[str], str | None]] = {
        # The database has the data sets of the run, under any alias.
        "dataset": lambda name: (
            same_name(name_here(name), [*known["dataset"], *entities])
            or benchmark_names().get(folded(name))
            or resolve_dataset(name, registry).name
        ),
        "protocol": lambda name: same_name(name, known["protocol"]) or protocol_or_evaluator(name),
        "split": lambda name: _find(name, PRINTED_SPLITS, "split"),
        "side": lambda name: _find(name, SIDES, "side"),
        "unit": lambda name: _find(name, UNITS, "unit"),
        "scores": stated_scores,
    }
    for column, find in finders.items():
        found = [(name, *_outcome(find, name)) for name in _distinct(rows[column])]
        rows = _joined(rows, found, [column, f"{column}_found", f"{column}_problem"])
        if column == "protocol":
            rows = _with_evaluations(rows, database)
    return _with_inference(rows, database).with_columns(dataset_problem=_or_empty("dataset"))


def _joined(
    rows: pl.DataFrame, found: Sequence[tuple[Any, ...]], schema: Mapping[str, Any] | Sequence[str]
) -> pl.DataFrame:
    """Add facts to the rows by the first column of `found`, and replace its names by those of <column>_found."""
    types = schema if isinstance(schema, Mapping) else dict.fromkeys(schema, pl.String)
    column = next(iter(types))
    facts = pl.DataFrame(found, schema=dict(types), orient="row")
    return rows.join(facts, on=column, how="left", maintain_order="left").with_columns(
        pl.coalesce(f"{column}_found", column).alias(column)
    )


def _with_evaluations(rows: pl.DataFrame, database: pl.DataFrame) -> pl.DataFrame:
    """Fill in the usual evaluation of a data set where a row says none, and the evaluation of a code base."""
    given = ["dataset", "protocol", "split", *(f"{name}_is_open" for name in _OPEN)]
    held = set(database.select("dataset", "protocol").unique().iter_rows())
    found = []
    for row in rows.select(given).drop_nulls().unique(maintain_order=True).iter_rows():
        dataset, protocol, split, is_open, *others = row
        meant, problem = usual_evaluation(dataset), None
        evaluator = None if is_open or (dataset, protocol) in held else find_evaluator(protocol)
        try:
            if evaluator is not None:
                meant = evaluation_by(evaluator, dataset, None if others[0] else split)
                others[0] = True
            elif is_open and (dataset, meant.protocol) not in held and (dataset, "filtered") in held:
                meant = Evaluation("filtered", meant.split)
            elif not is_open and protocol != meant.protocol:
                meant = Evaluation(protocol, meant.split)
        except RankadjustError as error:
            meant, problem = Evaluation(protocol), str(error)
        words = (word if each else None for word, each in zip((meant.split, meant.side), others, strict=True))
        hits, from_zero = None, None
        if evaluator is not None:
            hits = resolve(as_evaluator_prints(evaluator, _ESTIMATED)[0]).key
            if as_evaluator_prints(evaluator, "mr")[1]:
                from_zero = (
                    f"{evaluator} counts ranks from 0, so add 1 to its mean rank, and state protocol and side"
                )
        found.append((*row, meant.protocol, *words, hits, from_zero, problem))
    meant_names = [*(f"{name}_meant" for name in _OPEN), "hits", "from_zero"]
    types = dict(rows.select(given).schema) | dict.fromkeys((*meant_names, "why"), pl.String())
    facts = pl.DataFrame(found, schema=pl.Schema(types), orient="row")
    return rows.join(facts, on=given, how="left", maintain_order="left").with_columns(
        *(pl.coalesce(f"{name}_meant", name).alias(name) for name in _OPEN),
        metric=pl.coalesce(pl.when(pl.col("metric") == resolve(_ESTIMATED).key).then("hits"), "metric"),
        protocol_problem=pl.coalesce(
            "why",
            pl.when(pl.col("metric") == "arithmetic_mean_rank").then("from_zero"),
            "protocol_problem",
        ),
    )


def _with_inference(rows: pl.DataFrame, database: pl.DataFrame) -> pl.DataFrame:
    """Replace testing by inference_testing for an inductive data set of the database that has no testing."""
    pairs = rows.select("dataset", "split").drop_nulls().unique(maintain_order=True)
    near = database.filter(pl.col("dataset").is_in(pairs["dataset"].unique().to_list()))
    splits: dict[str, list[str]] = dict(near.group_by("dataset").agg(pl.col("split").unique()).iter_rows())
    inferred = [
        (dataset, split, find_name(SPLIT, split, splits.get(dataset, ())) or split)
        for dataset, split in pairs.iter_rows()
    ]
    known = pl.DataFrame(
        inferred, schema=dict.fromkeys(("dataset", "split", "split_here"), pl.String), orient="row"
    )
    return rows.join(known, on=["dataset", "split"], how="left", maintain_order="left").with_columns(
        split=pl.coalesce("split_here", "split")
    )


def _distinct(column: pl.Series) -> list[str]:
    return column.drop_nulls().unique(maintain_order=True).to_list()


def _outcome(find: Callable[[str], str | None], name: str) -> tuple[str | None, str | None]:
    try:
        return find(name), None
    except RankadjustError as error:
        return None, str(error)


def _or_empty(column: str) -> pl.Expr:
    empty = pl.when(pl.col(column).is_null()).then(pl.lit(f"the {column} is empty"))
    return pl.coalesce(f"{column}_problem", empty)


def _find(name: str, known: Sequence[str], what: str) -> str:
    name_known = same_name(name, known)
    if name_known is None:
        hint = did_you_mean(name, known) or f"; allowed are {', '.join(known)}"
        raise RankadjustError(f"unknown {what} '{name}'{hint}")
    return name_known
