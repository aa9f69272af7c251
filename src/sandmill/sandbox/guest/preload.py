"""Import the libraries once in the warm interpreter, so that runs need not.

No model is fitted here. A parallel region of OpenMP would hang the forks, which inherit its locks without its threads.
"""

from contextlib import suppress
from importlib import import_module

STANDARD = (
    "argparse asyncio collections concurrent.futures copy csv dataclasses datetime decimal email functools glob gzip"
    " hashlib heapq html http inspect io itertools json logging math multiprocessing multiprocessing.pool operator"
    " pathlib pickle pprint queue re shutil sqlite3 statistics string subprocess textwrap typing unittest uuid"
    " urllib.request warnings xml.etree.ElementTree zipfile"
)
LIBRARIES = (
    "numpy numpy.random numpy.linalg numpy.fft pandas polars pyarrow pyarrow.parquet pyarrow.csv joblib"
    " scipy scipy.stats scipy.optimize scipy.sparse scipy.special scipy.linalg scipy.signal scipy.interpolate"
    " scipy.spatial scipy.cluster.hierarchy scipy.ndimage"
    " sklearn sklearn.base sklearn.calibration sklearn.cluster sklearn.compose sklearn.covariance sklearn.decomposition"
    " sklearn.discriminant_analysis sklearn.dummy sklearn.ensemble sklearn.feature_extraction.text"
    " sklearn.feature_selection sklearn.gaussian_process sklearn.impute sklearn.inspection sklearn.isotonic"
    " sklearn.kernel_approximation sklearn.kernel_ridge sklearn.linear_model sklearn.manifold sklearn.metrics"
    " sklearn.mixture sklearn.model_selection sklearn.multiclass sklearn.multioutput sklearn.naive_bayes"
    " sklearn.neighbors sklearn.neural_network sklearn.pipeline sklearn.preprocessing sklearn.random_projection"
    " sklearn.semi_supervised sklearn.svm sklearn.tree sklearn.utils"
    " pandas.io.formats.csvs pandas.io.formats.format pandas.io.parsers pyarrow.pandas_compat pyarrow.vendored.version"
    " narwhals.stable.v2._namespace narwhals._pandas_like.dataframe narwhals._pandas_like.expr"
    " narwhals._pandas_like.namespace narwhals._interchange.dataframe"
    " PIL.Image PIL.ImageOps PIL.PngImagePlugin PIL.JpegImagePlugin lightgbm xgboost"
)


LOOKUPS = "narwhals.plugins:_discover_entrypoints pandas.io.common:_get_binary_io_classes"
"""Cached functions that find installed plug-ins. Libraries call them at the first table."""


def preload() -> None:
    """Import all modules that exist, and fill the caches. A missing module fails later, in the agent's code."""
    for name in f"{STANDARD} {LIBRARIES}".split():
        with suppress(ImportError):
            import_module(name)
    for place in LOOKUPS.split():
        name, _, question = place.partition(":")
        # Other versions of a library may lack the function.
        with suppress(ImportError, AttributeError):
            getattr(import_module(name), question)()
