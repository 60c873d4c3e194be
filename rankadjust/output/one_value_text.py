"""One adjusted value as text for the terminal, with a sentence that says how good it is."""

from rankadjust.chance.drawn_scorer import DRAWS
from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.one_value import Adjusted
from rankadjust.output.terminal import interval, number

# By luck, a random scorer has a z between these 19 times out of 20.
_LUCK = 2.0


def adjusted_value(adjusted: Adjusted, text: str, against: str | None = None) -> str:
    """Return what is known of a value, a line each, and a sentence.

    text: the value as it was given. against: the baseline that was asked for, if any; then a note says why there is no
    gain.
    """
    metric = resolve(adjusted.metric)
    tasks = "unknown number of" if adjusted.tasks is None else number(adjusted.tasks)
    lines = [
        f"{adjusted.dataset}, {adjusted.protocol}, {adjusted.split}, side {adjusted.side}: {tasks} tasks",
        _line(metric.label, text, interval(adjusted.value_low, adjusted.value_high)),
        _line(
            "expectation",
            number(adjusted.expectation),
            interval(adjusted.expectation_low, adjusted.expectation_high),
        ),
    ]
    if adjusted.ratio is not None:
        lines.append(_line("ratio", number(adjusted.ratio)))
    lines += [
        _line("index", number(adjusted.index), interval(adjusted.index_low, adjusted.index_high)),
        _line("z, independent ranks", number(adjusted.z), interval(adjusted.z_low, adjusted.z_high)),
        _line(
            "z, static scorer" if adjusted.scores_used == "static" else "z, random scorer",
            number(adjusted.z_random_scorer),
        ),
    ]
    if adjusted.p_random_scorer is not None:
        lines.append(_line("p, random scorer", number(adjusted.p_random_scorer, 2)))
    if adjusted.baseline is not None:
        lines.append(_line(adjusted.baseline, number(adjusted.baseline_value)))
        lines.append(
            _line("gain over it", number(adjusted.gain), interval(adjusted.gain_low, adjusted.gain_high))
        )
    # If there is no z, the first note says why.
    notes = [adjusted.reason] if adjusted.z is None else [adjusted.reason, adjusted.reason_random_scorer]
    # A perfect baseline has a sentence of its own.
    if against is not None and adjusted.baseline is None:
        notes.append(adjusted.reason_gain)
    lines += [f"Note: {note}." for note in notes if note is not None]
    return "\n".join([*lines, meaning(adjusted), *counting(adjusted)])


def counting(adjusted: Adjusted) -> list[str]:
    """Return a sentence that says how the value compares with counting training triples, none where nobody counted."""
    if adjusted.baseline is None:
        return []
    metric = resolve(adjusted.metric)
    value = f"{metric.label} {adjusted.value:.6g}"
    known = f"Counting training triples alone reaches {number(adjusted.baseline_value)} ({adjusted.baseline})"
    if adjusted.gain is None:
        return [f"{known}, which is perfect already."]
    low, high = (adjusted.gain if end is None else end for end in (adjusted.gain_low, adjusted.gain_high))
    if high < 0:
        return [f"{known}: {value} is below that."] if metric.increasing else [f"{known}: {value} is worse."]
    if low <= 0:
        return [f"{known}: {value} is no better, as far as its printed digits show."]
    return [f"{known}: {value} is {100 * adjusted.gain:.1f} % of the way from there to perfect."]


def meaning(adjusted: Adjusted) -> str:
    """Return one sentence that says what the adjusted value means."""
    metric = resolve(adjusted.metric)
    if adjusted.index is None:
        return "There is no index: chance already gives a perfect value."
    value, chance = f"{metric.label} {adjusted.value:.6g}", f"chance ({number(adjusted.expectation)})"
    if adjusted.index < 0:
        comparison = f"{value} is worse than {chance}"
    elif adjusted.status == "bounded":
        low, high = (100 * (end or 0.0) for end in (adjusted.index_low, adjusted.index_high))
        comparison = (
            f"{value} is {low:.1f} to {high:.1f} % of the way from chance to perfect ({metric.optimum:g})"
        )
    else:
        way = f"{100 * adjusted.index:.1f} % of the way"
        comparison = f"{value} is {way} from {chance} to perfect ({metric.optimum:g})"
    return f"{comparison}{_evidence(adjusted)}."


def _evidence(adjusted: Adjusted) -> str:
    if adjusted.draws_reaching is not None:
        return f"; a random scorer is at least as good in {adjusted.draws_reaching:,} of {DRAWS:,} draws"
    known = adjusted.z_random_scorer is not None
    z, null = (
        (adjusted.z_random_scorer, "a random scorer") if known else (adjusted.z, "independent random ranks")
    )
    if z is None:
        return ""
    if abs(z) < _LUCK:
        return f", no further from it than luck takes {null} (z = {number(z, 2)})"
    return f", {number(abs(z), 3)} standard deviations {'above' if z > 0 else 'below'} {null}"


def _line(name: str, value: str, interval: str = "") -> str:
    return f"{name:22}{value:>10}  {interval}".rstrip()
