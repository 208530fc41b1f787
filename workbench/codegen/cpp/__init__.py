"""C++ with OpenMP: a kernel's plan as records, the templates that give them shape, and export as a C library."""
