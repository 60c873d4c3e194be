"""Evaluation protocols: what is ranked against what, and under which name papers do so (docs/protocols.md).

Benchmarks with a constant number of candidates are here too: they need no triples, only a protocol and some counts.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.io import shipped
from rankadjust.base.schemas import line_of, read_yaml, validate
from rankadjust.base.vocabulary import TEST_SPLITS, time_columns
from rankadjust.base.words import folded, same_name

SHIPPED = "config/protocols.yaml"
SHIPPED_BENCHMARKS = "config/benchmarks.yaml"

Time = Literal["ignore", "aware"]
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
_INFERENCE = ("inference_validation", "inference_testing")
_SAMPLED_IN_ANY_SPELLING = re.compile(r"sampled([1-9][0-9]{0,17})", re.ASCII)


@dataclass(frozen=True)
class Protocol:
    """How an evaluation builds its tasks and the candidates of each; the defaults describe `filtered`.

    entities: candidates are all entities of the release, or only the entities of the training split.
    unseen: evaluation triples with an entity or relation absent from training are ranked, or dropped.
    duplicates: a triple that occurs twice in an evaluation split is two tasks, or one.
    filter: which true triples are removed from the candidates: the triples of every split (all), of the splits up to
        the evaluated split (cumulative), of the graph and the evaluated split (split), of the graph (graph), or only
        the test triple itself (none). The graph is training, or inference.
    time: a known triple is known at any time, or only at the same time.
    types: candidates are any entities, or those that training (observed) or any split (known) has on that side of the
        relation.
    negatives: None ranks against every candidate, q against q sampled ones.
    counting: exclusive leaves the true answer out of the count, as some published constants did; twice ranks it
        against itself, too, so that ranks are from 2 to N + 1.
    sides: one score of the true triple decides both its ranks (shared), or each side has its own (independent).
    data: any triples, or only temporal ones, where a name would say nothing about others; or data with a single
        graph and no times (one-graph), or with test triples on two graphs (inductive).
    splits: each split is evaluated on its own, or inference_validation and inference_testing as one (merged), which
        then is inference_testing.
    drawn: q distinct negatives, or each from all other candidates (with-replacement), or each from all but the entity
        of the query, so that the true answer may be drawn (with-true-answer). Where one may be drawn again
        num_candidates is the number of entities that are drawn from, the true answer among them.

    A combination that makes no sense is a RankadjustError that says why.
    """

    name: str
    entities: Literal["release", "training"] = "release"
    unseen: Literal["keep", "drop"] = "keep"
    duplicates: Literal["keep", "drop"] = "keep"
    filter: Literal["all", "cumulative", "split", "graph", "none"] = "all"
    time: Time = "ignore"
    types: Literal["any", "observed", "known"] = "any"
    negatives: int | None = None
    counting: Literal["inclusive", "exclusive", "twice"] = "inclusive"
    sides: Literal["shared", "independent"] = "shared"
    data: Literal["any", "temporal", "one-graph", "inductive"] = "any"
    splits: Literal["separate", "merged"] = "separate"
    drawn: Literal["without-replacement", "with-replacement", "with-true-answer"] = "without-replacement"
    description: str = ""

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise RankadjustError(f"protocol {self.name!r}: {problem}")

    @property
    def constant(self) -> int | None:
        """The number of candidates that all tasks have, None where they differ."""
        is_constant = self.negatives is not None and self.drawn == "without-replacement"
        return self.negatives + 1 if is_constant and self.negatives is not None else None

    @property
    def has_standings(self) -> bool:
        """Whether the candidates that counting baselines are ranked against are known (`rankadjust.baselines`)."""
        ranks_all = self.filter in ("all", "cumulative", "none") and self.types != "known"
        return ranks_all and self.counting != "twice" and self.drawn == "without-replacement"


def load_protocols(*paths: str | Path) -> dict[str, Protocol]:
    """Return the shipped protocols and the protocols of the given files, laid out like config/protocols.yaml, by name.

    A file with a mistake, or one that defines a name again, is a RankadjustError with file and line. The names
    `sampled-<q>` need no definition: `get_protocol` knows them all.
    """
    protocols: dict[str, Protocol] = {}
    for path in (shipped(SHIPPED), *paths):
        data = read_yaml(path)
        validate(data, "protocols", path)
        for name, entry in data["protocols"].items():
            try:
                if name in protocols:
                    raise RankadjustError(f"the protocol {name!r} exists already; choose another name")
                protocols[name] = Protocol(name=name, **entry)
            except RankadjustError as error:
                raise RankadjustError(f"{path}:{line_of(path, ['protocols', name])}: {error}") from None
    return protocols


def get_protocol(name: str, protocols: Mapping[str, Protocol] | None = None) -> Protocol:
    """Return the protocol of that name, `sampled-<q>` included; None means the shipped protocols."""
    known = _shipped_protocols() if protocols is None else protocols
    same = name if name in known else same_name(name, known)
    if same is not None:
        return known[same]
    sampled = _SAMPLED_IN_ANY_SPELLING.fullmatch(folded(name))
    if sampled:
        return Protocol(
            name=f"sampled-{sampled[1]}",
            negatives=int(sampled[1]),
            description=f"The true answer is ranked among {sampled[1]} sampled negatives.",
        )
    hint = did_you_mean(name, known) or f"; known: {', '.join(known)}, sampled-<number of negatives>"
    raise RankadjustError(f"there is no protocol {name!r}{hint}")


def applies(
    protocol: Protocol, columns: Collection[str], splits: Collection[str] | None = None
) -> str | None:
    """Return why the protocol cannot be used on triples with these columns and splits, None where it can.

    splits: names of the splits; None where they are not known yet, which checks the columns only.
    """
    usual = (protocol.entities, protocol.unseen, protocol.types) == ("release", "keep", "any")
    of_triples = not usual or protocol.data == "one-graph" or protocol.negatives is not None
    times, present = time_columns(columns), set(splits or ())
    looks_at_graph = splits is not None and not usual
    evaluated, of_inference = present & {"validation", "testing"}, present & {*_INFERENCE}
    problems = {
        "is for triples with a time, but these have none": not times
        and (protocol.time == "aware" or protocol.data == "temporal"),
        "is for triples, but these are facts of any number of entities": of_triples and "entities" in columns,
        "is for data with one graph and no times": protocol.data == "one-graph" and (times or of_inference),
        "is for data sets with test triples on two graphs, as GraIL's are": splits is not None
        and protocol.data == "inductive"
        and not present.issuperset(TEST_SPLITS),
        "looks at the training split, but there is none": looks_at_graph
        and evaluated
        and not present & {"facts", "training"},
        "uses the inference graph, but the data have no split 'inference'": looks_at_graph
        and of_inference
        and "inference" not in present,
    }
    return next((f"{protocol.name} {problem}" for problem, is_so in problems.items() if is_so), None)


def _problems(protocol: Protocol) -> Iterator[str]:
    """Yield in half a sentence each what is wrong with the parameters."""
    negatives = protocol.negatives
    if not _NAME.fullmatch(protocol.name):
        yield "a name consists of small letters, digits, dots and hyphens"
    for parameter, kind in get_type_hints(Protocol).items():
        value, choices = getattr(protocol, parameter), get_args(kind)
        if get_origin(kind) is Literal and value not in choices:
            yield f"{parameter} is {value!r}; allowed: {', '.join(choices)}"
    if negatives is not None and not (type(negatives) is int and negatives > 0):
        yield f"negatives is {negatives!r}; give a whole number from 1 on, or leave it out to rank all candidates"
    if protocol.name.startswith("sampled-") and protocol.name != f"sampled-{negatives}":
        yield f"the name promises another number of negatives than {negatives}; rename the protocol"
    if protocol.time == "aware" and protocol.filter == "none":
        yield "time: aware says which known triples are filtered, but filter: none filters none; leave one out"
    if protocol.types != "any" and negatives is not None:
        yield f"types: {protocol.types} may leave fewer entities than negatives, so leave one of the two out"
    if protocol.drawn != "without-replacement" and negatives is None:
        yield f"drawn: {protocol.drawn} says how negatives are drawn, so say how many, too (negatives)"


@cache
def _shipped_protocols() -> dict[str, Protocol]:
    return load_protocols()


# Benchmarks: a data set and a protocol that gives all its tasks the same number of candidates


@dataclass(frozen=True)
class Benchmark:
    """A data set whose tasks all have the same number of candidates, known without its triples.

    protocol: samples negatives, or does not filter and ranks against all `entities`.
    tasks: how many triples a split ranks on each side; None where that is not public.
    metrics: keys of the metrics it prints, empty where they are the usual ones.
    approximate: the rank under chance is only about uniform; `note` says why.
    common_negatives: all tasks of a split are ranked against the same negatives.
    drawn: how the negatives are drawn, as the schema of the file says it; None where no source does.
    reason: why the number of candidates is not known, None where it is.
    pool: of how many entities besides the true answer negatives are drawn with replacement: least, the smallest number
        of any task, and harmonic_mean, of all tasks or a lower bound of it; None where it is not known.
    """

    dataset: str
    protocol: Protocol
    sides: tuple[str, ...]
    tasks: Mapping[str, int | None]
    source: str
    entities: int | None = None
    aliases: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    approximate: bool = False
    note: str = ""
    common_negatives: bool = False
    reason: str | None = None
    drawn: str | None = None
    pool: Mapping[str, int] | None = None


@cache
def load_benchmarks() -> list[Benchmark]:
    """Return the benchmarks of config/benchmarks.yaml. A data set may occur under several protocols."""
    path = shipped(SHIPPED_BENCHMARKS)
    data = read_yaml(path)
    validate(data, "benchmarks", path)
    return [
        _benchmark(dataset, {**entry, **known})
        for entry in data["benchmarks"]
        for dataset, known in entry.pop("datasets").items()
    ]


def _benchmark(dataset: str, facts: dict[str, Any]) -> Benchmark:
    facts |= {key: tuple(facts[key]) for key in ("sides", "metrics", "aliases") if key in facts}
    tasks = facts.get("tasks", {})
    evaluated = _INFERENCE if set(tasks) & set(_INFERENCE) else ("validation", "testing")
    facts["tasks"] = {split: tasks.get(split) for split in evaluated}
    facts["protocol"] = get_protocol(facts["protocol"])
    return Benchmark(dataset=dataset, **facts)
