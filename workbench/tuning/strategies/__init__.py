"""Search strategies: each proposes points of a space and receives their scores; none compiles, times or stores."""
