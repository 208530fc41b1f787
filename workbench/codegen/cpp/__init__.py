"""C++ with OpenMP: records of a kernel's plan, templates that render them, and export as a C library."""
