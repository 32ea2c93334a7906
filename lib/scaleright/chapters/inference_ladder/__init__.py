"""What will optimizing our inference save?"""
