"""What should we buy, rent or call for our workload?"""
