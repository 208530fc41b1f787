// Builds the widgets as an AMD module as well: VS Code looks through share/jupyter/nbextensions/*/extension.js, which
// says where the module is.
import { copyFileSync } from 'node:fs';
import { rspack } from '@rspack/core';
import path from 'node:path';

const folder = path.resolve('../workbench/nbextension');

const options = {
  mode: 'production',
  entry: './amd-entry.js',
  devtool: false,
  module: { rules: [{ test: /\.css$/, type: 'asset/source' }] },
  output: { filename: 'index.js', path: folder, library: { type: 'amd' } },
  externals: ['@jupyter-widgets/base']
};

rspack(options, (error, stats) => {
  if (error || stats.hasErrors()) {
    console.error(error || stats.toString());
    process.exit(1);
  }
  copyFileSync('amd-extension.js', path.join(folder, 'extension.js'));
  console.log(stats.toString({ all: false, assets: true }));
});
