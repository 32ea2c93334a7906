"""What does an accelerator-hour cost, and where is it cheapest?"""
