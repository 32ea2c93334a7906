"""What does a day, with its nights and bursts, do to cost and latency?"""
