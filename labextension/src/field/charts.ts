// Charts that the kernel process drew, put on the page. Knows no kernel.

import { element } from '../element';
import type { ChartDrawing } from '../kernel/protocol';

/** Show these charts, each with words for those who do not see it. */
export function showCharts(node: HTMLElement, charts: readonly ChartDrawing[]): void {
  node.replaceChildren(
    ...charts.map(chart => {
      const figure = element('div', 'swb-chart');
      figure.setAttribute('role', 'img');
      figure.setAttribute('aria-label', chart.words);
      const parsed = new DOMParser().parseFromString(chart.svg, 'image/svg+xml').documentElement;
      parsed.setAttribute('aria-hidden', 'true');
      parsed.removeAttribute('role');
      figure.append(document.importNode(parsed, true));
      return figure;
    })
  );
}
