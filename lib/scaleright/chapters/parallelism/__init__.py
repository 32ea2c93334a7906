"""How should we split our training run?"""
