"""The effects of all objects, including the reference, on which priors are put."""

from __future__ import annotations

import math

import numpy as np
import patsy

from ..core.columns import FloatArray
from .coding import Codings, contrast_rows
from .design import Design


def object_gram(codings: Codings, design: Design) -> FloatArray:
    """Return G with θᵀGθ = Σ (e − ē)² over the effects e of all J objects, shape (p, p).

    For each term, the effects are taken at one value of its covariates, less their mean over the objects. So G does not
    depend on the reference object. Effects of a numeric covariate are taken at its largest absolute value in the table.
    Coefficients that are not effects of objects have rows of 0 in G.
    """
    size = len(codings.table.comparisons.objects)
    total, start = np.zeros((len(design.names), len(design.names))), 0
    coding, largest = codings.blocks["worth"], largest_values(design)
    terms = {patsy.Term([f.factor for f in term.factors]): term for term in codings.formula.worth}
    for term, subterms in ({} if coding.info is None else coding.info.term_codings).items():
        if term not in terms:
            continue
        objects = {f.factor for f in terms[term].factors if f.variables == {"object"}}
        for subterm in subterms:
            widths = [_width(coding.info, subterm, factor) for factor in subterm.factors]
            columns = np.arange(start, start + math.prod(widths))
            start += len(columns)
            for place, factor in enumerate(subterm.factors):
                contrast = subterm.contrast_matrices.get(factor)
                if factor in objects and contrast is not None and contrast.matrix.shape[0] == size:
                    effects = contrast_rows(contrast.matrix, np.arange(size)).toarray()
                    effects -= effects.mean(axis=0)
                    grid = np.moveaxis(columns.reshape(widths[::-1]), len(widths) - 1 - place, -1)  # leftmost fastest
                    for same in grid.reshape(-1, widths[place]):
                        total[np.ix_(same, same)] += largest[same].max() ** 2 * (effects.T @ effects)
    return total


def largest_values(design: Design) -> FloatArray:
    """Return the largest absolute value of each column in the table, shape (p,); 1 for columns of 0."""
    blocks = (design.worth, design.order, *design.shared.values())
    largest = np.max([rows.matrix.largest() for rows in blocks], axis=0)
    return np.where(largest > 0, largest, 1.0)


def _width(info: patsy.DesignInfo, subterm: patsy.SubtermInfo, factor: patsy.EvalFactor) -> int:
    contrast = subterm.contrast_matrices.get(factor)
    return int(info.factor_infos[factor].num_columns if contrast is None else contrast.matrix.shape[1])
