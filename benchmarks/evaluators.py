"""The table of proofs: what code bases rank, beside the tasks and candidates of their protocol here.

    python -m benchmarks.evaluators

Small graphs with unseen entities, repeated triples and answers of several splits are evaluated with random scores, by
the steps of each code base as config/evaluators.yaml describes them, in plain numpy, and by its own package if that is
installed (PyKEEN, OGB, TGB, PyTorch Geometric, AmpliGraph, torchmetrics). Tasks, candidates and metrics must be those
of the protocol.
"""
# Only one of the packages may be installed.
# ruff: noqa: PLC0415

import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from rankadjust.chance.metrics import metric_value
from rankadjust.counting.candidates import count_candidates
from rankadjust.counting.evaluators import evaluation_by, shipped_evaluators

Triple = tuple[int, int, int, int]
"""Head, relation, tail and time."""


@dataclass(frozen=True)
class Graph:
    """Triples by split, and the random score of every triple."""

    splits: dict[str, list[Triple]]
    entities: int
    scores: np.ndarray

    def of(self, *splits: str) -> list[Triple]:
        """Return the triples of some splits."""
        return [triple for split in splits for triple in self.splits[split]]

    def answers(self, triple: Triple, side: str, *splits: str, times: bool = False) -> set[int]:
        """Return the answers of a query in some splits; times: only those at the same time."""
        head, relation, tail, time = triple
        return {
            (t if side == "tail" else h)
            for h, r, t, when in self.of(*splits)
            if r == relation and (h == head if side == "tail" else t == tail) and (when == time or not times)
        }

    def row(self, triple: Triple, side: str) -> np.ndarray:
        """Return the scores of all entities as the answer of a query."""
        head, relation, tail, time = triple
        return (
            self.scores[head, relation, :, time] if side == "tail" else self.scores[:, relation, tail, time]
        )


SPLITS = ("training", "validation", "testing")


def graph(seed: int = 0, entities: int = 14, times: int = 1) -> Graph:
    """Return a graph whose evaluation splits repeat triples, share queries, and hold entities that training lacks."""
    rng = np.random.default_rng(seed)
    splits = {}
    for name, size in zip(SPLITS, (40, 12, 14), strict=True):
        # Training lacks the last two entities.
        limit = entities - (2 if name == "training" else 0)
        rows = np.column_stack([rng.integers(0, top, size) for top in (limit, 3, limit, times)])
        # Only training has loops: what is drawn for them otherwise, GraIL's code does not say.
        rows = rows[(rows[:, 0] != rows[:, 2]) | (name == "training")]
        splits[name] = [tuple(map(int, row)) for row in rows]
    splits["training"] = sorted(set(splits["training"]))
    splits["testing"] += splits["testing"][:2]
    everything = sorted({e for rows in splits.values() for h, _, t, _ in rows for e in (h, t)})
    number = {entity: place for place, entity in enumerate(everything)}
    numbered = {
        name: [(number[h], r, number[t], time) for h, r, t, time in rows] for name, rows in splits.items()
    }
    scores = rng.random((len(everything), 3, len(everything), times))
    return Graph(numbered, len(everything), scores)


Task = tuple[str, int, int]
"""Side, rank and number of candidates, the true answer included."""
Rebuilt = Callable[[Graph], Iterator[Task]]


def steps(
    data: Graph,
    known: Iterable[str] = SPLITS,
    *,
    unseen: str = "ranked",
    once: bool = False,
    sides: Iterable[str] = ("head", "tail"),
    own: int = 0,
    times: bool = False,
    itself: bool = True,
) -> Iterator[Task]:
    """Rank the true answer of each query among the entities that are no known answers.

    known: the splits whose answers are set aside; times: only those at the same time. unseen: whether triples with
    entities that training lacks are ranked, or skipped, or the entities are no candidates either (dropped). once:
    whether a repeated triple is ranked once. own: 1 if the true answer is counted against itself. itself: whether the
    entity that is asked about is a candidate.
    """
    trained = {entity for h, _, t, _ in data.of("training") for entity in (h, t)}
    for triple in dict.fromkeys(data.of("testing")) if once else data.of("testing"):
        if unseen != "ranked" and not {triple[0], triple[2]} <= trained:
            continue
        for side in sides:
            place = 2 if side == "tail" else 0
            true, scores = triple[place], data.row(triple, side)
            among = trained if unseen == "dropped" else {*range(data.entities)}
            rivals = among - data.answers(triple, side, *known, times=times) - {true}
            if not itself:
                rivals.discard(triple[2 - place])
            better = sum(scores[each] > scores[true] for each in rivals)
            yield side, 1 + int(better) + own, len(rivals) + 1


