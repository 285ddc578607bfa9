import { html } from 'htm/preact';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatTime } from './format.ts';

const height = 180;
/** Lines differ in more than their colour. The first has no gaps. */
const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

type Span = readonly [from: number, to: number];
type Format = (value: number | null) => string;

interface PlotProps {
  readonly title: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  /** The start and the end of the time axis, in Unix seconds. */
  readonly span: Span;
  readonly series: readonly string[];
  /** A list for each series. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly format: Format;
}

/** Returns the colours of the style sheet, because a canvas cannot use CSS variables. */
function readColours(element: HTMLElement) {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: read('--plot-text'),
    grid: read('--plot-grid'),
    lines: ['--plot-1', '--plot-2', '--plot-3', '--plot-4'].map(read),
  };
}

/** The part of a time that differs between the marks of an axis: the hour, or the day at midnight. */
function formatClock(seconds: number): string {
  const time = new Date(seconds * 1000).toISOString();
  return time.slice(11, 16) === '00:00' ? time.slice(5, 10) : time.slice(11, 16);
}

/** Shows the last values in the legend, unless the pointer is at others. */
function showLast(plot: uPlot): void {
  const [times] = plot.data;
  if (typeof plot.cursor.idx !== 'number' && times.length > 0)
    plot.setLegend({ idx: times.length - 1 }, false);
}

function describeOptions(
  element: HTMLElement,
  { series, format }: PlotProps,
  span: RefObject<Span>,
): uPlot.Options {
  const { text, grid, lines } = readColours(element);
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid } };
  return {
    hooks: { draw: [showLast], setCursor: [showLast] },
    width: element.clientWidth,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    axes: [
      { ...axis, values: (_, times) => times.map(formatClock) },
      { ...axis, size: 64, values: (_, values) => values.map(format) },
    ],
    scales: {
      x: { range: () => [...span.current] },
      y: { range: (_, min, max) => [Math.min(0, min ?? 0), max > 0 ? max * 1.1 : 1] },
    },
    series: [
      { label: 'Time', value: (_, seconds) => formatTime(seconds === null ? null : seconds * 1000) },
      ...series.map((label, index) => ({
        label,
        stroke: lines[index] ?? text,
        width: 2,
        points: { size: 5 },
        dash: dashes[index] ?? [],
        value: (_: uPlot, value: number | null) => format(value),
      })),
    ],
  };
}

/** A line chart over time. A text for screen readers has the last and the highest values. */
export function Plot(props: PlotProps) {
  const { title, times, span, values } = props;
  const place = useRef<HTMLElement | null>(null);
  const plot = useRef<uPlot | null>(null);
  const data: uPlot.AlignedData = [[...times], ...values.map((list) => [...list])];
  const axis = useRef(span);
  axis.current = span;

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(describeOptions(element, props, axis), data, element);
    };
    draw();
    const sizes = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    sizes.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      sizes.disconnect();
      scheme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.setData(data));

  const [from, to] = span.map((seconds) => new Date(seconds * 1000).toISOString());
  return html`<figure class="plot" data-from=${from} data-to=${to}>
    <figcaption>${title}</figcaption>
    <div ref=${place} aria-hidden="true"></div>
    <p class="unseen">${describe(props)}</p>
  </figure>`;
}

function describe({ title, times, series, values, format }: PlotProps): string {
  if (times.length === 0) return `${title}: no values yet`;
  const parts = series.map((name, index) => {
    const given = (values[index] ?? []).filter((value) => value !== null);
    if (given.length === 0) return `${name}: nothing`;
    return `${name}: last ${format(given.at(-1) ?? null)}, highest ${format(Math.max(...given))}`;
  });
  return `${title}. ${parts.join('; ')}.`;
}
