"""How many of the 82 competition folders of MLE-bench are understood, set aside for a true reason, or misread.

Folders are stand-ins made from facts (tests/data/mlebench.yaml): no data set is needed.

Run from the repository root: python -m benchmarks.mlebench_folders
"""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mlebench_folders import Tally, survey_all


def report(tallies: dict[str, Tally]) -> str:
    """Lay the tallies out as tables: counts, what was understood, and the reasons of the others."""
    lines = ["| folders | understood | set aside, reason holds | wrong |", "|---|---:|---:|---:|"]
    for name, tally in tallies.items():
        lines.append(f"| {name} | {len(tally.understood)} | {len(tally.set_aside)} | {len(tally.wrong)} |")
    for name, tally in tallies.items():
        reasons = Counter(need for needs in tally.set_aside.values() for need in needs)
        lines += ["", f"{name}:", f"- understood: {', '.join(tally.understood) or 'none'}"]
        lines += [f"- {count} need {need}" for need, count in reasons.most_common()]
        lines += [f"- wrong: {competition}: {fault}" for competition, fault in tally.wrong.items()]
    return "\n".join(lines)


def main() -> None:
    """Make the folders, take them in and print."""
    with TemporaryDirectory() as root:
        tallies = {
            "config, description and leaderboard": survey_all(Path(root) / "bare", with_data=False),
            "with prepared/public": survey_all(Path(root) / "prepared", with_data=True),
        }
    print(report(tallies))


if __name__ == "__main__":
    main()