def merged(data: Graph, *, once: bool = False) -> Iterator[Task]:
    """Rank validation and test together."""
    both = data.of("validation", "testing")
    return steps(replace(data, splits={**data.splits, "validation": both, "testing": both}), once=once)


# The steps of code bases, as config/evaluators.yaml describes them, and what kind of graph shows it.
REBUILT: dict[str, tuple[str, Rebuilt]] = {
    **dict.fromkeys(
        ("LibKGE", "RotatE", "ConvE", "TuckER", "KBC", "OpenKE", "CompGCN", "SimKGC", "torchkge", "ILPC"),
        ("one", steps),
    ),
    **dict.fromkeys(("BLP", "KG-BERT", "StAR", "DGL-KE", "PyTorch-BigGraph", "DICE"), ("one", steps)),
    "KG-ICL": ("one", partial(steps, once=True)),
    "DacKGR": ("one", partial(steps, sides=("tail",))),
    "PyKEEN": ("one", partial(steps, unseen="dropped", once=True)),
    "AmpliGraph": ("one", partial(steps, unseen="dropped")),
    "KBAT": ("one", partial(steps, unseen="skipped")),
    "PyG": ("one", partial(steps, known=(), sides=("tail",))),
    "InGram": ("inductive", steps),
    "NBFNet-PyG": ("inductive", partial(steps, known=("training",))),
    "NBFNet": ("inductive", partial(steps, known=("training",), own=1)),
    **dict.fromkeys(("ULTRA", "TRIX", "MOTIF", "A*Net"), ("inductive", merged)),
    # All answers of a query at once, each ranked among all, less the better known ones.
    **dict.fromkeys(("RED-GNN", "AdaProp"), ("inductive", partial(merged, once=True))),
    # The pool of the draws; the rank is that of the true answer in the whole pool.
    **dict.fromkeys(("GraIL", "SNRI"), ("inductive", partial(steps, known=("training",), itself=False))),
    "NodePiece": ("inductive", partial(steps, known=("training",))),
    # What holds at the same time is set aside; RE-Net sets aside what ever held.
    **dict.fromkeys(("RE-GCN", "TiRGN", "tkbc"), ("temporal", partial(steps, times=True))),
    "RE-Net": ("temporal", steps),
}
# A data set of each kind, whose evaluation is meant.
_LIKE = {"one": "WN18RR", "inductive": "GraIL-WN18RR-v1", "temporal": "ICEWS18"}


def frames(data: Graph, kind: str) -> dict[str, pl.DataFrame]:
    """Return the splits as `count_candidates` takes them; the inference graph of inductive data is this graph."""
    names = ["head", "relation", "tail", "time"] if kind == "temporal" else ["head", "relation", "tail"]
    tables = {
        name: pl.DataFrame([row[: len(names)] for row in rows], names, orient="row")
        for name, rows in data.splits.items()
    }
    if kind != "inductive":
        return tables
    inference = ("inference", "inference_validation", "inference_testing")
    other = {"training": tables["training"], "testing": tables["testing"]}
    return other | dict(zip(inference, tables.values(), strict=True))


def proof(name: str, seed: int = 0) -> dict[str, object]:
    """Return how a code base's tasks compare with those of its protocol here."""
    kind, rebuilt = REBUILT[name]
    protocol = evaluation_by(name, _LIKE[kind]).protocol
    data = graph(seed, times=3 if kind == "temporal" else 1)
    if kind == "inductive" and protocol.startswith("filtered-merged") and "RED" not in name:
        # The code collapses no triples, and GraIL's data sets have none twice.
        data = replace(data, splits={split: sorted(set(rows)) for split, rows in data.splits.items()})
        known = set(data.splits["validation"])
        data.splits["testing"][:] = [triple for triple in data.splits["testing"] if triple not in known]
    theirs = sorted((side, size) for side, _, size in rebuilt(data))
    split = "inference_testing" if kind == "inductive" else "testing"
    counted = count_candidates(frames(data, kind), protocol).histogram.filter(split=split)
    sides = {side for side, _ in theirs}
    ours = sorted(
        (side, size)
        for side, size, tasks in counted.select("side", "num_candidates", "tasks").rows()
        if side in sides
        for _ in range(tasks)
    )
    lowest = 2 if protocol == "filtered-graph-twice" else 1
    within = all(lowest <= rank <= size + lowest - 1 for _, rank, size in rebuilt(data))
    return {
        "code base": name,
        "protocol": protocol,
        "how": "rebuilt",
        "tasks": len(theirs),
        "our tasks": len(ours),
        "same candidates": theirs == ours,
        "ranks within": within,
    }


