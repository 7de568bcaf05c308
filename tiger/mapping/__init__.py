"""Tasks onto hardware: graphs and options in, a report out; read `mapper.py` first.

`entry` has the public function, `request` its options, `hardware` what a job runs on, `portfolio` and `sampler_policy`
what each solver consists of.
"""
