"""Which accelerator should run my workload?"""
