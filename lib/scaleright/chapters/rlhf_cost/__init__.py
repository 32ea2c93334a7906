"""What does post-training cost?"""
