"""Honest scripts over tables, arrays and models, as far as they keep to one process."""

LIBRARIES = {
    "numpy": """
import numpy as np
data = np.genfromtxt("public/train.csv", delimiter=",", skip_header=1)
w, *_ = np.linalg.lstsq(data[:, 1:3], data[:, 3], rcond=None)
np.savetxt("submission.csv", np.round(w, 6))
""",
    "numpy generators": """
import numpy as np, random
np.random.seed(7); random.seed(7)
values = [np.random.rand(), np.random.default_rng(3).normal(), random.random()]
open("submission.csv", "w").write(repr([float(v) for v in values]))
""",
    "hash order": """
open("submission.csv", "w").write(",".join({f"column_{i}" for i in range(50)}))
""",
    "pandas": """
import pandas as pd
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
test["label"] = (test.a > train.a.mean()).astype(int)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "pandas groupby and dates": """
import pandas as pd
t = pd.read_csv("public/train.csv")
t["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(t.id, unit="D")
t.groupby(t.day.dt.month).b.agg(["mean", "size"]).round(6).to_csv("submission.csv")
""",
    "polars": """
import polars as pl
t = pl.read_csv("public/train.csv")
t.group_by("label").agg(pl.col("a").mean().round(6)).sort("label").write_csv("submission.csv")
""",
    "polars lazy": """
import polars as pl
lazy = pl.scan_csv("public/train.csv").filter(pl.col("a") > 0).select("id", "b").sort("id")
lazy.collect().write_csv("submission.csv")
""",
    "pyarrow and parquet": """
import pyarrow.csv as pc, pyarrow.parquet as pq, pyarrow.compute as c
pq.write_table(pc.read_csv("public/train.csv"), "train.parquet")
t = pq.read_table("train.parquet")
open("submission.csv", "w").write(f"{c.sum(t['a']).as_py():.6f} {t.num_rows}")
""",
    "pandas parquet": """
import pandas as pd
pd.read_csv("public/train.csv").to_parquet("t.parquet")
pd.read_parquet("t.parquet").to_csv("submission.csv", index=False)
""",
    "scipy": """
import pandas as pd
from scipy import stats, optimize
t = pd.read_csv("public/train.csv")
r = stats.spearmanr(t.a, t.b).statistic
m = optimize.minimize_scalar(lambda x: ((t.a - x) ** 2).sum()).x
open("submission.csv", "w").write(f"{r:.6f} {m:.4f}")
""",
    "logistic regression": """
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "histogram boosting": """
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "forest on all processors": """
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = RandomForestClassifier(30, n_jobs=-1, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "grid search in processes": """
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
train = pd.read_csv("public/train.csv")
search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, n_jobs=2, cv=3)
search.fit(train[["a", "b"]], train.label)
open("submission.csv", "w").write(f"{search.best_params_} {search.best_score_:.6f}")
""",
    "nearest neighbours and imputing": """
import pandas as pd
from sklearn.impute import KNNImputer
from sklearn.neighbors import KNeighborsRegressor
train = pd.read_csv("public/train.csv")
x = train[["a", "b"]].mask(train[["a", "b"]] > 1.5)
model = KNeighborsRegressor(3).fit(KNNImputer().fit_transform(x), train.label)
open("submission.csv", "w").write(f"{model.predict([[0.0, 0.0]])[0]:.6f}")
""",
    "k-means with threads": """
import pandas as pd
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
train = pd.read_csv("public/train.csv")
with threadpool_limits(2):
    inertia = KMeans(3, n_init=2, random_state=0).fit(train[["a", "b"]]).inertia_
open("submission.csv", "w").write(f"{inertia:.4f}")
""",
    "lightgbm": """
import pandas as pd, lightgbm as lgb
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = lgb.LGBMClassifier(n_estimators=10, verbose=-1, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "lightgbm with threads": """
import pandas as pd, lightgbm as lgb
train = pd.read_csv("public/train.csv")
data = lgb.Dataset(train[["a", "b"]], train.label)
parameters = {"objective": "binary", "num_threads": 2, "verbose": -1, "deterministic": True}
booster = lgb.train(parameters, data, 5)
open("submission.csv", "w").write(f"{booster.predict(train[['a', 'b']]).mean():.6f}")
""",
    "xgboost": """
import pandas as pd
from xgboost import XGBClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = XGBClassifier(n_estimators=10, n_jobs=2).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].astype(float).round(5)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "pillow": """
from PIL import Image
picture = Image.new("L", (8, 8), 40); picture.putpixel((1, 1), 255); picture.save("p.png")
open("submission.csv", "w").write(str(sum(Image.open("p.png").getdata())))
""",
    "joblib dump": """
import joblib
joblib.dump({"a": list(range(10))}, "model.joblib", compress=3)
open("submission.csv", "w").write(str(joblib.load("model.joblib")))
""",
}
