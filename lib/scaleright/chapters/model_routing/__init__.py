"""What does "use the smallest model that works" save?"""
