"""What a task asks for, derived from its design."""

from sandmill.metrics import encoding_for
from sandmill.models.mechanism import GaussianLink, Link, MulticlassLink
from sandmill.models.package import Brief
from sandmill.models.spec import TaskSpec

ID_COLUMN = "id"


def brief_of(spec: TaskSpec) -> Brief:
    """State id, target, metric and the form of a submission."""
    encoding = encoding_for(spec.target, spec.metric)
    classes = class_names(spec.mechanism.link)
    return Brief(
        id_column=ID_COLUMN,
        target_column=spec.story.target,
        target=spec.target,
        metric=spec.metric,
        encoding=encoding,
        classes=classes,
        submission_columns=classes if encoding == "class_probabilities" else (spec.story.target,),
    )


def class_names(link: Link) -> tuple[str, ...]:
    """Class names in the order of the link's codes, empty for numbers."""
    match link:
        case MulticlassLink(classes=classes):
            return classes
        case GaussianLink():
            return ()
        case _:
            return ("0", "1")
