"""A language of a few fragments and a set of two tasks, for tests of training."""

from dataclasses import dataclass

try:
    from sandmill.learning.language import Fragment, Language
except ImportError:
    from sandmill.models.base import Frozen

    class Fragment(Frozen):
        name: str
        text: str
        group: str

    @dataclass(frozen=True)
    class Language:
        fragments: tuple

        def text(self, names):
            by = {f.name: f.text for f in self.fragments}
            return "".join(by[n] for n in names)


FACTS = ("metric=rmse", "metric=auc", "rows=50-99", "rows=100-149", "form=numbers")
TEXTS = {
    "open": "```python\n",
    "load": "import pandas as pd\n\ntrain = pd.read_csv('public/train.csv')\n",
    "fit_tree": "model = fit_tree(train)\n",
    "fit_linear": "model = fit_linear(train)\n",
    "write": "write(model)\n",
    "close": "```\n",
}


def toy_language():
    return Language(fragments=tuple(Fragment(name=name, text=text, group="all") for name, text in TEXTS.items()))
