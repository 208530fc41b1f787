// The AMD module: the widgets, and their style sheets put into the page, which there nobody else does.
import field from './style/field.css';
import pane from './style/pane.css';
import views from './style/index.css';

const node = document.createElement('style');
node.textContent = [views, field, pane].join('\n');
document.head.append(node);

export * from './lib/widgets.js';
