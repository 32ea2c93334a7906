"""How big a model, on how many tokens, for our budget?"""
