"""Derive the facts of a task from its design."""

from sandmill.models.links import NumbersLink, class_names
from sandmill.models.package import LIST_LENGTH, TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.scoring import encoding_for
from sandmill.scoring.forms import form_of


def task_facts(spec: TaskSpec) -> TaskFacts:
    """Return id column, target, metric and answer form of a design."""
    encoding, link = spec.kind.form or encoding_for(spec.target, spec.metric), spec.mechanism.link
    classes = class_names(link)
    facts = TaskFacts(
        id_column=spec.channel.column if spec.channel and spec.kind.ids == "item" else spec.kind.id_column,
        target_column=spec.story.target,
        target=spec.target,
        metric=spec.metric,
        encoding=encoding,
        classes=classes,
        submission_columns=link.names if isinstance(link, NumbersLink) else (spec.story.target,),
        kind=spec.kind.name,
        list_length=min(LIST_LENGTH, 1 + len(classes) // 3) if encoding == "ranked_list" else None,
        shape=spec.channel.target_shape if spec.channel else None,
    )
    return facts.model_copy(update={"submission_columns": form_of(facts).submission_columns(facts)})
