"""Count the standings of a data set's tasks under the baselines, as a histogram for every protocol.

The histogram says how many tasks have a given number of candidates above the true answer, tied with it, and in all. The
expectation of any metric over the orders of the tied depends on nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import SPLITS, TASK_SIDES, TIED, time_columns
from rankadjust.baselines.links import Links, links_of
from rankadjust.baselines.recurrency import RECURRENCY, Recurrency, order_of_times
from rankadjust.baselines.scores import STATIC, scores_of
from rankadjust.baselines.standings import Standing, Static
from rankadjust.counting.attributes import by_first_row, evaluated, single_tasks, task_attributes
from rankadjust.counting.candidates import graphs_of, require_applicable
from rankadjust.counting.codes import integer_codes, one_frame
from rankadjust.counting.groups import in_groups, survey
from rankadjust.counting.packing import Integers, counted
from rankadjust.counting.protocols import Protocol, Time, get_protocol
from rankadjust.counting.rows import (
    SIDES,
    TRAINING_GRAPH,
    Ranked,
    Rows,
    Survey,
    is_one_of,
    ranked_rows,
    rows_of,
)

BASELINES = (*STATIC, *RECURRENCY)
STANDINGS_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("split", "side", "baseline"), pl.String),
        **dict.fromkeys(("above", "tied", "candidates", "tasks"), pl.Int64),
    }
)
# Number of triples of a group of relations.
_GROUP = 2**18
# Greatest number of relations of a group, each with a bit of a word, and of cells in tables by relation and signature.
_RELATIONS = 64
_CELLS = 2**23


@dataclass(frozen=True)
class Standings:
    """The standings of the true answers of a data set under a protocol.

    table: the columns split, side, baseline, above (number of candidates above the true answer), tied (number tied with
        it, itself included), candidates (number in all) and tasks (number of such tasks); sorted.
    missing: baselines that would apply, each with the reason why it is not computed.
    """

    table: pl.DataFrame
    missing: Mapping[str, str] = field(default_factory=dict)


# The tables of each (split, side, baseline), one for each group of relations.
_Parts = dict[tuple[str, str, str], list[pl.DataFrame]]
# Makes a table from the rows of a group, the ids of its relations, its ranked rows and their standing.
_Make = Callable[[Rows, Integers, Ranked, Standing], pl.DataFrame]


def count_standings(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocols: Sequence[str | Protocol], isolated: int = 0
) -> list[Standings]:
    """Return the standings of the true answers of a data set under every baseline, for each protocol.

    Arguments and errors are as for `rankadjust.count_candidates`. If a protocol samples negatives,
    its standings are among all candidates; `rankadjust.baselines.sampled` does the sampling.
    """
    given = [get_protocol(each) if isinstance(each, str) else each for each in protocols]
    triples = _checked(splits, given)
    # If the caller gave its only copy away, the memory is free from here on.
    del splits
    alike = list(map(_alike, given))
    different = list(dict.fromkeys(alike))
    parts, missing = _in_groups(triples, different, isolated, _histogram)
    tables = [_table(_added_up(each)) for each in parts]
    return [Standings(tables[different.index(each)], missing) for each in alike]


def task_standings(triples: pl.DataFrame, protocol: Protocol, isolated: int = 0) -> pl.DataFrame:
    """Return the standing of the true answer of each single task under every baseline that applies.

    Arguments and tasks are as for `rankadjust.counting.attributes.count_tasks`. The columns are row (the first row of
    `triples` with this triple), side, baseline, above and tied.
    """
    frame = _checked(evaluated(triples, protocol), [protocol])
    ((parts,), _) = _in_groups(frame, [_alike(protocol)], isolated, _single)
    tasks = pl.concat(
        pl.concat(tables).with_columns(side=pl.lit(side), baseline=pl.lit(baseline))
        for (_, side, baseline), tables in parts.items()
    )
    return by_first_row(integer_codes(frame), tasks).select("row", "side", "baseline", "above", "tied")


def tasks_with_baselines(
    triples: pl.DataFrame, labels: pl.DataFrame, protocol: str | Protocol, isolated: int = 0
) -> pl.DataFrame:
    """Return the table of `task_attributes` with two more columns for each baseline, such as popularity_optimistic.

    A baseline ties answers, and every order of the tied is equally likely: so each task has an optimistic and a
    pessimistic rank, and every whole rank between them is equally likely. If the protocol samples negatives, these
    columns are missing: the negatives differ from run to run, and so do the ranks.
    """
    tasks = task_attributes(triples, labels, protocol, isolated)
    rules = get_protocol(protocol) if isinstance(protocol, str) else protocol
    if rules.negatives is not None or not rules.has_standings:
        return tasks
    triples = evaluated(triples, rules)
    line = (pl.int_range(pl.len(), dtype=pl.Int64) + 1).over("split")
    places = triples.select(pl.col("split").cast(pl.String), line=line).with_row_index("row")
    standings = task_standings(triples, rules, isolated).with_columns(
        optimistic=pl.col("above") + 1, pessimistic=pl.col("above") + pl.col("tied")
    )
    joined = places.cast({"row": pl.Int64})
    for (baseline,), part in standings.partition_by("baseline", as_dict=True, maintain_order=True).items():
        ranks = part.select("row", "side", *(pl.col(end).alias(f"{baseline}_{end}") for end in TIED))
        on = [name for name in ("row", "side") if name in joined.columns]
        joined = joined.join(ranks, on=on)
    return tasks.join(joined.drop("row"), on=["split", "line", "side"], how="left", maintain_order="left")


def _checked(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocols: Sequence[Protocol]
) -> pl.DataFrame:
    triples = one_frame(splits)
    require_applicable(protocols, triples.columns, triples["split"].unique().to_list())
    # numpy looks at columns in one piece without a copy.
    return triples.rechunk()


def _in_groups(
    triples: pl.DataFrame, protocols: Sequence[Protocol], isolated: int, make: _Make
) -> tuple[list[_Parts], dict[str, str]]:
    """Return the tables of all groups of relations, for each protocol, and the missing baselines with reasons."""
    occurring = set(triples["split"].unique())
    present = [name for name in SPLITS if name in occurring]
    codes = integer_codes(triples)
    when, missing = _when(triples, codes)
    surveys = survey(codes, isolated)
    relations = max(graph.triples.size for graph in surveys.values())
    links = {graph: _links(codes, surveyed, relations) for graph, surveyed in surveys.items()}
    parts: list[_Parts] = [{} for _ in protocols]
    for graph in graphs_of(present):
        # Confidences of rules come from the training graph (unless it is empty), also for tasks about another graph.
        learned = links[TRAINING_GRAPH if links[TRAINING_GRAPH].words.size else graph]
        work = partial(
            _of_group,
            links=links[graph],
            learned=learned,
            when=when,
            protocols=protocols,
            make=make,
        )
        signatures = links[graph].reverse.size
        most = max(1, min(_RELATIONS, _CELLS // max(signatures, 2 * relations)))
        for of_group in in_groups(codes, surveys[graph], work, _GROUP, most):
            for into, made in zip(parts, of_group, strict=True):
                for key, table in made.items():
                    into.setdefault(key, []).append(table)
    return parts, missing


def _when(triples: pl.DataFrame, codes: Mapping[str, Integers]) -> tuple[Integers | None, dict[str, str]]:
    """Return the place of every time code among all times, and the baselines that lack such an order, with reasons."""
    if not time_columns(codes):
        return None, {}
    order, reason = order_of_times(triples)
    if order is None:
        return None, dict.fromkeys(RECURRENCY, reason)
    of_code = np.zeros(int(codes["time"].max()) + 1, np.int64)
    of_code[codes["time"]] = order
    return of_code, {}


def _alike(protocol: Protocol) -> Protocol:
    """Return the protocol without the choices that do not change the standings."""
    return replace(
        protocol, name="any", counting="inclusive", sides="shared", data="any", negatives=None, description=""
    )


def _links(codes: Mapping[str, Integers], surveyed: Survey, relations: int) -> Links:
    base = is_one_of(codes["split"], surveyed.graph.base)
    entities = surveyed.entities.size
    return links_of(codes["head"][base], codes["relation"][base], codes["tail"][base], entities, relations)


def _of_group(
    codes: Mapping[str, Integers],
    surveyed: Survey,
    relations: Integers,
    links: Links,
    learned: Links,
    when: Integers | None,
    protocols: Sequence[Protocol],
    make: _Make,
) -> list[dict[tuple[str, str, str], pl.DataFrame]]:
    """Return the tables of a group of relations, for each protocol, by split, side and baseline."""
    typed = any(protocol.types == "observed" for protocol in protocols)

    @cache
    def static(time: Time, splits: str) -> Static:
        rows = rows_of(codes, surveyed, time, splits)
        scores = scores_of(rows, links, learned.confidences, relations)
        return Static(rows, scores, is_one_of(rows.split, surveyed.graph.evaluated), typed)

    @cache
    def recurrency(time: Time, splits: str) -> Recurrency | None:
        scorer = static(time, splits)
        return None if when is None else Recurrency(scorer, when[scorer.rows.times[0]])

    made = []
    for protocol in protocols:
        alike = protocol.time, protocol.splits
        unchanging, other = static(*alike), recurrency(*alike)
        ranked = list(ranked_rows(unchanging.rows, protocol))
        of_protocol: dict[tuple[str, str, str], pl.DataFrame] = {}
        for side in SIDES:
            standings = {baseline: unchanging.standing(baseline, side, protocol) for baseline in STATIC}
            if other is not None:
                standings |= {baseline: other.standing(baseline, side, protocol) for baseline in RECURRENCY}
            for split, rows in ranked:
                for baseline, standing in standings.items():
                    of_protocol[split, side, baseline] = make(unchanging.rows, relations, rows, standing)
        made.append(of_protocol)
    return made


def _histogram(_rows: Rows, _ids: Integers, ranked: Ranked, standing: Standing) -> pl.DataFrame:
    places = ranked.places
    if (ranked.multiplicity > 1).any():
        places = np.repeat(places, ranked.multiplicity)
    columns = [column[places] for column in (standing.above, standing.tied, standing.candidates)]
    (above, tied, candidates), tasks = counted(columns)
    return pl.DataFrame({"above": above, "tied": tied, "candidates": candidates, "tasks": tasks}).cast(
        pl.Int64
    )


def _single(rows: Rows, ids: Integers, ranked: Ranked, standing: Standing) -> pl.DataFrame:
    return single_tasks(rows, ids[rows.relation], ranked, above=standing.above, tied=standing.tied)


def _added_up(parts: _Parts) -> dict[tuple[str, str, str], pl.DataFrame]:
    law = ["above", "tied", "candidates"]
    return {
        key: pl.concat(tables).group_by(law).agg(pl.col("tasks").sum()).sort(law)
        for key, tables in parts.items()
    }


def _table(counts: Mapping[tuple[str, str, str], pl.DataFrame]) -> pl.DataFrame:
    """Return the counts as one table, in the order of splits, sides and baselines."""
    parts = [
        counts[key].select(
            *(
                pl.lit(value).alias(name)
                for name, value in zip(("split", "side", "baseline"), key, strict=True)
            ),
            pl.all(),
        )
        for split in SPLITS
        for side in TASK_SIDES
        for baseline in BASELINES
        if (key := (split, side, baseline)) in counts
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=STANDINGS_SCHEMA)
