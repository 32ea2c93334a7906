"""Should you buy an accelerator or rent it?"""
