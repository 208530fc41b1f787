// VS Code reads this file, and never runs it, for the one mapping in it: the module that a widget names -> where the
// AMD build of it lies beside this file. It takes what stands between the innermost braces.
define(() => {
  require.config({ map: { '*': { 'stencil-workbench': 'nbextensions/stencil-workbench/index' } } });
  return { load_ipython_extension() {} };
});
