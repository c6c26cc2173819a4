"""ln p(words) of a batch of sentences, and its gradient from edge marginals.

The forward recursion runs in probabilities and is scaled at each step: with blocks A of transitions between
the sets of two neighbouring words, and emissions e,

    a_t = (alpha_{t-1} A_t) * e_t,    c_t = sum a_t,    alpha_t = a_t / c_t,    ln p = sum_t ln c_t.

Its gradient needs no differentiation through the recursion. The derivative of ln p by ln A_t(i, j) is the
edge marginal p(z_{t-1} = i, z_t = j | words) (Chiu & Rush 2020, appendix B), so that by A_t(i, j) is

    alpha_{t-1}(i) * e_t(j) * beta_t(j) / c_t,    beta_{t-1} = A_t (e_t * beta_t) / c_t.

One backward pass over the kept alphas gives it; where neighbouring words have the same pair of sets, the
marginals add up. Cost: O(T k^2) a sentence for k states a word.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

Array = jax.Array
FEW_BLOCKS = 16


def _steps(emit: Array, pair: Array, mask: Array) -> tuple[Array, Array, Array]:
    """Put time first."""
    return jnp.moveaxis(emit, 1, 0), pair.T, mask.T


def _forward(first: Array, blocks: Array, emit: Array, pair: Array, mask: Array) -> tuple[Array, Any]:
    def step(alpha: Array, inputs: tuple[Array, Array, Array]) -> tuple[Array, Any]:
        e, p, m = inputs
        predicted = jnp.einsum("bi,bij->bj", alpha, blocks[p])
        joint = predicted * e
        scale = jnp.where(m, joint.sum(axis=1), 1.0)
        after = jnp.where(m[:, None], joint / scale[:, None], alpha)
        return after, (alpha, predicted, scale)

    return jax.lax.scan(step, first, _steps(emit, pair, mask))


@jax.custom_vjp
def log_evidence(first: Array, blocks: Array, emit: Array, pair: Array, mask: Array) -> tuple[Array, Array]:
    """Return ln p, [B], and the last alpha, [B, k], which carries no gradient.

    ``first`` [B, k]: alpha before the first word; ``blocks`` [P, k, k]; ``emit`` [B, T, k]; ``pair`` [B, T]:
    the block that leads to each word; ``mask`` [B, T]: whether there is a word.
    """
    last, (_, _, scale) = _forward(first, blocks, emit, pair, mask)
    return jnp.log(scale).sum(axis=0), last


def _log_evidence_forward(first: Array, blocks: Array, emit: Array, pair: Array, mask: Array) -> Any:
    last, (alphas, predicted, scale) = _forward(first, blocks, emit, pair, mask)
    kept = (blocks, emit, pair, mask, alphas, predicted, scale)
    return (jnp.log(scale).sum(axis=0), last), kept


def _add_edges(blocks: Array, pair: Array, left: Array, right: Array) -> Array:
    """Add left x right, [N, k] each, to the block of each; few blocks are better served by products."""
    if blocks.shape[0] > FEW_BLOCKS:
        return jnp.zeros_like(blocks).at[pair].add(left[:, :, None] * right[:, None, :])
    mine = pair == jnp.arange(blocks.shape[0])[:, None]
    return jax.vmap(lambda chosen: jnp.where(chosen[:, None], left, 0.0).T @ right)(mine)


def _log_evidence_backward(kept: Any, cotangents: tuple[Array, Array]) -> Any:
    blocks, emit, pair, mask, alphas, predicted, scale = kept
    weight = cotangents[0]

    def step(beta: Array, inputs: Any) -> tuple[Array, Any]:
        e, p, m, before, c = inputs
        scaled = jnp.where(m[:, None], beta / c[:, None], 0.0)
        right = e * scaled
        earlier = jnp.einsum("bij,bj->bi", blocks[p], right)
        return jnp.where(m[:, None], earlier, beta), (right, before * scaled)

    ones = jnp.ones_like(alphas[0])
    inputs = (*_steps(emit, pair, mask), predicted, scale)
    beta, (right, of_emit) = jax.lax.scan(step, ones, inputs, reverse=True)
    left = weight[None, :, None] * alphas
    of_blocks = _add_edges(blocks, pair.T.reshape(-1), *(x.reshape(-1, x.shape[-1]) for x in (left, right)))
    of_emit = jnp.moveaxis(of_emit * weight[None, :, None], 0, 1)
    of_first = jnp.where(mask.any(axis=1)[:, None], beta * weight[:, None], 0.0)  # a row without words is 1
    return of_first, of_blocks, of_emit, None, None


log_evidence.defvjp(_log_evidence_forward, _log_evidence_backward)


def plain_log_evidence(first: Array, blocks: Array, emit: Array, pair: Array, mask: Array) -> Array:
    """ln p as above for automatic differentiation: the judge of the gradient."""
    _, (_, _, scale) = _forward(first, blocks, emit, pair, mask)
    return jnp.log(scale).sum(axis=0)
