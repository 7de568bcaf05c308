"""Maps from slots to experts as files of serving systems: EPLB, vLLM, SGLang, vllm-ascend and ExFlow.

In: an expert map (`expert_map.py`). Out: the content of a file, and what reading one says. Read `formats.py` first.
Megatron-LM has no such file: its rank r holds experts r * E / ranks onwards, in order and without replicas.
"""
