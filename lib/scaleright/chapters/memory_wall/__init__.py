"""Does our model fit, and on what?"""
