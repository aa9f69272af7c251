"""Figures on what attack scripts earned, computed by SQL over the record of a red team."""

from collections.abc import Sequence

from sandmill.report.html.figure import Figure
from sandmill.report.queries import Queries

ATTACK_VIEW = "attack_rewards"
"""View with a row for each attack and preset: reward, and reward of the sample submission."""
_ABOVE = "reward > sample + 1e-9"


def red_team_figures(queries: Queries, presets: Sequence[str], is_private: bool) -> tuple[Figure, ...]:
    """Return the counts by preset, and in the private edition the matrices by family and by attack."""
    figures = [_by_preset(queries, is_private)]
    if is_private:
        figures += [_matrix(queries, presets), _attacks(queries, presets)]
    return tuple(figures)


def _by_preset(queries: Queries, is_private: bool) -> Figure:
    """Compare with the sample. Rewards tell scores of a task, so the public edition has the counts only."""
    rewards = (
        ",\n       max(sample) AS sample_submission, max(reward) FILTER (pays = 'nothing') AS highest_attack"
        if is_private
        else ""
    )
    return queries.figure(
        "red-team",
        "Attacks that earn more than the sample submission",
        f"""SELECT preset, count(*) FILTER (pays = 'nothing') AS attacks,
       count(*) FILTER (pays = 'nothing' AND {_ABOVE}) AS above_the_sample,
       count(*) FILTER (pays <> 'nothing') AS guesses_and_predictions,
       count(*) FILTER (pays <> 'nothing' AND {_ABOVE}) AS of_them_above{rewards}
FROM {ATTACK_VIEW} GROUP BY preset ORDER BY preset""",
        "An attack must not earn more than the valid sample submission of the task. Guesses and predictions are paid "
        "for their score as any submission is; a guess may close a little of the gap by luck.",
    )


def _matrix(queries: Queries, presets: Sequence[str]) -> Figure:
    cells = _columns(presets, "max(reward - sample)")
    return queries.figure(
        "red-team-families",
        "Highest reward above the sample submission, by family and preset",
        f"""SELECT family, count(DISTINCT attack) AS attacks,
       {cells}
FROM {ATTACK_VIEW} WHERE pays = 'nothing' GROUP BY family ORDER BY family""",
        "Reward of the attack less that of the sample submission. Above 0 an attack pays.",
    )


def _attacks(queries: Queries, presets: Sequence[str]) -> Figure:
    cells = _columns(presets, "max(reward)")
    return queries.figure(
        "red-team-attacks",
        "Reward of each attack",
        f"""SELECT family, attack, outcome, pays AS may_earn,
       {cells}
FROM {ATTACK_VIEW} GROUP BY family, attack, outcome, pays ORDER BY family, attack""",
    )


def _columns(presets: Sequence[str], value: str) -> str:
    def column(preset: str) -> str:
        literal, name = preset.replace("'", "''"), preset.replace('"', '""')
        return f"round({value} FILTER (preset = '{literal}'), 6) AS \"{name}\""

    return ",\n       ".join(map(column, presets))
