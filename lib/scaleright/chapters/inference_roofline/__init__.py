"""How many requests should we serve at once?"""
