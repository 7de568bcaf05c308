"""Plans as text for training and serving systems: Megatron-LM, DeepSpeed, vLLM, SGLang, llama.cpp, torch.

In: a `deployment`, the plan with its model and cluster. Out: text, and what parsing it again says. Read `formats.py`
first, then the module of a system; `experts` has maps of experts.
"""
