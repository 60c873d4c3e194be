"""Make ir_measures.json: metrics of reference-ranks.csv as ir-measures 0.4.3 computes them (trec_eval underneath).

Run in an environment of its own:

    python -m venv env && env/bin/pip install ir-measures==0.4.3
    env/bin/python tests/data/evaluation/ir_measures_values.py

A task is a query with one relevant document, placed at the optimistic rank of a run of num_candidates documents.
"""

import csv
import json
from pathlib import Path

import ir_measures
from ir_measures import RR, P, R, Success, nDCG

FOLDER = Path(__file__).parent
MEASURES = {
    "inverse_harmonic_mean_rank": RR,
    "inverse_harmonic_mean_rank_at_10": RR @ 10,
    "ndcg": nDCG,
    **{f"hits_at_{k}": Success @ k for k in (1, 3, 5, 10)},
    **{f"recall@{k}": R @ k for k in (1, 3, 5, 10)},
    **{f"precision_at_{k}": P @ k for k in (1, 3, 5, 10)},
    **{f"ndcg_at_{k}": nDCG @ k for k in (1, 3, 5, 10)},
}


def main() -> None:
    """Read the ranks, write the values."""
    with (FOLDER / "reference-ranks.csv").open() as file:
        rows = list(csv.DictReader(file))
    judgements = {str(task): {"true": 1} for task in range(len(rows))}
    run = {}
    for task, row in enumerate(rows):
        count, rank = int(row["num_candidates"]), int(row["optimistic"])
        run[str(task)] = {
            "true" if place == rank else f"negative {place}": count - place for place in range(1, count + 1)
        }
    found = ir_measures.calc_aggregate(MEASURES.values(), judgements, run)
    values = {key: float(found[measure]) for key, measure in MEASURES.items()}
    (FOLDER / "ir_measures.json").write_text(json.dumps(values, indent=1) + "\n")


if __name__ == "__main__":
    main()
