"""The loss of single training examples, from the outputs for them as test examples."""

from dataclasses import replace

from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

from reproduction.experiments.training.models import GraphNetwork


def losses(model, params, lot):
    """Return the cross-entropy of the training examples with the indices ``lot``."""
    if isinstance(model, GraphNetwork):
        tested = replace(model, test_rows=model.rows[lot])
    else:
        tested = replace(model, test_inputs=model.inputs[lot])
    return cross_entropy(tested.logits(params), model.labels[lot])
