"""What is known of the full ranking, as text for the terminal."""

from rankadjust.chance.metrics import resolve
from rankadjust.output.terminal import cell, sentences, table
from rankadjust.sampling.full_bounds import FullBounds


def full_bounds_text(limits: FullBounds) -> str:
    """Return a table of the bounds, what was assumed, and a sentence on the first metric that has a value."""
    least, most = f"{limits.least_candidates:,}", f"{limits.most_candidates:,}"
    counts = most if least == most else f"{least} to {most}"
    how = limits.negatives.replace("-", " ")
    rows = [
        (resolve(name).label, cell(bounds.low), cell(bounds.high)) for name, bounds in limits.full.items()
    ]
    printed = " and ".join(f"{resolve(name).label} {value}" for name, value in limits.values.items())
    name = next((name for name in limits.values if name in limits.full), next(iter(limits.full)))
    full, chosen = limits.full[name], resolve(name).label
    return "\n".join(
        [
            f"{counts} candidates, {limits.sampled:,} negatives {how}, {limits.tasks:,} tasks",
            table(["", "at least", "at most"], rows),
            sentences(
                *(f"assumed: {text}" for text in limits.assumed),
                f"Among {limits.sampled:,} sampled negatives the model has {printed}. In the full ranking its {chosen} "
                f"is from {cell(full.low)} to {cell(full.high)}, whatever its ranks are. The bounds hold with a "
                f"probability of at least {limits.level:.4g}.",
            ),
        ]
    )
