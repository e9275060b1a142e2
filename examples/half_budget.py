# A scheme of private training: from a plan and a claimed budget to standard deviations.
# Add to workflow/reproduction/experiments/schemes/gradients.py, below SCHEMES = {
#     "half_budget": Scheme(lambda plan, epsilon, delta: _analytic(plan, epsilon / 2, delta)),
# Add to config.yaml:
#     training:
#       adult:
#         schemes: [half_budget]
# Run: snakemake results/tables/imgm_adult.md
"""Private training with half of the claimed budget."""
