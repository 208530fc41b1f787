// Builds the widgets as an AMD module as well: VS Code looks for share/jupyter/nbextensions/<module>/index.js.
import { rspack } from '@rspack/core';
import path from 'node:path';

const options = {
  mode: 'production',
  entry: './amd-entry.js',
  devtool: false,
  module: { rules: [{ test: /\.css$/, type: 'asset/source' }] },
  output: { filename: 'index.js', path: path.resolve('../workbench/nbextension'), library: { type: 'amd' } },
  externals: ['@jupyter-widgets/base']
};

rspack(options, (error, stats) => {
  if (error || stats.hasErrors()) {
    console.error(error || stats.toString());
    process.exit(1);
  }
  console.log(stats.toString({ all: false, assets: true }));
});
