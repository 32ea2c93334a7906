"""What does an experiment cost, and which platform makes a study cheapest?"""
