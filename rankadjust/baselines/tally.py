"""Counting how the true answers of a data set's tasks stand under the baselines: for every protocol a histogram.

The histogram says how many tasks have so many candidates above the true answer, so many tied with it, and so many in
all. It is all that the expectation of any metric over the orders of the tied needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np
import polars as pl

from rankadjust.base.progress import progress
from rankadjust.base.vocabulary import SPLITS, TASK_SIDES, time_columns
from rankadjust.baselines.links import Links, links_of
from rankadjust.baselines.recurrency import RECURRENCY, Recurrency, order_of_times
from rankadjust.baselines.scores import STATIC, scores_of
from rankadjust.baselines.standings import Standing, Static
from rankadjust.counting.candidates import graphs_of, require_applicable, require_one_graph
from rankadjust.counting.codes import integer_codes, one_frame
from rankadjust.counting.groups import Survey, in_groups, survey, within_group
from rankadjust.counting.packing import Flags, Integers, counted
from rankadjust.counting.protocols import Protocol, Time, get_protocol
from rankadjust.counting.rows import SIDES, TRAINING_GRAPH, Ranked, is_one_of, ranked_rows, rows_of

BASELINES = (*STATIC, *RECURRENCY)
STANDINGS_SCHEMA = pl.Schema(
    {
        "split": pl.String,
        "side": pl.String,
        "baseline": pl.String,
        "above": pl.Int64,
        "tied": pl.Int64,
        "candidates": pl.Int64,
        "tasks": pl.Int64,
    }
)
# Triples of a group of relations.
_GROUP = 2**18
# Cells of the tables by relation and entity, or relation and signature, of a group of relations.
_CELLS = 2**23


@dataclass(frozen=True)
class Standings:
    """How the true answers of a data set stand under a protocol.

    table: split, side, baseline, above (candidates above the true answer), tied (with it, itself included), candidates,
        tasks (that are like this); sorted.
    missing: baselines that would apply, each with the reason why they are not computed.
    """

    table: pl.DataFrame
    missing: Mapping[str, str] = field(default_factory=dict)


# (split, side, baseline): above, tied, candidates and tasks.
_Counts = dict[tuple[str, str, str], pl.DataFrame]


def count_standings(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame, protocols: Sequence[str | Protocol], isolated: int = 0
) -> list[Standings]:
    """Return how the true answers of a data set stand under every baseline, for each protocol.

    splits, protocols, isolated: as for `rankadjust.counting.candidates.count_protocols`, and errors as there. Protocols
    that sample negatives have the standings among all candidates (`rankadjust.baselines.sampled` samples).
    """
    given = [get_protocol(one) if isinstance(one, str) else one for one in protocols]
    triples = one_frame(splits)
    occurring = set(triples["split"].unique())
    present = [name for name in SPLITS if name in occurring]
    require_applicable(given, triples.columns, present)
    require_one_graph(isolated, present)
    codes = integer_codes(triples)
    when, missing = _when(triples, codes)
    found = survey(lambda: [codes], isolated).graphs
    relations = max(graph.triples.size for graph in found.values())
    links = {graph: _links(codes, one, relations) for graph, one in found.items()}
    different = list(dict.fromkeys(map(_alike, given)))
    counts: list[_Counts] = [{} for _ in different]
    for graph in graphs_of(present):
        # What a relation says about another is learned in training, also where answers are sought in another graph.
        learned = links[TRAINING_GRAPH if links[TRAINING_GRAPH].first.size else graph]
        work = partial(
            _of_group, found=found[graph], links=links[graph], learned=learned, when=when, protocols=different
        )
        signatures = links[graph].reverse.size
        most = max(1, _CELLS // max(signatures, found[graph].occurring.entities.size, 2 * relations))
        with progress("counting baselines", int(found[graph].triples.sum()), "triples") as report:
            of_groups = list(in_groups(lambda: [codes], found[graph], work, _GROUP, most, report))
        for place in range(len(different)):
            counts[place] |= _added_up([one[place] for one in of_groups])
    return [Standings(_table(counts[different.index(_alike(one))]), missing) for one in given]


def _when(triples: pl.DataFrame, codes: Mapping[str, Integers]) -> tuple[Integers | None, dict[str, str]]:
    """Return for every code of a time its place among all times, and of which baselines that is missing."""
    if not time_columns(codes):
        return None, {}
    order, reason = order_of_times(triples)
    if order is None:
        return None, dict.fromkeys(RECURRENCY, reason)
    of_code = np.zeros(int(codes["time"].max()) + 1, np.int64)
    of_code[codes["time"]] = order
    return of_code, {}


def _alike(protocol: Protocol) -> Protocol:
    """Return the protocol under which the true answers stand the same."""
    return replace(
        protocol, name="any", counting="inclusive", sides="shared", data="any", negatives=None, description=""
    )


def _links(codes: Mapping[str, Integers], found: Survey, relations: int) -> Links:
    base = np.flatnonzero(is_one_of(codes["split"], found.graph.base))
    head, relation, tail = (codes[name][base] for name in ("head", "relation", "tail"))
    return links_of(head, relation, tail, found.occurring.entities.size, relations)


def _of_group(
    codes: Mapping[str, Integers],
    relations: Flags,
    found: Survey,
    links: Links,
    learned: Links,
    when: Integers | None,
    protocols: Sequence[Protocol],
) -> list[_Counts]:
    """Return the counts of a group of relations, for each protocol."""
    own, occurring = within_group(codes, relations, found)
    typed = any(protocol.types == "observed" for protocol in protocols)

    @cache
    def static(time: Time) -> Static:
        rows = rows_of(own, found.graph, occurring, time)
        scores = scores_of(rows, links, learned.confidences, np.flatnonzero(relations))
        return Static(rows, occurring, scores, is_one_of(rows.split, found.graph.evaluated), typed)

    @cache
    def recurrency(time: Time) -> Recurrency | None:
        one = static(time)
        return None if when is None else Recurrency(one, when[one.rows.times[0]])

    counts: list[_Counts] = []
    for protocol in protocols:
        one, other = static(protocol.time), recurrency(protocol.time)
        ranked = list(ranked_rows(one.rows, found.graph, protocol))
        of_protocol: _Counts = {}
        for side in SIDES:
            standings = {baseline: one.standing(baseline, side, protocol) for baseline in STATIC}
            if other is not None:
                standings |= {baseline: other.standing(baseline, side, protocol) for baseline in RECURRENCY}
            for split, rows in ranked:
                for baseline, standing in standings.items():
                    of_protocol[split, side, baseline] = _histogram(standing, rows)
        counts.append(of_protocol)
    return counts


def _histogram(standing: Standing, ranked: Ranked) -> pl.DataFrame:
    places = ranked.places
    if (ranked.multiplicity > 1).any():
        places = np.repeat(places, ranked.multiplicity)
    columns = [column[places] for column in (standing.above, standing.tied, standing.candidates)]
    (above, tied, candidates), tasks = counted(columns)
    return pl.DataFrame({"above": above, "tied": tied, "candidates": candidates, "tasks": tasks}).cast(
        pl.Int64
    )


def _added_up(groups: Sequence[_Counts]) -> _Counts:
    keys = dict.fromkeys(key for one in groups for key in one)
    law = ["above", "tied", "candidates"]
    return {
        key: pl.concat([one[key] for one in groups if key in one])
        .group_by(law)
        .agg(pl.col("tasks").sum())
        .sort(law)
        for key in keys
    }


def _table(counts: _Counts) -> pl.DataFrame:
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
