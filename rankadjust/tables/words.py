"""The words of headers that have no counterpart in a tidy table: what a column holds that is no metric, and fillers.

Words are without case and punctuation. Those for splits, sides, protocols and units are in config/published.yaml, which
tidy tables use too.
"""

from collections.abc import Mapping


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


TEST_PARTS = ("dev", "challenge", "public", "private", "subset")
"""Parts and kinds of a test set, as in 'test-dev'."""

FILLERS = _set_of("score scores metric the set split setting prediction in on rate value")
"""Words that say nothing about what is in a column of a metric."""

RANK_KINDS = _set_of("avg realistic optimistic pessimistic best worst nondeterministic unknown")
"""Ways to rank tied candidates."""

NOT_METRICS = _set_of("std sd var mad count counts")
"""Short names of metrics that mean something else beside a metric: its spread, or how many."""

CLASSIFICATION = _set_of("aucpr aucprc aupr auprc prauc ap averageprecision accuracy acc f1 map")
"""Metrics of binary classification, beside which 'AUC' is one too."""

BOOKKEEPING = _set_of(
    """
    # no place position time times runtime trainingtime duration seconds hours params param parameters numparams
    size memory gpu gpus hardware date year contact team reference references ref paper code link links configfile
    pretrainedmodel checkpoint notes note comment comments training evaluation entities relations triples std sd
    var mad count counts
    """
)
"""Columns that say something about a run or a row, not which model it is."""

CONFIGURATION = _set_of(
    """
    rank dim dims dimension dimensions embeddingdim epochs epoch config configuration hyperparameters
    hyperparameter reg lr learningrate batchsize seed seeds extdata ensemble loss optimizer
    """
)
"""Columns that may tell apart the runs of a model."""

ROLE_WORDS: Mapping[str, frozenset[str]] = {
    "model": _set_of(
        """
        model models modelname method methods methodname approach approaches algorithm algorithms system systems
        embedding embeddings encoder team name scorer baseline kgemodel architecture
        """
    ),
    "dataset": _set_of(
        "dataset datasets data kg kgs graph graphs benchmark benchmarks corpus knowledgegraph dataname"
    ),
    "metric": _set_of("metric metrics measure measures"),
    "split": _set_of("split splits partition subset evaluationset"),
    "side": _set_of("side direction target"),
    "protocol": _set_of("protocol setting filtering evaluationprotocol"),
    "other": CONFIGURATION | BOOKKEEPING,
}
"""Headers that say what is in their column."""
