import { formatRatio } from './report.ts';
import type { Measured } from './rounds.ts';
import { bare, service } from './subjects.ts';

const heading = 'Requests per second, as a share of a bare node:http server’s';
const width = 760;
const labelWidth = 290;
const rightMargin = 70;
const barHeight = 16;
const barGap = 6;
const groupGap = 34;
const top = 56;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .group { font-weight: 600 }
  .axis { stroke: #d1d9e0 }
  .bar { fill: #afb8c1 }
  .own { fill: #0969da }
  .spread { stroke: #1f2328; stroke-opacity: 0.55 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .axis { stroke: #3d444d }
    .bar { fill: #59636e }
    .own { fill: #4493f8 }
    .spread { stroke: #e6edf3 }
  }`;

/** Bars of each server's ratio to the bare server, a group for each scenario; thin lines show min and max. */
export function drawPlot(measured: readonly Measured[]): string {
  const shown = measured.filter(({ subject }) => subject !== bare.name);
  const largest = Math.max(1, ...shown.map(({ ratio }) => ratio.max));
  const toX = (ratio: number) => labelWidth + ((width - labelWidth - rightMargin) * ratio) / largest;
  const marks: string[] = [];
  let y = top;
  for (const [title, group] of Map.groupBy(shown, ({ scenario }) => scenario.title)) {
    marks.push(text(12, y, title, 'group'));
    y += 10;
    for (const entry of group) {
      marks.push(...drawBar(entry, y, toX));
      y += barHeight + barGap;
    }
    y += groupGap - 10;
  }
  const height = y - 10;
  const axis = [0, 0.25, 0.5, 0.75, 1].flatMap((ratio) => [
    `<line class="axis" x1="${round(toX(ratio))}" x2="${round(toX(ratio))}" y1="${top - 14}" y2="${height - 18}"/>`,
    text(toX(ratio) - 8, height - 4, String(ratio)),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${heading}</title>`,
    `<style>${style}\n</style>`,
    text(12, 24, heading, 'title'),
    ...axis,
    ...marks,
    '</svg>\n',
  ].join('\n');
}

function drawBar({ subject, ratio }: Measured, y: number, toX: (ratio: number) => number): string[] {
  const middle = y + barHeight / 2;
  const kind = subject === service.name ? 'bar own' : 'bar';
  const barWidth = Math.max(1, toX(ratio.median) - toX(0));
  return [
    text(24, middle + 4, subject),
    `<rect class="${kind}" x="${labelWidth}" y="${y}" width="${round(barWidth)}" height="${barHeight}" rx="2"/>`,
    `<line class="spread" x1="${round(toX(ratio.min))}" x2="${round(toX(ratio.max))}" y1="${middle}" y2="${middle}"/>`,
    text(toX(ratio.max) + 6, middle + 4, formatRatio(ratio.median)),
  ];
}

function text(x: number, y: number, content: string, kind?: string): string {
  const attribute = kind === undefined ? '' : ` class="${kind}"`;
  return `<text x="${round(x)}" y="${y}"${attribute}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
