"""What does a million tokens cost us?"""
