"""What does pretraining a 7B model cost, and on what?"""
