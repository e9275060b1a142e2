"""What is done with a release, and how often: tasks, readings, schemes and training."""
