"""The verdict in words: the same on the page, in the terminal and in a pull request."""

from handoff_console.runtime.counting import count
from handoff_console.store.analysis.comparison.gate import Gate
from handoff_console.store.analysis.comparison.judging import accuracy
from handoff_console.store.analysis.comparison.pairing import Paired
from handoff_console.store.analysis.comparison.result import Direction, Outcome, Verdict
from handoff_console.store.analysis.comparison.wording import (
    close_call,
    p_text,
    percent,
    rough,
    signed,
)


def sentence(found: Verdict, paired: Paired, gate: Gate) -> str:
    """Return what the test and the gate say, in one or two sentences.

    Args:
        found: A verdict with its difference; its own sentence is not read.
        paired: Both sides.
        gate: What B has to hold.
    """
    a, b = paired.a.label, paired.b.label
    offline = paired.b.offline
    both = paired.decided
    shares = [accuracy([case[side] for case in both]).share or 0.0 for side in (0, 1)]
    figures = f"{percent(shares[1])} vs {percent(shares[0])}, {_figures(found)}"
    match found.direction:
        case Direction.NO_DIFFERENCE:
            alike = "are told apart alike" if offline else "route alike"
            return (
                f"No difference: {a} and {b} {alike}; each gets {percent(shares[0])} of "
                f"{count(found.paired, 'case')} right, the same ones."
            )
        case Direction.UNCLEAR:
            return _unclear(found, figures, gate, a, b)
    better = found.direction is Direction.BETTER
    if offline:
        how = f"The agents are {'easier' if better else 'harder'} to tell apart by {b} than by {a}"
    else:
        how = f"{b} routes {'better' if better else 'worse'} than {a}"
    return f"{how}: {figures}."


def _unclear(found: Verdict, figures: str, gate: Gate, a: str, b: str) -> str:
    if found.outcome is Outcome.PASS:
        said = (
            f"{b} is not clearly different from {a}, and no drop of more than "
            f"{gate.max_drop_points:g} points"
        )
    else:
        said = f"The data cannot tell {b} from {a}"
    close = close_call(found.difference, found.p_adjusted, gate.alpha)
    points = max(gate.max_drop_points, 1.0)
    return (
        f"{said}: {figures}.{close} Seeing a difference of {points:g} points takes about "
        f"{rough(found.needed_cases or 0):,} cases."
    )


def _figures(found: Verdict) -> str:
    assert found.difference is not None
    points, low, high = (
        found.difference.points,
        found.difference.low,
        found.difference.high,
    )
    critical = f" ({found.critical_regressed:,} critical)" if found.critical_regressed else ""
    several = found.p_adjusted != found.p
    return (
        f"{signed(points)} points [{signed(low)}, {signed(high)}], exact p "
        f"{p_text(found.p_adjusted)}{' after Holm' if several else ''}, "
        f"{count(found.paired, 'paired case')}; {found.improved:,} improved, "
        f"{found.regressed:,} regressed{critical}"
    )
