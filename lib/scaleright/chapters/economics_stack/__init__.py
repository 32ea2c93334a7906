"""What is our bill made of?"""
