"""docs/seeds.md says what is true: every field is there, and its examples are ingested as printed."""

import re
from pathlib import Path

import pytest

from sandmill.errors import SeedError
from sandmill.models.fidelity import TRAITS
from sandmill.models.seed import SeedTask
from sandmill.models.structure import ColumnMix, MetricName, Modality, PathologyKind, SplitKind, Structure, TargetKind
from sandmill.scoring.support import SUPPORTED_TASKS
from sandmill.seeds import guard, ingest
from sandmill.seeds.cards import bundled_cards, read_card
from sandmill.seeds.folder import TableSeed
from sandmill.seeds.profile import MOST_SAMPLED
from sandmill.seeds.table_files import MISSING_WORDS
from sandmill.seeds.tabular import USUAL_METRIC

DOC = (Path(__file__).parents[3] / "docs" / "seeds.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", DOC, flags=re.DOTALL)


def _example(language, word):
    return next(body for kind, body in BLOCKS if kind == language and word in body)


@pytest.mark.parametrize("model", [SeedTask, Structure, ColumnMix, TableSeed])
def test_every_field_is_explained(model):
    assert [name for name in model.model_fields if f"`{name}`" not in DOC] == []


@pytest.mark.parametrize("choices", [Modality, TargetKind, MetricName, SplitKind, PathologyKind])
def test_every_choice_is_listed(choices):
    assert [choice for choice in choices if f"`{choice}`" not in DOC] == []


def test_the_table_of_bundled_cards_says_what_the_cards_say():
    listed = DOC.split("### Bundled cards")[1].split("\n## ")[0]
    rows = [_row(read_card(path, file).seed) for path, file in bundled_cards()]
    assert [line for line in listed.splitlines() if line.startswith("| `")] == rows


def _row(card):
    structure = card.structure
    count = structure.n_classes or (structure.n_targets if structure.n_targets > 1 else None)
    is_counted = count and structure.target not in {TargetKind.BINARY, TargetKind.REGRESSION}
    target = f"{structure.target}, {count}" if is_counted else structure.target
    return f"| `{card.id}` | {structure.modality} | {target} | `{structure.metric}` | {structure.split or '-'} |"


def test_the_table_of_what_can_be_made_is_the_one_in_the_code():
    rows = [f"| `{target}` | {', '.join(f'`{m}`' for m in metrics)} |" for target, metrics in SUPPORTED_TASKS.items()]
    assert "\n".join(rows) in DOC


def test_the_table_of_traits_is_the_one_in_the_code():
    rows = [f"| `{one.name}` | {one.words} | {one.tier} | {one.nearness} |" for one in TRAITS]
    assert "\n".join(rows) in DOC


def test_the_rule_on_rows_and_rare_values_is_the_one_in_the_code():
    stated = (
        f"{guard.LEAST_CHARACTERS} or more characters in fewer than {guard.RARE} of the rows",
        f"{guard.TELLING_DIGITS} or more significant digits",
        f"fewer than {guard.ROW_DIGITS} significant digits",
        f"more than {MOST_SAMPLED:,} rows",
    )
    assert [text for text in stated if text not in DOC] == []


def test_the_usual_metrics_and_missing_words_are_the_ones_in_the_code():
    assert [
        f"`{metric}` for {target}" for target, metric in USUAL_METRIC.items() if f"`{metric}` for {target}" not in DOC
    ] == []
    assert [word for word in MISSING_WORDS if word and f"`{word}`" not in DOC] == []


def test_the_card_of_the_example_is_a_seed(written):
    written.file("card.yaml", _example("yaml", "structure:"))
    assert ingest(("card.yaml",)).supported[0].id == "parcel-delays"


def test_the_table_of_the_example_is_a_seed(written):
    written.file("parcels/seed.yaml", _example("yaml", "id_column:"))
    written.file("parcels/parcels.csv", _example("csv", "parcel,"))
    seed = ingest(("parcels",)).supported[0]
    assert seed.structure.columns.model_dump() == {"numeric": 1, "categorical": 1, "date": 0, "text": 0}
    assert (seed.structure.target, seed.structure.missing_share) == (TargetKind.BINARY, 0.05)


def test_the_competition_of_the_example_is_a_seed(written):
    written.competition("challenge")
    written.file("challenge/config.yaml", _example("yaml", "grader:"))
    rows = [f"p{n},{n % 7},{n % 2}" for n in range(40)]
    tables = {
        "train": ["id,weight,late", *rows],
        "sample_submission": ["id,late", "p1,0.5"],
        "test": ["id,weight", "p1,3"],
    }
    for name, lines in tables.items():
        written.file(f"challenge/prepared/public/{name}.csv", "\n".join(lines) + "\n")
    assert ingest(("challenge",)).supported[0].id == "late-parcels-challenge"


def test_the_error_of_the_example_is_the_one_that_comes(written):
    text = _example("yaml", "structure:").replace("binary", "binry").replace("0.04", "1.5")
    written.file("parcels.yaml", text)
    with pytest.raises(SeedError) as error:
        ingest(("parcels.yaml",))
    shown = next(body for kind, body in BLOCKS if not kind and "parcels.yaml" in body)
    assert str(error.value).splitlines() == shown.splitlines()