# --- the packages themselves ------------------------------------------------------------------------------------


def by_pykeen() -> dict[str, object]:
    """PyKEEN's evaluator, and a model whose scores are known."""
    import torch
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models.mocks import FixedModel
    from pykeen.triples import TriplesFactory

    data = graph()
    labels = {name: _labelled(rows) for name, rows in data.splits.items()}
    training = TriplesFactory.from_labeled_triples(labels["training"])
    ids = {"entity_to_id": training.entity_to_id, "relation_to_id": training.relation_to_id}
    others = [TriplesFactory.from_labeled_triples(labels[name], **ids) for name in ("validation", "testing")]
    model = FixedModel(triples_factory=training)
    known = [training.mapped_triples, others[0].mapped_triples]
    theirs = RankBasedEvaluator().evaluate(
        model, others[1].mapped_triples, additional_filter_triples=known, batch_size=8, use_tqdm=False
    )
    # Our entities and relations in PyKEEN's numbers; what training lacks scores nothing, and is dropped.
    entity = [training.entity_to_id.get(f"e{each:02}") for each in range(data.entities)]
    scores = np.full_like(data.scores, -1.0)
    for h, r, t in np.ndindex(data.entities, 3, data.entities):
        if entity[h] is not None and entity[t] is not None and f"r{r}" in training.relation_to_id:
            triple = torch.tensor([[entity[h], training.relation_to_id[f"r{r}"], entity[t]]])
            scores[h, r, t, 0] = float(model.score_hrt(triple).item())
    return _compared(
        "PyKEEN",
        "pykeen",
        REBUILT["PyKEEN"][1](replace(data, scores=scores)),
        {name: theirs.get_metric(name) for name in ("mean_rank", "mean_reciprocal_rank", "hits_at_3")},
    )


def by_pyg() -> dict[str, object]:
    """KGEModel.test of PyTorch Geometric."""
    import torch
    from torch_geometric.nn.kge.base import KGEModel

    data = graph()

    class Known(KGEModel):
        def forward(self, head_index, rel_type, tail_index):  # noqa: ANN001, ANN202
            return torch.tensor(data.scores)[head_index, rel_type, tail_index, 0]

    model = Known(data.entities, 3, 1)
    h, r, t, _ = map(torch.tensor, zip(*data.of("testing"), strict=True))
    mean_rank, mrr, hits = model.test(h, r, t, batch_size=100, k=3, log=False)
    printed = {"mean_rank": mean_rank + 1, "mean_reciprocal_rank": mrr, "hits_at_3": hits}
    return _compared("PyG", "raw", REBUILT["PyG"][1](data), printed)


