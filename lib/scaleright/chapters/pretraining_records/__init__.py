"""How fast, on how many chips and at what price have models been trained in public?"""
