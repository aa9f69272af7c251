"""The rank rule of mle-bench and its exception."""

from statistics import median


class InvalidSubmissionError(Exception):
    pass


def rank_score(score: float | None, scores: list[float]) -> dict:
    """Return thresholds and medals. The board has fewer than 100 rows; its order tells which scores are better."""
    lower = scores[0] < scores[-1]

    def at(share: float) -> float:
        return scores[max(1, int(len(scores) * share)) - 1]

    def reaches(bar: float) -> bool:
        return score is not None and (score <= bar if lower else score >= bar)

    bars = {"gold": at(0.1), "silver": at(0.2), "bronze": at(0.4)}
    middle = median(scores)
    earned = next((medal for medal, bar in bars.items() if reaches(bar)), None)
    return {
        "is_lower_better": lower,
        **{f"{medal}_threshold": bar for medal, bar in bars.items()},
        "median_threshold": middle,
        **{f"{medal}_medal": medal == earned for medal in bars},
        "above_median": score is not None and (score < middle if lower else score > middle),
    }
