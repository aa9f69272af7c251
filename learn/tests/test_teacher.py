import ast
import re

import pytest

from sandmill.trainers.episode import last_script
from sandmill_learn.approaches import APPROACHES
from sandmill_learn.language import load_language
from sandmill_learn.teacher import pipelines, teacher_scripts

CASES = {
    "probability": ("binary", "roc_auc"),
    "label": ("binary", "mcc"),
    "class_probabilities": ("multiclass", "log_loss"),
    "label_probabilities": ("multilabel", "lwlrap"),
    "label_list": ("multilabel", "f1_samples"),
    "ranked_list": ("multiclass", "map_at_k"),
    "value": ("regression", "rmse"),
    "values": ("multi_target", "rmsle_columns"),
}
LANGUAGE = load_language()


def facts_of(form, *others):
    target, metric = CASES[form]
    return (f"form={form}", f"target={target}", f"metric={metric}", *others)


def source(script):
    return last_script(LANGUAGE.answer(script))


@pytest.mark.parametrize("form", CASES)
def test_every_approach_writes_a_script_of_30_to_65_fragments(form):
    for name, write in pipelines(LANGUAGE).items():
        script = write(facts_of(form))
        assert script[0] == "open", name
        assert script[-1] == "close", name
        assert 28 <= len(script) <= 66, (name, len(script))
        ast.parse(source(script))


@pytest.mark.parametrize("form", CASES)
def test_scripts_import_all_names_that_they_use_and_no_others(form):
    for script in set(teacher_scripts(LANGUAGE, facts_of(form))):
        tree = ast.parse(source(script))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        imports = {name for name in script if name.startswith("import.")}
        assert {LANGUAGE.imports[name] for name in used if name in LANGUAGE.imports} == imports


def test_no_name_is_bound_by_two_imports():
    bound = [name for each in LANGUAGE.fragments if each.name.startswith("import.") for name in _bound(each.text)]
    assert len(bound) == len(set(bound))


def _bound(text):
    return [alias.asname or alias.name for alias in ast.parse(text).body[0].names]


def test_approaches_differ_and_plain_ones_count_more():
    scripts = teacher_scripts(LANGUAGE, facts_of("probability"))
    assert len(set(scripts)) >= 0.95 * len(APPROACHES)
    assert len(APPROACHES) >= 40
    plain = pipelines(LANGUAGE)["plain_tree"](facts_of("probability"))
    assert scripts.count(plain) >= 2
    assert scripts[0] == pipelines(LANGUAGE)["linear"](facts_of("probability"))


def test_variations_follow_from_the_facts_and_use_most_fragments_that_are_not_wrong():
    one, two = facts_of("value", "rows=90-129"), facts_of("value", "rows=170+")
    assert teacher_scripts(LANGUAGE, one) == teacher_scripts(LANGUAGE, one) != teacher_scripts(LANGUAGE, two)
    facts = [(*facts_of(form, "text=yes", "child=yes"), f"rows={rows}") for form in CASES for rows in range(3)]
    seen = {name for each in facts for script in teacher_scripts(LANGUAGE, each) for name in script}
    assert len(seen) > 0.6 * len(LANGUAGE.fragments)
    assert not seen & {"read.train_here", "write.no_header", "features.leak_filled", "predict.on_train"}


def test_a_label_at_a_threshold_can_be_decided_in_several_ways():
    facts = facts_of("label")
    seen = {name for script in teacher_scripts(LANGUAGE, facts) for name in script}
    assert {"choice.threshold", "decide.best_mcc", "decide.label_share", "predict.one"} <= seen


def test_facts_add_what_files_need():
    plain = pipelines(LANGUAGE)["linear"](facts_of("value", "dates=no"))
    rich = pipelines(LANGUAGE)["linear"](
        facts_of("value", "dates=yes", "child=yes", "text=yes", "units=yes", "sentinels=yes")
    )
    added = {"dates.days", "events.read", "texts.tfidf", "text_numbers.units", "sentinels.nines"}
    assert not added & set(plain)
    assert added <= set(rich)


def test_units_by_site_are_converted_by_the_scripts_that_read_the_dictionary():
    chosen, linear = pipelines(LANGUAGE)["chosen"], pipelines(LANGUAGE)["linear"]
    assert "sites.dictionary" in chosen(facts_of("value", "dictionary=yes"))
    assert "sites.dictionary" not in chosen(facts_of("value", "dictionary=no"))
    assert "sites.dictionary" not in linear(facts_of("value", "dictionary=yes"))


DICTIONARY = """# Legend

Rows differ in the unit of `depth`; see their `boat`:

| boat | unit | recorded as |
|---|---|---|
| Old Anna | metres | metres |
| Berta | feet | metres times 3.28 |
| Cilly | odd | metres times 2 minus 5 |
| Dora | odd | metres plus 1.5 |
"""


def test_the_dictionary_fragment_converts_to_the_first_unit():
    pd = pytest.importorskip("pandas")
    boats = ["Old Anna", "Berta", "Cilly", "Dora"]
    table = pd.DataFrame({"boat": boats, "depth": [10.0, 32.8, 15.0, 11.5]})
    names = {"re": re, "dictionary": DICTIONARY, "X": table.copy(), "X_test": table.copy()}
    exec(LANGUAGE.text(["sites.dictionary"]), names)
    assert names["X"]["depth"].tolist() == pytest.approx([10.0] * 4)
    assert names["X_test"]["depth"].tolist() == pytest.approx([10.0] * 4)


def test_metrics_decide_how_a_script_ends():
    write = pipelines(LANGUAGE)["linear"]
    assert "choice.threshold" in write(("form=label", "target=binary", "metric=f1"))
    assert "choice.threshold" not in write(("form=label", "target=multiclass", "metric=accuracy"))
    assert "balanced" in write(("form=label", "target=multiclass", "metric=f1_macro"))
    assert "wrap.log_target" in write(("form=value", "target=count", "metric=rmsle"))
    assert "decide.cut_grades" in write(("form=label", "target=ordinal", "metric=qwk"))
    assert "model.logistic" in write(("form=class_probabilities", "target=ordinal", "metric=log_loss"))
