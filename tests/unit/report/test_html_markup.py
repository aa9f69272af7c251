import json
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.report.html.markup import Markup, element, join, json_block

TEXTS = st.text(max_size=60) | st.sampled_from(
    ["</script><script>alert(1)</script>", "<!--", "]]>", '" onload="alert(1)', "&lt;", "a\u2028b", "'><svg/onload=x>"]
)


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def read(page: str) -> Seen:
    seen = Seen()
    seen.feed(page)
    seen.close()
    return seen


@settings(max_examples=20)
@given(TEXTS, TEXTS)
def test_text_stays_text_in_elements_and_attributes(text, title):
    seen = read(element("p", text, title=title, data_id=title))
    assert seen.tags == ["p"]
    assert seen.text == text
    assert seen.attributes == [("title", title), ("data-id", title)]


@settings(max_examples=20)
@given(st.recursive(TEXTS | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_no_data_ends_the_element_that_holds_it(data):
    block = json_block("data-x", data)
    assert "<" not in block.removeprefix("<script").removesuffix("</script>")
    seen = read(block)
    assert seen.tags == ["script"]
    assert json.loads(seen.text) == data


def test_markup_is_kept_and_joined_text_is_escaped():
    inner = element("b", "<x>")
    assert join([inner, "<y>"]) == "<b>&lt;x&gt;</b>&lt;y&gt;"
    assert element("p", inner, hidden=True, id=None, class_="c") == '<p hidden class="c"><b>&lt;x&gt;</b></p>'
    assert isinstance(join([]), Markup)
