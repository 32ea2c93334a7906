"""Is a hardware bet a bet on model architecture?"""
