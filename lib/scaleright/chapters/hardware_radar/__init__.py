"""Which hardware should I bet on?"""
