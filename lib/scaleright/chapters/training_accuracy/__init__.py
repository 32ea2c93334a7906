"""How far off are our training estimates?"""
