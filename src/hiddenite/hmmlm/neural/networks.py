"""Small networks as functions on dictionaries of arrays: residual layers and the LSTM cell."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Array = jax.Array
Params = dict[str, Any]


def normal(rng: np.random.Generator, *size: int, scale: float | None = None) -> Array:
    """Draw weights; a product of two such vectors has about unit variance."""
    return jnp.asarray(rng.normal(size=size) * (1 / math.sqrt(size[-1]) if scale is None else scale))


def init_linear(rng: np.random.Generator, inputs: int, outputs: int) -> Params:
    """Return a linear map with variance preserved, and its bias."""
    return {"w": normal(rng, inputs, outputs, scale=1 / math.sqrt(inputs)), "b": jnp.zeros(outputs)}


def linear(params: Params, x: Array) -> Array:
    """X w + b."""
    return jnp.asarray(x @ params["w"] + params["b"])


def init_residual(rng: np.random.Generator, width: int, layers: int, *, silent: bool = False) -> Params:
    """Return the weights of :func:`residual`; a silent network gives zero until it is trained."""
    result: Params = {"in": init_linear(rng, width, width)}
    for i in range(layers):
        result[f"a{i}"] = init_linear(rng, width, width)
        result[f"b{i}"] = init_linear(rng, width, width)
    result["out"] = init_linear(rng, width, width)
    if silent:
        result["out"]["w"] = jnp.zeros((width, width))
    return result


def residual(params: Params, x: Array) -> Array:
    """x -> relu(in x), then x + relu(b relu(a x)) for each layer, normalised, then out."""
    x = jax.nn.relu(linear(params["in"], x))
    i = 0
    while f"a{i}" in params:
        x = x + jax.nn.relu(linear(params[f"b{i}"], jax.nn.relu(linear(params[f"a{i}"], x))))
        i += 1
    centred = x - x.mean(axis=-1, keepdims=True)
    normalised = centred * jax.lax.rsqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + 1e-5)
    return linear(params["out"], normalised)


def init_lstm(rng: np.random.Generator, width: int) -> Params:
    """Return one LSTM layer; the forget gate begins open."""
    cell = init_linear(rng, 2 * width, 4 * width)
    cell["b"] = cell["b"].at[width : 2 * width].set(1.0)
    return cell


def lstm_layer(params: Params, state: tuple[Array, Array], inputs: Array) -> tuple[Any, Array]:
    """Run a layer over inputs [B, T, H]; return the last (hidden, cell), and all that was hidden.

    The inputs' share of the gates does not wait for the recursion: one product for all steps.
    """
    width = inputs.shape[-1]
    gates = jnp.moveaxis(inputs @ params["w"][:width] + params["b"], 1, 0)
    recurrent = params["w"][width:]

    def step(before: tuple[Array, Array], given: Array) -> tuple[tuple[Array, Array], Array]:
        i, f, g, o = jnp.split(given + before[0] @ recurrent, 4, axis=-1)
        cell = jax.nn.sigmoid(f) * before[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    last, outputs = jax.lax.scan(step, state, gates)
    return last, jnp.moveaxis(outputs, 0, 1)


def dropout(key: Array | None, x: Array, rate: float) -> Array:
    """Set a share of x to zero and scale up the rest; without a key, leave all."""
    if key is None or rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0.0)
