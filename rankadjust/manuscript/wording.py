r"""The sentences of a manuscript about its adjusted numbers: caption, methods section, references."""

from collections.abc import Callable, Sequence

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.base.version import VERSION
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import get_protocol
from rankadjust.manuscript.printed_scores import AS_GOOD, BEST
from rankadjust.output.markup import escape_latex

REFERENCES = f"""@article{{hoyt2022unified,
  title = {{A Unified Framework for Rank-based Evaluation Metrics for Link Prediction in Knowledge Graphs}},
  author = {{Hoyt, Charles Tapley and Berrendorf, Max and Galkin, Mikhail and Tresp, Volker and Gyori, Benjamin M.}},
  journal = {{arXiv preprint arXiv:2203.07544}},
  year = {{2022}},
  url = {{https://arxiv.org/abs/2203.07544}}
}}

@software{{rankadjust,
  title = {{rankadjust: chance-adjusted link-prediction metrics and the database of their constants}},
  author = {{{{The rankadjust authors}}}},
  version = {{{VERSION}}},
  url = {{https://github.com/rankadjust/rankadjust}}
}}
"""


def caption_note(rows: pl.DataFrame) -> str:
    """Return the sentences of the caption about the new numbers of a table, as LaTeX; nothing if there are none.

    rows: the values with score, shown and mark (`rankadjust.manuscript.printed_scores.scored`).
    """
    shown = rows.filter(pl.col("shown") != "")
    scores = shown["score"].unique(maintain_order=True).to_list()
    percent = shown.filter(pl.col("unit") == "percent").height > 0
    perfect = r"100 (\%)" if percent else "1"
    sentences = {
        "index": f"adj.: adjusted for chance, 0 is a random ranking and {perfect} a perfect one.",
        "gain": f"gain: 0 is the best scorer that only counts training triples and {perfect} a perfect ranking.",
    }
    marks = set(shown["mark"].to_list())
    marked = {
        BEST: r"Bold in these columns: the best value.",
        AS_GOOD: r"$\dagger$: not significantly different from the best one.",
    }
    parts = [sentences[score] for score in sentences if score in scores]
    return " ".join([*parts, *(text for mark, text in marked.items() if mark in marks)])


def methods(rows: pl.DataFrame, database: str | None) -> str:
    r"""Return the sentences for the methods section, as LaTeX.

    rows: the values with score, shown and mark (`printed_scores.scored`). database: the name of the database of
    constants, such as 'database 1, sha256:…'; None if it has no name.
    """
    known = rows.filter(pl.col("index").is_not_null())
    if known.is_empty():
        return "% No value could be adjusted: check.md says why.\n"
    paragraphs = [_evaluations(known), *_index(known), *_gain(known), *_left(known), _source(database)]
    return "\n".join(paragraphs) + "\n"


def advice(rows: pl.DataFrame) -> str:
    """Return advice in a line or two: the number to print for each metric and data set.

    rows: the values with score, shown and mark (`rankadjust.manuscript.printed_scores.scored`).
    """
    known = rows.filter(pl.col("index").is_not_null())
    parts = {
        "index": "print the adjusted index of {}",
        "gain": "print the values of {} as they are, and the gain over counting",
        None: "print the values of {} as they are: adjustment changes nothing that is printed",
    }
    sentences = []
    for score, text in parts.items():
        part = known.filter(pl.col("score").is_null() if score is None else pl.col("score") == score)
        if part.height:
            sentences.append(text.format(_where(part, escape=str)))
    return f"Which number: {'; '.join(sentences)} (docs/which-number.md)."


def _evaluations(known: pl.DataFrame) -> str:
    """Return how the results were evaluated: a sentence for each protocol, split and side."""
    sentences = []
    for (protocol, split, side), part in known.group_by(["protocol", "split", "side"], maintain_order=True):
        sides = "head and tail are predicted" if side == "both" else f"the {side} is predicted"
        sentences.append(
            f"Results on {_names(part, 'dataset')} are for the {escape_latex(str(split))} split; {sides}, and "
            f"{_candidates(str(protocol))}."
        )
    return " ".join(sentences)


