import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.report.html.figure import Figure
from sandmill.report.html.page import PageHead, Section, render_page

TEXTS = st.text(max_size=60) | st.sampled_from(
    ["</script><script>alert(1)</script>", "<!--", "]]>", '" onload="alert(1)', "&lt;", "a\u2028b", "'><svg/onload=x>"]
)
HEAD = PageHead(dataset="micro", version="0001-ab12cd34", edition="public")


class Seen(HTMLParser):
    """The tags of a page, and the texts within each kind of element."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.texts.setdefault(tag, []).append("")

    def handle_data(self, data):
        if self.tags:
            self.texts[self.tags[-1]][-1] += data


def read(section: Section, head: PageHead = HEAD) -> Seen:
    seen = Seen()
    seen.feed(render_page(head, [section]))
    seen.close()
    return seen


def build_of(text: str) -> Section:
    rows = ((text, 2), (text, 1))
    figures = [
        Figure(id=name, title=text, note=text or "-", sql=text, columns=(text, "count"), rows=rows)
        for name in ("funnel", "rejections")
    ]
    return Section(id="build", title="Build", figures=tuple(figures))


@settings(max_examples=20)
@given(TEXTS)
def test_text_stays_text_in_elements_and_attributes(text):
    seen, plain = read(build_of(text), HEAD.model_copy(update={"headline": (text,)})), read(build_of("text"))
    assert seen.tags == [*plain.tags[: plain.tags.index("header")], *seen.tags[seen.tags.index("header") :]]
    assert sorted(seen.tags) == sorted([*plain.tags, "p"])
    shown = text.replace("\r\n", "\n").replace("\r", "\n")
    assert {one.replace("\r\n", "\n").replace("\r", "\n").strip() for one in seen.texts["figcaption"]} == {
        shown.strip()
    }
    assert ("data-label", text.replace("_", " ")) in seen.attributes


@settings(max_examples=20)
@given(st.recursive(TEXTS | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_no_data_ends_the_element_that_holds_it(data):
    seen = read(Section(id="map", title="Map", data=[data], blocks={"detail-x": data}))
    whole, block, _program = seen.texts["script"]
    assert "<" not in whole + block
    assert (json.loads(whole), json.loads(block)) == ([data], data)


def test_a_number_that_is_not_finite_is_an_error_and_not_json_that_browsers_refuse():
    with pytest.raises(ValueError, match="not JSON compliant"):
        read(Section(id="map", title="Map", data=[float("nan")]))


def test_bars_are_as_long_as_their_numbers_and_numbers_are_set_flush_right():
    rows = (("off_band", 3), ("no_rows", 1), ("other", None))
    figure = Figure(id="funnel", title="Funnel", sql="", columns=("step", "number"), rows=rows)
    assert figure.shares == [100.0, 33.33, 0.0]
    seen = read(Section(id="build", title="Build", figures=(figure, figure.model_copy(update={"id": "costs"}))))
    assert {("width", "33.33%"), ("class", "number")} <= set(seen.attributes)
    assert [text.strip() for text in seen.texts["td"]] == ["off_band", "3", "no_rows", "1", "other", "-"]
    assert seen.texts["span"][2:4] == ["off band", "3"]
