"""Experts of mixture-of-experts models on GPUs: where they and their replicas go."""
