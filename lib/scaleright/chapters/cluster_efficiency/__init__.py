"""How many chips, and when does the next one stop paying?"""
