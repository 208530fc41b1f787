"""Plans with one thing changed, for checks that must notice it."""

from dataclasses import replace


def with_step(plan, variant="plain", **changes):
    """The plan with some entries of one step of its only kernel changed."""
    kernel = plan.kernels[0]
    step = replace(getattr(kernel, variant), **changes)
    same = not kernel.has_diagnostics
    kernel = replace(kernel, plain=step, observed=step) if same else replace(kernel, **{variant: step})
    return replace(plan, kernels=(kernel,))


def with_loop(plan, number, variant="plain", **changes):
    loops = list(getattr(plan.kernels[0], variant).subkernels)
    loops[number] = replace(loops[number], **changes)
    return with_step(plan, variant, subkernels=tuple(loops))


def with_storage(plan, node, storage):
    kernel = plan.kernels[0]
    changed = (*kernel.storage[:node], storage, *kernel.storage[node + 1 :])
    return replace(plan, kernels=(replace(kernel, storage=changed),))
