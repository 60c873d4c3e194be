"""Rank-based metrics as data: one registry of names, definitions, directions, optima and ranges.

A metric is computed from the ranks r_1..r_n of n tasks with N_1..N_n candidates (docs/metrics.md):

* additive metrics are the mean of a term f(r, N) over the tasks (MR, MRR, Hits@k, precision@k, nDCG, AUC);
* means of another kind are a function of such a mean (GMR, IGMR, HMR, IMR);
* the rest are order statistics and measures of dispersion.

Metrics that stop at a rank k come in families (`hits_at_k`) with one metric for each k (`hits_at_10`). To add a metric,
add its family here, and nothing elsewhere (docs/extend.md).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.words import shipped_mapping
from rankadjust.chance.draw import Draw

Term = Callable[[FloatArray, FloatArray], FloatArray]
"""f(ranks, num_candidates), elementwise; nan where a task does not count."""

# The 0.75 quantile of the standard normal law: the MAD divided by it estimates a standard deviation.
NORMAL_QUARTILE = 0.6744897501960817


@dataclass(frozen=True)
class Metric:
    """One metric with a concrete k.

    `lower` and `upper` bound its values, `optimum` is the value of a perfect ranking (all ranks 1). Measures
    of dispersion and the count have no better direction: their optimum is nan, `increasing` says nothing.
    `ratio` says whether the ratio adjustment M / E applies (metrics in [1, inf)), `has_moments` whether
    exact moments are known.

    Where `term` is not None the metric is `link` of the mean of `term`, and the mean itself where `additive`. The term
    is `scale` times `shape`, up to rank k where there is a k, and 0 beyond. Where it `needs_candidates` it depends on
    N; tasks with fewer than `least_candidates` do not count.
    """

    key: str
    family: str
    k: int | None
    label: str
    increasing: bool
    # nan does not equal itself, and since Python 3.13 a dataclass compares field by field.
    optimum: float = field(compare=False)
    lower: float
    upper: float
    additive: bool
    has_moments: bool
    ratio: bool
    needs_candidates: bool
    least_candidates: int
    scale: float
    shape: Term | None
    term: Term | None = field(compare=False)
    link: Callable[[FloatArray], FloatArray] = field(compare=False)


@dataclass(frozen=True)
class Family:
    """The metrics that share a definition. They stop at a rank k where the key ends in _at_k.

    definition: the metric for the table of docs/metrics.md. names: aliases, with @k where there is a k. term: f(r, N)
    without the cut at k; where it depends on N, `needs_candidates`. scale: what the term is multiplied with, given k.
    link: the function that turns the mean of the terms into the metric. The other fields have the meaning they have in
    `Metric`; a metric without direction has no `increasing`.
    """

    key: str
    label: str
    definition: str
    names: tuple[str, ...]
    increasing: bool | None = False
    lower: float = 0.0
    upper: float = 1.0
    ratio: bool = False
    has_moments: bool = True
    needs_candidates: bool = False
    term: Term | None = None
    scale: Callable[[int], float] = lambda _: 1.0
    link: Callable[[FloatArray], FloatArray] | None = None

    @property
    def needs_k(self) -> bool:
        """Whether the metrics of this family stop at a rank k."""
        return self.key.endswith("_at_k")

    def metric(self, k: int | None = None) -> Metric:
        """Return the metric for k; RankadjustError where k is missing, superfluous or below 1."""
        if self.needs_k and k is None:
            raise RankadjustError(
                f"{self.label}@k needs a k: write for example '{self.key.removesuffix('k')}10'"
            )
        if not self.needs_k and k is not None:
            raise RankadjustError(f"{self.label} has no k, but '{k}' was given; write '{self.names[0]}'")
        if k is not None and k < 1:
            raise RankadjustError(f"{self.label}@{k}: k must be 1 or more")
        scale, link = self.scale(k or 0), self.link or identity
        optimum, least = np.nan if self.increasing is None else 1.0, 1
        if self.term is not None:
            # The term at rank 1, which must not depend on N; two candidates, as some terms need a competitor.
            alone, first = self.term(np.ones(2), np.array([1.0, 2.0]))
            optimum, least = float(link(scale * first)), 2 if np.isnan(alone) else 1
        return Metric(
            key=self.key if k is None else f"{self.key.removesuffix('k')}{k}",
            family=self.key,
            k=k,
            label=self.label if k is None else f"{self.label}@{k}",
            increasing=bool(self.increasing),
            optimum=optimum,
            lower=self.lower,
            upper=min(self.upper, optimum) if self.increasing else self.upper,
            additive=self.term is not None and self.link is None,
            has_moments=self.has_moments,
            ratio=self.ratio,
            needs_candidates=self.needs_candidates,
            least_candidates=least,
            scale=scale,
            shape=self.term,
            term=None if self.term is None else _cut(self.term, scale, k),
            link=link,
        )


def _cut(term: Term, scale: float, k: int | None) -> Term:
    if k is None:
        return (lambda ranks, counts: scale * term(ranks, counts)) if scale != 1 else term
    return lambda ranks, counts: np.where(ranks <= k, scale * term(ranks, counts), 0.0)


def register(family: Family) -> None:
    """Add a family of metrics: `resolve` knows it from now on, and with it everything that takes a metric.

    Raises RankadjustError where its key or one of its names is taken.
    """
    lookup = _AT_K if family.needs_k else _PLAIN
    spelled = {_fold(name).removesuffix("@k"): name for name in (family.key, *family.names)}
    for folded, name in spelled.items():
        if folded in lookup:
            raise RankadjustError(
                f"metric '{family.key}': the name {name!r} already belongs to '{lookup[folded].key}'"
            )
    _FAMILIES[family.key] = family
    lookup.update(dict.fromkeys(spelled, family))
    resolve.cache_clear()


@lru_cache(maxsize=1024)
def resolve(name: str) -> Metric:
    """Return the metric that a key or alias means.

    Case, spaces, hyphens, underscores and the way of writing "at" do not matter: `hits@10`, `Hits @ 10`,
    `h@10` and `HITS_AT_10` are the same. Raises RankadjustError for an unknown name, or a family name
    without its k.
    """
    family, k = _split(name)
    return family.metric(k)


def find(name: str) -> Metric | None:
    """Return the metric that a key or alias means, as `resolve` does; None where there is none."""
    family_and_k = _lookup(name)
    if family_and_k is None:
        return None
    family, k = family_and_k
    return family.metric(k) if family.needs_k == (k is not None) and k != 0 else None


def usual_name(name: str) -> str:
    """Return the name that papers print for a metric, such as MRR; a text that names no metric stays as it is."""
    metric = find(name)
    return name if metric is None else metric.label


def expand(names: Sequence[str], ks: Sequence[int]) -> list[Metric]:
    """Return the metrics that a list of names means, in its order and without duplicates.

    A family name (`hits_at_k`, `hits@k`) stands for one metric for each of `ks`; a concrete name for itself.
    Raises RankadjustError as `resolve` does, and for a family name where `ks` is empty.
    """
    metrics: dict[str, Metric] = {}
    for name in names:
        family, k = _split(name)
        for each in ks if family.needs_k and k is None and ks else [k]:
            metric = family.metric(each)
            metrics.setdefault(metric.key, metric)
    return list(metrics.values())


# --- names of adjusted metrics: AMR, AMRI, AH@10, "adjusted MRR", "z of MRR" ---------------------------------

Names = Mapping[str, tuple[str, str]]
"""A name, in lower case with underscores -> the metric before adjustment, and the adjustment."""

_ADJUSTED = re.compile(
    r"(z|adjusted)(?:[\s_-]*+score)?[\s_-]*+(?:of\s++)?\(?(.+?)([\s_-]index)?\)?", re.IGNORECASE
)


@cache
def shipped_names() -> Names:
    """Return the names of adjusted metrics that are listed in config/published.yaml."""
    return names_of(shipped_mapping()["adjusted"])


def names_of(entries: Mapping[str, Mapping[str, str]]) -> Names:
    """Return the names that a mapping of printed words lists; 'ah@k' stands for every k.

    Raises RankadjustError for an unknown metric.
    """
    for entry in entries.values():
        resolve(re.sub(r"@k$", "@10", entry["metric"]))
    return {name: (entry["metric"], entry["adjustment"]) for name, entry in entries.items()}


def find_adjusted(name: str, names: Names | None = None) -> tuple[Metric, str | None] | None:
    """Return the metric of a name or key before adjustment and ratio, index or z; None for one that is not adjusted.

    names: None means the shipped ones. The result is None where there is no such metric.
    """
    names = shipped_names() if names is None else names
    folded = re.sub(r"_?@_?|_at_", "@", re.sub(r"[\s-]", "_", name.strip().casefold()))
    stem, at, k = folded.rpartition("@")
    if folded in names or (k.isdecimal() and f"{stem}@k" in names):
        listed, adjustment = names.get(folded) or names[f"{stem}@k"]
        return resolve(re.sub(r"@k$", f"{at}{k}", listed)), adjustment
    prefixed = _ADJUSTED.fullmatch(name.strip())
    metric = find(prefixed[2]) if prefixed else None
    if prefixed is None or metric is None:
        # It may begin with a z and be no adjusted metric.
        plain = find(name)
        return None if plain is None else (plain, None)
    if prefixed[1].casefold() == "z":
        return metric, "z"
    return metric, "ratio" if metric.ratio and not prefixed[3] else "index"


def adjusted_key(metric: Metric, adjustment: str | None) -> str:
    """Return the key of a metric after an adjustment, of the metric itself for None.

    It is `z_<metric>`, `adjusted_<metric>`, or `adjusted_<metric>_index` where the metric also has a ratio: AMR is a
    ratio, and its index, AMRI, has a name of its own.
    """
    if adjustment is None:
        return metric.key
    if adjustment == "z":
        return f"z_{metric.key}"
    return f"adjusted_{metric.key}{'_index' if metric.ratio and adjustment == 'index' else ''}"


# --- values ---------------------------------------------------------------------------------------------------


def metric_value(
    metric: str | Metric, ranks: ArrayLike, num_candidates: ArrayLike | None = None
) -> FloatArray:
    """Return the value of a metric for ranks of shape (..., n); the result has shape (...).

    num_candidates broadcasts against ranks; only metrics that need candidates (AUC) need it. Ranks may be halves
    (ties). Raises RankadjustError without ranks, and where candidate counts are needed and missing.
    """
    metric = resolve(metric) if isinstance(metric, str) else metric
    values = np.asarray(ranks, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise RankadjustError(f"{metric.label} needs at least one rank")
    if metric.term is None:
        return _STATISTICS[metric.key](values)
    if num_candidates is None and metric.needs_candidates:
        raise RankadjustError(
            f"{metric.label} needs the number of candidates of each task; give num_candidates"
        )
    counts = np.asarray(np.nan if num_candidates is None else num_candidates, dtype=np.float64)
    terms = metric.term(values, counts)
    counted = ~np.isnan(terms)
    with np.errstate(invalid="ignore"):
        mean = np.where(counted, terms, 0.0).sum(axis=-1) / counted.sum(axis=-1)
    return metric.link(mean)


# --- links: from the mean of the term to the metric ---------------------------------------------------------


def identity(values: FloatArray) -> FloatArray:
    """Return the values themselves."""
    return values


def inverse(values: FloatArray) -> FloatArray:
    """Return 1 / x."""
    return 1.0 / values


def exp_of_minus(values: FloatArray) -> FloatArray:
    """Return exp(-x)."""
    return np.exp(-values)


MEAN_OF_VALUE: Mapping[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]] = {
    identity: identity,
    inverse: inverse,
    np.exp: np.log,
    exp_of_minus: lambda value: -np.log(value),
}
"""The inverse of each link: from the metric to the mean of the term."""


# --- terms: what is averaged over the tasks -----------------------------------------------------------------


def rank(ranks: FloatArray, _: FloatArray) -> FloatArray:
    """Return r."""
    return ranks


def log_rank(ranks: FloatArray, _: FloatArray) -> FloatArray:
    """Return ln r."""
    return np.log(ranks)


def inverse_rank(ranks: FloatArray, _: FloatArray) -> FloatArray:
    """Return 1 / r."""
    return 1.0 / ranks


def hit(ranks: FloatArray, _: FloatArray) -> FloatArray:
    """Return 1: with the cut at k, only the ranks up to k are hits."""
    return np.ones_like(ranks)


def discounted_gain(ranks: FloatArray, _: FloatArray) -> FloatArray:
    """Return 1 / log2(1 + r)."""
    return 1.0 / np.log2(1.0 + ranks)


def _expected_hits(negatives: int) -> Term:
    """Return the term P(r' <= 10), r' the rank among so many negatives, each drawn from all other candidates."""
    is_hit = (np.arange(negatives + 1) < 10).astype(np.float64)[:, None]

    def expected(ranks: FloatArray, counts: FloatArray) -> FloatArray:
        among = np.ravel(np.broadcast_to(counts, np.shape(ranks)))
        means = Draw(negatives, replacement=True).means(np.ravel(ranks), among, is_hit)
        return means.reshape(np.shape(ranks))

    return expected


def share_beaten(ranks: FloatArray, counts: FloatArray) -> FloatArray:
    """Return (N - r) / (N - 1), the share of the other candidates that the true answer beats; nan for N = 1."""
    others = np.where(counts > 1, counts - 1, np.nan)
    return (counts - ranks) / others


# --- statistics that are not functions of such a mean ---------------------------------------------------------


def _median(values: FloatArray) -> FloatArray:
    return np.asarray(np.median(values, axis=-1))


def _median_absolute_deviation(values: FloatArray) -> FloatArray:
    return _median(np.abs(values - _median(values)[..., None])) / NORMAL_QUARTILE


_STATISTICS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "median_rank": _median,
    "inverse_median_rank": lambda values: 1.0 / _median(values),
    "standard_deviation": lambda values: np.asarray(np.std(values, axis=-1)),
    "variance": lambda values: np.asarray(np.var(values, axis=-1)),
    "median_absolute_deviation": _median_absolute_deviation,
    "count": lambda values: np.full(values.shape[:-1], float(values.shape[-1])),
}

_FAMILIES: dict[str, Family] = {}
_PLAIN: dict[str, Family] = {}
_AT_K: dict[str, Family] = {}
FAMILIES: Mapping[str, Family] = MappingProxyType(_FAMILIES)

_of_ranks = partial(Family, lower=1.0, upper=np.inf, ratio=True)
_of_shares = partial(Family, increasing=True)
_of_dispersion = partial(Family, increasing=None, upper=np.inf, has_moments=False)

_HITS = ("hits@k", "hit@k", "h@k", "recall@k", "r@k", "hr@k", "hit_ratio@k", "hit_rate@k")

_SHIPPED = (
    _of_ranks("arithmetic_mean_rank", "MR", "f = r", ("mr", "mean_rank"), term=rank),
    _of_shares(
        "inverse_harmonic_mean_rank", "MRR", "f = 1/r", ("mrr", "mean_reciprocal_rank"), term=inverse_rank
    ),
    _of_shares(
        "inverse_harmonic_mean_rank_at_k",
        "MRR",
        "f = 1/r if r ≤ k, else 0",
        ("mrr@k", "mean_reciprocal_rank@k"),
        term=inverse_rank,
    ),
    _of_shares("hits_at_k", "Hits", "f = 1 if r ≤ k, else 0", _HITS, term=hit),
    _of_shares(
        "precision_at_k",
        "Precision",
        "f = 1/k if r ≤ k, else 0",
        ("precision@k", "p@k"),
        term=hit,
        scale=lambda k: 1.0 / k,
    ),
    *(
        _of_shares(
            f"hits_at_10_{negatives + 1}",
            f"Hits@10_{negatives + 1}",
            f"f = P(Binomial({negatives}, (r - 1)/(N - 1)) ≤ 9), estimated from the full rank",
            (f"hit@10_{negatives + 1}", f"h@10_{negatives + 1}"),
            needs_candidates=True,
            term=_expected_hits(negatives),
        )
        for negatives in (49, 50)
    ),
    _of_shares("ndcg", "nDCG", "f = 1/log2(1 + r)", (), term=discounted_gain),
    _of_shares("ndcg_at_k", "nDCG", "f = 1/log2(1 + r) if r ≤ k, else 0", ("ndcg@k",), term=discounted_gain),
    _of_shares(
        "auc",
        "AUC",
        "f = (N - r)/(N - 1); tasks with N = 1 are left out",
        ("roc_auc", "auroc"),
        needs_candidates=True,
        term=share_beaten,
    ),
    _of_ranks("geometric_mean_rank", "GMR", "exp of the mean of ln r", ("gmr",), term=log_rank, link=np.exp),
    _of_shares("inverse_geometric_mean_rank", "IGMR", "1/GMR", ("igmr",), term=log_rank, link=exp_of_minus),
    _of_ranks("harmonic_mean_rank", "HMR", "n / Σ 1/r", ("hmr",), term=inverse_rank, link=inverse),
    _of_shares(
        "inverse_arithmetic_mean_rank",
        "IMR",
        "n / Σ r",
        ("imr", "iamr", "inverse_mean_rank"),
        term=rank,
        link=inverse,
    ),
    _of_ranks("median_rank", "Median rank", "the mean of the two middle ranks where n is even", ("median",)),
    _of_shares("inverse_median_rank", "Inverse median rank", "1 / median rank", ("imedr", "inverse_median")),
    _of_dispersion(
        "standard_deviation", "Standard deviation", "of the ranks, divisor n", ("rank_std", "std")
    ),
    _of_dispersion("variance", "Variance", "of the ranks, divisor n", ("rank_var", "var")),
    _of_dispersion(
        "median_absolute_deviation",
        "Median absolute deviation",
        "median of |r - median|, divided by 0.6745",
        ("rank_mad", "mad"),
    ),
    _of_dispersion("count", "Count", "n", ("rank_count",), lower=1.0),
)


def _split(name: str) -> tuple[Family, int | None]:
    """Return the family that a name means, and its k where the name holds one."""
    family_and_k = _lookup(name)
    if family_and_k is None:
        raise RankadjustError(f"unknown metric {name!r}{_hint(name)}")
    return family_and_k


def _lookup(name: str) -> tuple[Family, int | None] | None:
    folded = _fold(name)
    if folded in _PLAIN:
        return _PLAIN[folded], None
    base, _, tail = folded.partition("@")
    if tail == "k" and base in _AT_K:
        return _AT_K[base], None
    # No ranking has more candidates than 64 bits count.
    with_k = re.fullmatch(r"(.*?)@?(0|[1-9][0-9]{0,17})", folded, flags=re.ASCII)
    if with_k and with_k[1] in _AT_K:
        return _AT_K[with_k[1]], int(with_k[2])
    if folded in _AT_K:
        return _AT_K[folded], None
    return None


def _fold(name: str) -> str:
    """Return a name without case and separators, "at" before k as @: 'Hits at_10' becomes 'hits@10'.

    Two numbers stay apart: 'hits_at_10_50' becomes 'hits@10_50'.
    """
    spaced = re.sub(r"[\s_-]+", " ", name.casefold()).strip()
    spaced = re.sub(r"(?<=[0-9]) (?=[0-9])", "_", spaced)
    return re.sub(r" at (?=k$|[0-9]+(_[0-9]+)?$)", "@", spaced).replace(" ", "")


def _hint(name: str) -> str:
    """Return '; did you mean …?' for a name that is nearly a key or an alias, otherwise all keys."""
    spelled = [spelling for family in FAMILIES.values() for spelling in (family.key, *family.names)]
    known = ", ".join(f"{family.label}@k" if family.needs_k else family.label for family in FAMILIES.values())
    return did_you_mean(re.sub(r"(?<![0-9])[0-9]+$", "k", name), spelled) or f"; known: {known}"


for _family in _SHIPPED:
    register(_family)
