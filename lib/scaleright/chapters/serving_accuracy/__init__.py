"""How far off are our serving estimates?"""
