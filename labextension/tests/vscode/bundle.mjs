// Builds both halves of the page that stands in for VS Code, into the folder named by the first argument.
import { rspack } from '@rspack/core';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const options = {
  mode: 'development',
  context: here,
  entry: { host: './host.js', webview: './webview.js' },
  devtool: false,
  output: { filename: '[name].js', path: path.resolve(process.argv[2]) }
};

rspack(options, (error, stats) => {
  if (error || stats.hasErrors()) {
    console.error(error || stats.toString());
    process.exit(1);
  }
});
