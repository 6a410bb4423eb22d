"""The pages, one file each: they print what the view models say."""
