// The version of the package; a test keeps it equal to the Python one.

export const MODULE = 'stencil-workbench';
export const VERSION = '0.1.0';
