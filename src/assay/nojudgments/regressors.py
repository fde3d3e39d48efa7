"""MODELS: the regressions of scikit-learn that can be trained, by name, and what each of them learnt as plain numbers.

Each makes an estimator; its fact `form` takes the fitted estimator apart. Needs scikit-learn, the extra `learn`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import MissingExtra
from assay.core.registry import Registry, Within
from assay.nojudgments.model_forms import Forest, Form, KernelSum, Network, RegressionTree, WeightedSum

MODELS: Registry[Callable[..., Any]] = Registry("model")
"""Registered with `form`: fitted estimator and the features it was fitted to → its form."""


def _weighted_sum(fitted: Any, features: Floats) -> Form:
    return WeightedSum(float(fitted.intercept_), np.asarray(fitted.coef_, dtype=np.float64))


def _support_vectors(fitted: Any, features: Floats) -> Form:
    return KernelSum(
        kernel=fitted.kernel,
        gamma=_scale(features),
        degree=fitted.degree,
        offset=fitted.coef0,
        vectors=np.asarray(fitted.support_vectors_, dtype=np.float64),
        weights=np.asarray(fitted.dual_coef_[0], dtype=np.float64),
        intercept=float(fitted.intercept_[0]),
    )


def _all_vectors(fitted: Any, features: Floats) -> Form:
    weights = np.asarray(fitted.dual_coef_, dtype=np.float64)
    return KernelSum("rbf", float(fitted.gamma), 0, 0.0, features, weights, 0.0)


def _layers(fitted: Any, features: Floats) -> Form:
    return Network(tuple(fitted.coefs_), tuple(fitted.intercepts_))


def _forest(fitted: Any, features: Floats) -> Form:
    return Forest(tuple(_tree(estimator.tree_) for estimator in fitted.estimators_))


def _tree(nodes: Any) -> RegressionTree:
    # scikit-learn marks a leaf by a child of −1, and the feature it would ask for by −2.
    is_leaf = nodes.children_left < 0
    return RegressionTree(
        feature=np.where(is_leaf, -1, nodes.feature),
        threshold=np.where(is_leaf, 0.0, nodes.threshold),
        at_most=np.where(is_leaf, 0, nodes.children_left),
        above=np.where(is_leaf, 0, nodes.children_right),
        value=np.asarray(nodes.value[:, 0, 0], dtype=np.float64),
    )


def _scale(features: Floats) -> float:
    """γ of scikit-learn's gamma="scale": 1/(features · variance)."""
    variance = float(features.var())
    return 1 / (features.shape[1] * variance) if variance > 0 else 1.0


@MODELS.register("linear", form=_weighted_sum)
def linear() -> Any:
    """Least squares."""
    return sklearn("linear_model").LinearRegression()


@MODELS.register("ridge", form=_weighted_sum)
def ridge(*, alpha: Annotated[float, Within(0)] = 1.0) -> Any:
    """Least squares with a penalty on the squares of the coefficients."""
    return sklearn("linear_model").Ridge(alpha=alpha)


@MODELS.register("bayesian-ridge", form=_weighted_sum)
def bayesian_ridge() -> Any:
    """Least squares with a penalty that is itself learnt from the data."""
    return sklearn("linear_model").BayesianRidge()


@MODELS.register("lasso", form=_weighted_sum)
def lasso(*, alpha: Annotated[float, Within(0, open=True)] = 0.001) -> Any:
    """Least squares with a penalty on the sizes of the coefficients, which makes many of them 0.

    With alpha=1, scikit-learn's own default, no coefficient of features in [0, 1] would be left.
    """
    return sklearn("linear_model").Lasso(alpha=alpha, max_iter=10_000)


@MODELS.register("random-forest", form=_forest)
def random_forest(*, trees: Annotated[int, Within(1)] = 100, seed: Annotated[int, Within(0)] = 0) -> Any:
    """Mean of regression trees grown on resampled rows."""
    return sklearn("ensemble").RandomForestRegressor(n_estimators=trees, random_state=seed)


@MODELS.register("svr", form=_support_vectors)
def svr(*, c: Annotated[float, Within(0, open=True)] = 1.0, nu: Annotated[float, Within(1e-6, 1)] = 0.5) -> Any:
    """ν-support vector regression with a radial kernel, the best of those tried by Roitero 2020 (there SVM-E)."""
    return sklearn("svm").NuSVR(kernel="rbf", C=c, nu=nu)


@MODELS.register("svr-poly", form=_support_vectors)
def svr_poly(
    *,
    c: Annotated[float, Within(0, open=True)] = 1.0,
    nu: Annotated[float, Within(1e-6, 1)] = 0.5,
    degree: Annotated[int, Within(1, 10)] = 3,
) -> Any:
    """ν-support vector regression with a polynomial kernel (SVM-P of Roitero 2020)."""
    return sklearn("svm").NuSVR(kernel="poly", C=c, nu=nu, degree=degree)


@MODELS.register("kernel-ridge", form=_all_vectors)
def kernel_ridge(
    *, alpha: Annotated[float, Within(0, open=True)] = 1.0, gamma: Annotated[float, Within(0, open=True)] = 1.0
) -> Any:
    """Ridge regression with a radial kernel; needs memory for the square of the number of rows."""
    return sklearn("kernel_ridge").KernelRidge(kernel="rbf", alpha=alpha, gamma=gamma)


@MODELS.register("neural", form=_layers)
def neural(
    *,
    layers: Annotated[int, Within(1, 8)] = 1,
    units: Annotated[int, Within(1, 1024)] = 16,
    epochs: Annotated[int, Within(1, 10_000)] = 100,
    seed: Annotated[int, Within(0)] = 0,
) -> Any:
    """A network of fully connected layers, each half as wide as the one before and the last `units` wide (NN, DNN)."""
    widths = [units * 2**above for above in reversed(range(layers))]
    make = sklearn("neural_network").MLPRegressor
    return make(hidden_layer_sizes=widths, max_iter=epochs, random_state=seed)


def sklearn(part: str) -> Any:
    """A module of scikit-learn; an error that says what to install where it is not there."""
    import importlib

    try:
        return importlib.import_module(f"sklearn.{part}")
    except ImportError:
        raise MissingExtra("scikit-learn", "learn") from None
