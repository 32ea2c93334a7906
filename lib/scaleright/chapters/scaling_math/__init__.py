"""What does one token cost, in FLOPs, bytes and seconds?"""
