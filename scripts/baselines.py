"""Write what counting baselines reach on one data set under its protocols, over all orders of the tied."""

from collections.abc import Sequence

from scripts.job import logged

import polars as pl

from rankadjust.base.io import read_json, read_product, write_product
from rankadjust.baselines.table import baselines_tables
from rankadjust.baselines.tally import count_standings
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import Protocol


def baselines(
    triples: str, summary: str, dataset: str, protocols: Sequence[Protocol], metrics: list[str], output: str
) -> None:
    isolated = read_json(summary)["isolated_entities"]
    protocols = [protocol for protocol in protocols if protocol.has_standings]
    standings = count_standings(read_product(triples, "triples"), protocols, isolated)
    tables = baselines_tables(standings, [resolve(metric) for metric in metrics], protocols)
    named = [
        table.select(pl.lit(dataset).alias("dataset"), pl.lit(protocol.name).alias("protocol"), pl.all())
        for table, protocol in zip(tables, protocols, strict=True)
    ]
    write_product(pl.concat(named), output, "baselines")


if __name__ == "__main__":
    with logged(snakemake):
        given, params = snakemake.input, snakemake.params
        dataset, output = snakemake.wildcards.dataset, snakemake.output[0]
        baselines(given.triples, given.summary, dataset, params.protocols, params.metrics, output)