def by_scores(name: str, negatives: int) -> dict[str, object]:
    """Give scores of true answers and of as many others each to the evaluators of OGB, TGB and torchmetrics."""
    rng = np.random.default_rng(1)
    true, others = rng.random((30, 1)), rng.random((30, negatives))
    tasks = [("tail", 1 + int(better), negatives + 1) for better in (others > true).sum(axis=1)]
    import torch

    if name == "OGB":
        # Else it asks the package index for a newer version.
        os.environ.setdefault("OUTDATED_IGNORE", "1")
        from ogb.linkproppred import Evaluator

        given = {"y_pred_pos": torch.tensor(true[:, 0]), "y_pred_neg": torch.tensor(others)}
        lists = Evaluator("ogbl-wikikg2").eval(given)
        printed = {"mean_reciprocal_rank": lists["mrr_list"].mean(), "hits_at_3": lists["hits@3_list"].mean()}
    elif name == "TGB":
        from tgb.linkproppred.evaluate import Evaluator

        each = [
            Evaluator("tgbl-coin").eval({"y_pred_pos": own, "y_pred_neg": row, "eval_metric": ["mrr"]})["mrr"]
            for own, row in zip(true, others, strict=True)
        ]
        printed = {"mean_reciprocal_rank": np.mean(each)}
    else:
        from torchmetrics.retrieval import RetrievalHitRate, RetrievalMRR

        scores = torch.tensor(np.column_stack([true, others]))
        target = torch.zeros(scores.shape, dtype=torch.bool)
        target[:, 0] = True
        queries = torch.arange(30)[:, None].expand(scores.shape)
        metrics = {"mean_reciprocal_rank": RetrievalMRR(), "hits_at_3": RetrievalHitRate(top_k=3)}
        printed = {key: metric(scores, target, indexes=queries) for key, metric in metrics.items()}
    return _compared(name, f"sampled-{negatives}", tasks, {key: float(own) for key, own in printed.items()})


def by_ampligraph() -> dict[str, object]:
    """Evaluate by AmpliGraph's model, fitted for one epoch, which subtracts an answer that two files hold twice."""
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    from ampligraph.latent_features import ScoringBasedEmbeddingModel

    data = graph()
    once = dict.fromkeys(data.of(*SPLITS))
    data = replace(
        data,
        splits={
            name: [row for row in rows if once.pop(row, 0) is None] for name, rows in data.splits.items()
        },
    )
    labels = {name: _labelled(rows) for name, rows in data.splits.items()}
    model = ScoringBasedEmbeddingModel(eta=1, k=4, scoring_type="DistMult", seed=0)
    model.compile(optimizer="adam", loss="nll")
    model.fit(labels["training"], batch_size=100, epochs=1, verbose=False)
    seen = sorted({entity for h, _, t, _ in data.of("training") for entity in (h, t)})
    places = [(h, r, t, 0) for h in seen for r in range(3) for t in seen]
    scores = np.full_like(data.scores, -1.0)
    scores[tuple(np.array(places).T)] = np.ravel(model.predict(_labelled(places)))
    known = {"train": labels["training"], "valid": labels["validation"], "test": labels["testing"]}
    ranks = model.evaluate(labels["testing"], use_filter=known, corrupt_side="s,o", verbose=False)
    printed = {"mean_rank": float(np.mean(ranks)), "mean_reciprocal_rank": float(np.mean(1 / ranks))}
    return _compared(
        "AmpliGraph", "filtered-training", REBUILT["AmpliGraph"][1](replace(data, scores=scores)), printed
    )


def _labelled(rows: Iterable[Triple]) -> np.ndarray:
    return np.array([[f"e{h:02}", f"r{r}", f"e{t:02}"] for h, r, t, _ in rows])


def _compared(
    name: str, protocol: str, tasks: Iterable[Task], printed: Mapping[str, float]
) -> dict[str, object]:
    """Return whether a package prints what the ranks of the rebuilt tasks give."""
    _, ranks, sizes = zip(*tasks, strict=True)
    ours = {key: float(metric_value(key, ranks, sizes)) for key in printed}
    same = all(abs(ours[key] - value) < 1e-6 for key, value in printed.items())
    number = len(ranks)
    return {"code base": name, "protocol": protocol, "how": "run", "tasks": number, "same metrics": same}


PACKAGES: dict[str, Callable[[], dict[str, object]]] = {
    "pykeen": by_pykeen,
    "torch_geometric": by_pyg,
    "ogb": lambda: by_scores("OGB", 500),
    "tgb": lambda: by_scores("TGB", 20),
    "ampligraph": by_ampligraph,
    "torchmetrics": lambda: by_scores("torchmetrics", 19),
}


def main() -> None:
    rows = [proof(name) for name in REBUILT] + [
        check() for name, check in PACKAGES.items() if importlib.util.find_spec(name)
    ]
    proved = {row["code base"] for row in rows}
    rows += [
        {"code base": name, "how": f"{entry['proof']}, not here"}
        for name, entry in shipped_evaluators().items()
        if name not in proved
    ]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, tbl_hide_dataframe_shape=True):
        print(pl.DataFrame(rows, infer_schema_length=None))


if __name__ == "__main__":
    main()
