"""How much faster is each generation, per chip, on my kind of model?"""
