"""The section with the map of tasks, and the list of nearest tasks on the page of each."""

from sandmill.report.html.markup import element
from sandmill.report.html.page import Section, asset
from sandmill.report.similarity import TaskMap

NOTE = (
    "Tasks near each other have similar words in their prompts, and the same modality, target, metric and split: the "
    "first two principal components of these features, computed by sandmill.report.similarity. Only public facts count."
)


def map_section(placed: TaskMap) -> Section:
    """Write the map of tasks. Tasks are in the order of the list."""
    html = element(
        "div",
        element("p", NOTE, class_="faint"),
        element("div", "", id="map"),
        element("p", "", id="mapped", class_="faint"),
    )
    return Section(
        id="map", title="Map of tasks", html=html, data=placed.model_dump(mode="json"), script=asset("map.js")
    )