def _candidates(protocol: str) -> str:
    """Return among which candidates the true answer is ranked, and which answers are left out.

    >>> _candidates("filtered")
    'the true answer is ranked among all entities without the other known answers'
    >>> _candidates("sampled-49")
    'the true answer is ranked among 49 sampled negatives'
    """
    known = get_protocol(protocol)
    if known.negatives is not None:
        return f"the true answer is ranked among {known.negatives} sampled negatives"
    entities = "all entities" if known.entities == "release" else "all entities of the training split"
    typed = " that training has on that side of the relation" if known.types == "observed" else ""
    times = " at the same time" if known.time == "aware" else ""
    left_out = {
        "all": f" without the other known answers{times}",
        "cumulative": f" without the other answers known{times} from its split and those before it",
        "none": "; nothing is filtered",
    }
    return f"the true answer is ranked among {entities}{typed}{left_out[known.filter]}"


def _index(known: pl.DataFrame) -> list[str]:
    rows = known.filter(pl.col("score") == "index")
    if rows.is_empty():
        return []
    ranks = rows.filter(pl.col("metric").is_in([key for key in _keys(rows) if not resolve(key).increasing]))
    reason = (
        "A mean rank depends on the number of candidates"
        if ranks.height == rows.height
        else "A part of each of these values is chance, and how much depends on the number of candidates"
    )
    return [
        f"The values of {_where(rows)} are adjusted for chance "
        r"\cite{hoyt2022unified}: with the expectation $E$ of a random ranking and the best value $b$, a value $M$ "
        rf"becomes $(M - E) / (b - E)$, so that 0 is chance and 1 is perfect. {reason}."
    ]


def _gain(known: pl.DataFrame) -> list[str]:
    rows = known.filter(pl.col("score") == "gain")
    if rows.is_empty():
        return []
    return [
        f"For {_where(rows)} the gain is $(M - B) / (b - B)$, where $B$ is the value of "
        r"the best scorer that only counts training triples \cite{rankadjust}, chosen on the validation split."
    ]


def _left(known: pl.DataFrame) -> list[str]:
    """Return why the other values are printed as they are."""
    rows = known.filter(pl.col("score").is_null() | (pl.col("score") == "gain"))
    if rows.is_empty():
        return []
    share = rows.select((pl.col("index") - pl.col("value")).abs().max()).item()
    return [
        f"The values of {_where(rows)} are printed as they are: among that many candidates adjustment "
        f"for chance changes none of them by more than {_rounded_up(share)}."
    ]


def _rounded_up(share: float) -> str:
    """Return a number rounded up to few digits.

    >>> _rounded_up(0.00051), _rounded_up(0.0)
    ('0.0006', '0.0001')
    """
    return f"{max(1, -int(-share * 10_000 // 1)) / 10_000:.4f}"


def _source(database: str | None) -> str:
    named = f" ({escape_latex(database)})" if database else ""
    return rf"The constants come from rankadjust {escape_latex(VERSION)}{named} \cite{{rankadjust}}."


def _keys(rows: pl.DataFrame) -> list[str]:
    return [str(key) for key in rows["metric"].unique(maintain_order=True)]


def _where(rows: pl.DataFrame, escape: Callable[[str], str] = escape_latex) -> str:
    """Return the metrics of rows with the data sets of each: 'MR on WN18RR and MRR and Hits@1 on Nations'."""
    datasets = {key: _names(rows.filter(metric=key), "dataset", escape) for key in _keys(rows)}
    metrics: dict[str, list[str]] = {}
    for key, names in datasets.items():
        metrics.setdefault(names, []).append(escape(resolve(key).label))
    return ", and ".join(f"{listed(labels)} on {names}" for names, labels in metrics.items())


def _names(rows: pl.DataFrame, column: str, escape: Callable[[str], str] = escape_latex) -> str:
    names: Sequence[str] = [str(name) for name in rows[column].unique(maintain_order=True)]
    return listed([escape(name) for name in names])
