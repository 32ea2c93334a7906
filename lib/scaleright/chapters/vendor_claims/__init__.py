"""Is that vendor's 35x true?"""
