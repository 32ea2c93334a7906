"""What does my deployment cost the planet?"""
