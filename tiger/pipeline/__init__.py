"""Networks on GPU clusters: layers onto pipeline stages, stages and groups onto devices."""
