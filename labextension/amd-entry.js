// The AMD module: the widgets, and their style sheets put into the page, which there nobody else does.
import field from './style/field.css';
import listing from './style/listing.css';
import pane from './style/pane.css';
import views from './style/index.css';
import vscode from './style/vscode.css';

const node = document.createElement('style');
node.textContent = [views, field, listing, pane, vscode].join('\n');
document.head.append(node);

export * from './lib/widgets.js';
