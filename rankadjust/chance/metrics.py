"""Rank-based metrics as data: one registry of names, definitions, directions, optima and ranges.

A metric is computed from the ranks r_1..r_n of n tasks with N_1..N_n candidates (docs/methods.md, "Metrics"):

* additive metrics are the mean of a term f(r, N) over the tasks (MR, MRR, Hits@k, precision@k, nDCG, AUC);
* means of another kind are a function of such a mean (GMR, IGMR, HMR, IMR);
* the rest are order statistics and measures of dispersion.

Metrics that stop at a rank k come in families (`hits_at_k`) with one metric for each k (`hits_at_10`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankadjust.base.errors import RankadjustError, did_you_mean

FloatArray = NDArray[np.float64]
Term = Callable[[FloatArray, FloatArray], FloatArray]
"""f(ranks, num_candidates), elementwise; nan where a task does not count."""

# The 0.75 quantile of the standard normal law: the MAD divided by it estimates a standard deviation.
_NORMAL_QUARTILE = 0.6744897501960817


@dataclass(frozen=True)
class Metric:
    """One metric with a concrete k.

    `lower` and `upper` bound its values, `optimum` is the value of a perfect ranking (all ranks 1). Measures
    of dispersion and the count have no better direction: their optimum is nan, `increasing` says nothing.
    `ratio` tells whether the ratio adjustment M / E applies (metrics in [1, inf)), `has_moments` whether
    exact moments are known. Where `term` is not None the metric is `link` of the mean of `term`, and the
    mean itself where `additive`.
    """

    key: str
    family: str
    k: int | None
    label: str
    increasing: bool
    optimum: float
    lower: float
    upper: float
    additive: bool
    has_moments: bool
    ratio: bool
    term: Term | None = field(compare=False)
    link: Callable[[FloatArray], FloatArray] = field(compare=False)


@dataclass(frozen=True)
class Family:
    """What the metrics of one definition share; `term` gets k (0 for families without one)."""

    key: str
    label: str
    names: tuple[str, ...]
    increasing: bool = False
    optimum: Callable[[int], float] = lambda _: 1.0
    lower: float = 0.0
    upper: float = 1.0
    ratio: bool = False
    has_moments: bool = True
    term: Callable[[int], Term] | None = None
    link: Callable[[FloatArray], FloatArray] | None = None

    @property
    def needs_k(self) -> bool:
        """Whether the metrics of this family stop at a rank k."""
        return self.key.endswith("_at_k")

    def metric(self, k: int | None = None) -> Metric:
        """Return the metric for k; RankadjustError where k is missing, superfluous or below 1."""
        if self.needs_k and k is None:
            raise RankadjustError(f"metric '{self.key}' needs a k: write for example '{self._key(10)}'")
        if not self.needs_k and k is not None:
            raise RankadjustError(f"metric '{self.key}' has no k, but '{k}' was given; write '{self.key}'")
        if k is not None and k < 1:
            raise RankadjustError(f"metric '{self._key(k)}': k must be 1 or more")
        optimum = self.optimum(k or 0)
        return Metric(
            key=self._key(k),
            family=self.key,
            k=k,
            label=self.label if k is None else f"{self.label}@{k}",
            increasing=self.increasing,
            optimum=optimum,
            lower=self.lower,
            upper=min(self.upper, optimum) if self.increasing else self.upper,
            additive=self.term is not None and self.link is None,
            has_moments=self.has_moments,
            ratio=self.ratio,
            term=None if self.term is None else self.term(k or 0),
            link=self.link or _identity,
        )

    def _key(self, k: int | None) -> str:
        return self.key if k is None else f"{self.key.removesuffix('_k')}_{k}"


def resolve(name: str) -> Metric:
    """Return the metric that a key or alias means.

    Case, spaces, hyphens, underscores and the way of writing "at" do not matter: `hits@10`, `Hits @ 10`,
    `h@10` and `HITS_AT_10` are the same. Raises RankadjustError for an unknown name, or a family name
    without its k.
    """
    family, k = _split(name)
    return family.metric(k)


def expand(names: Sequence[str], ks: Sequence[int]) -> list[Metric]:
    """Return the metrics that a list of names means, in its order and without duplicates.

    A family name (`hits_at_k`, `hits@k`) stands for one metric for each of `ks`; a concrete name for itself.
    Raises RankadjustError as `resolve` does, and for a family name where `ks` is empty.
    """
    metrics: dict[str, Metric] = {}
    for name in names:
        family, k = _split(name)
        if family.needs_k and k is None and not ks:
            raise RankadjustError(f"metric {name!r} stands for one metric for each k, but no k is given")
        for metric in (
            [family.metric(each) for each in ks] if family.needs_k and k is None else [family.metric(k)]
        ):
            metrics.setdefault(metric.key, metric)
    return list(metrics.values())


def metric_value(
    metric: str | Metric, ranks: ArrayLike, num_candidates: ArrayLike | None = None
) -> FloatArray:
    """Return the value of a metric for ranks of shape (..., n); the result has shape (...).

    num_candidates broadcasts against ranks and is needed for AUC only. Ranks may be halves (ties).
    Raises RankadjustError where there are no ranks or AUC has no candidate counts.
    """
    metric = resolve(metric) if isinstance(metric, str) else metric
    values = np.asarray(ranks, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise RankadjustError(f"metric '{metric.key}' needs at least one rank")
    if metric.term is None:
        return _STATISTICS[metric.key](values)
    if num_candidates is None and metric.family == "auc":
        raise RankadjustError("metric 'auc' needs the number of candidates of each task")
    counts = np.asarray(np.nan if num_candidates is None else num_candidates, dtype=np.float64)
    terms = metric.term(values, counts)
    counted = ~np.isnan(terms)
    with np.errstate(invalid="ignore"):
        mean = np.where(counted, terms, 0.0).sum(axis=-1) / counted.sum(axis=-1)
    return metric.link(mean)


def _identity(values: FloatArray) -> FloatArray:
    return values


def _no_optimum(_: int) -> float:
    return np.nan


def _inverse(values: FloatArray) -> FloatArray:
    return 1.0 / values


def _exp_of_minus(values: FloatArray) -> FloatArray:
    return np.exp(-values)


def _rank(_: int) -> Term:
    return lambda ranks, _counts: ranks


def _log_rank(_: int) -> Term:
    return lambda ranks, _counts: np.log(ranks)


def _inverse_rank(_: int) -> Term:
    return lambda ranks, _counts: 1.0 / ranks


def _inverse_rank_at(k: int) -> Term:
    return lambda ranks, _counts: np.where(ranks <= k, 1.0 / ranks, 0.0)


def _hit(k: int) -> Term:
    return lambda ranks, _counts: np.where(ranks <= k, 1.0, 0.0)


def _precision(k: int) -> Term:
    return lambda ranks, _counts: np.where(ranks <= k, 1.0 / k, 0.0)


def _discounted_gain(_: int) -> Term:
    return lambda ranks, _counts: 1.0 / np.log2(1.0 + ranks)


def _discounted_gain_at(k: int) -> Term:
    return lambda ranks, _counts: np.where(ranks <= k, 1.0 / np.log2(1.0 + ranks), 0.0)


def _share_beaten(_: int) -> Term:
    def term(ranks: FloatArray, counts: FloatArray) -> FloatArray:
        others = np.where(counts > 1, counts - 1, np.nan)
        return (counts - ranks) / others

    return term


def _median(values: FloatArray) -> FloatArray:
    return np.asarray(np.median(values, axis=-1))


def _median_absolute_deviation(values: FloatArray) -> FloatArray:
    return _median(np.abs(values - _median(values)[..., None])) / _NORMAL_QUARTILE


_STATISTICS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "median_rank": _median,
    "inverse_median_rank": lambda values: 1.0 / _median(values),
    "standard_deviation": lambda values: np.asarray(np.std(values, axis=-1)),
    "variance": lambda values: np.asarray(np.var(values, axis=-1)),
    "median_absolute_deviation": _median_absolute_deviation,
    "count": lambda values: np.full(values.shape[:-1], float(values.shape[-1])),
}

_UNBOUNDED = np.inf

FAMILIES: Mapping[str, Family] = {
    family.key: family
    for family in (
        Family(
            "arithmetic_mean_rank",
            "MR",
            ("mr", "mean_rank"),
            lower=1.0,
            upper=_UNBOUNDED,
            ratio=True,
            term=_rank,
        ),
        Family(
            "inverse_harmonic_mean_rank",
            "MRR",
            ("mrr", "mean_reciprocal_rank"),
            increasing=True,
            term=_inverse_rank,
        ),
        Family(
            "inverse_harmonic_mean_rank_at_k",
            "MRR",
            ("mrr@k", "mean_reciprocal_rank@k"),
            increasing=True,
            term=_inverse_rank_at,
        ),
        Family(
            "hits_at_k",
            "Hits",
            ("hits@k", "hit@k", "h@k", "recall@k", "r@k", "hr@k", "hit_ratio@k", "hit_rate@k"),
            increasing=True,
            term=_hit,
        ),
        Family(
            "precision_at_k",
            "Precision",
            ("precision@k", "p@k"),
            increasing=True,
            optimum=lambda k: 1.0 / k,
            term=_precision,
        ),
        Family("ndcg", "nDCG", (), increasing=True, term=_discounted_gain),
        Family("ndcg_at_k", "nDCG", ("ndcg@k",), increasing=True, term=_discounted_gain_at),
        Family("auc", "AUC", ("roc_auc", "auroc"), increasing=True, term=_share_beaten),
        Family(
            "geometric_mean_rank",
            "GMR",
            ("gmr",),
            lower=1.0,
            upper=_UNBOUNDED,
            ratio=True,
            term=_log_rank,
            link=np.exp,
        ),
        Family(
            "inverse_geometric_mean_rank",
            "IGMR",
            ("igmr",),
            increasing=True,
            term=_log_rank,
            link=_exp_of_minus,
        ),
        Family(
            "harmonic_mean_rank",
            "HMR",
            ("hmr",),
            lower=1.0,
            upper=_UNBOUNDED,
            ratio=True,
            term=_inverse_rank,
            link=_inverse,
        ),
        Family(
            "inverse_arithmetic_mean_rank",
            "IMR",
            ("imr", "iamr", "inverse_mean_rank"),
            increasing=True,
            term=_rank,
            link=_inverse,
        ),
        Family("median_rank", "Median rank", ("median",), lower=1.0, upper=_UNBOUNDED, ratio=True),
        Family("inverse_median_rank", "Inverse median rank", ("imedr", "inverse_median"), increasing=True),
        Family(
            "standard_deviation",
            "Standard deviation",
            ("rank_std", "std"),
            optimum=_no_optimum,
            upper=_UNBOUNDED,
            has_moments=False,
        ),
        Family(
            "variance",
            "Variance",
            ("rank_var", "var"),
            optimum=_no_optimum,
            upper=_UNBOUNDED,
            has_moments=False,
        ),
        Family(
            "median_absolute_deviation",
            "Median absolute deviation",
            ("rank_mad", "mad"),
            optimum=_no_optimum,
            upper=_UNBOUNDED,
            has_moments=False,
        ),
        Family(
            "count",
            "Count",
            ("rank_count",),
            optimum=_no_optimum,
            lower=1.0,
            upper=_UNBOUNDED,
            has_moments=False,
        ),
    )
}


def _spellings() -> Iterator[tuple[str, Family]]:
    for family in FAMILIES.values():
        for name in (family.key, *family.names):
            yield _fold(name), family


def _split(name: str) -> tuple[Family, int | None]:
    """Return the family that a name means, and its k where the name holds one."""
    folded = _fold(name)
    if folded in _PLAIN:
        return _PLAIN[folded], None
    base, _, tail = folded.partition("@")
    if tail == "k" and base in _AT_K:
        return _AT_K[base], None
    with_k = re.fullmatch(r"(.*?)@?(0|[1-9][0-9]*)", folded, flags=re.ASCII)
    if with_k and with_k[1] in _AT_K:
        return _AT_K[with_k[1]], int(with_k[2])
    if folded in _AT_K:
        return _AT_K[folded], None
    raise RankadjustError(f"unknown metric {name!r}{_hint(name)}")


def _fold(name: str) -> str:
    """Return a name without case and separators, "at" before k as @: 'Hits at_10' becomes 'hits@10'."""
    spaced = re.sub(r"[\s_-]+", " ", name.casefold()).strip()
    return re.sub(r" at (?=k$|[0-9]+$)", "@", spaced).replace(" ", "")


def _hint(name: str) -> str:
    """Return '; did you mean …?' for a name that is nearly a key or an alias, otherwise all keys."""
    spelled = [spelling for family in FAMILIES.values() for spelling in (family.key, *family.names)]
    return did_you_mean(re.sub(r"[0-9]+$", "k", name), spelled) or f"; known: {', '.join(FAMILIES)}"


_PLAIN = {name: family for name, family in _spellings() if not family.needs_k}
_AT_K = {name.removesuffix("@k"): family for name, family in _spellings() if family.needs_k}
