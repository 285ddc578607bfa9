import type { Verdict } from './goals.ts';
import type { Measured } from './rounds.ts';
import type { Spread } from './statistics.ts';
import { bare } from './subjects.ts';

/** Everything that a comparison has found, as Markdown. */
export function formatReport(measured: readonly Measured[], verdicts: readonly Verdict[]): string {
  const parts = [formatMeasured(measured), ...findWarnings(measured), formatVerdicts(verdicts)];
  return `${parts.map((part) => part.trimEnd()).join('\n\n')}\n`;
}

function formatMeasured(measured: readonly Measured[]): string {
  const rows = measured.map((entry) => [
    entry.scenario.title,
    entry.subject,
    formatSpread(entry.ratio),
    Math.round(entry.requestsPerSecond).toLocaleString('en'),
    `${formatMs(entry.p50Ms)} / ${formatMs(entry.p99Ms)}`,
    entry.cpuUs?.toFixed(1) ?? '-',
    entry.memoryMib?.toFixed(0) ?? '-',
    entry.coldStartMs.toFixed(0),
  ]);
  return formatTable(
    ['scenario', 'server', 'ratio (min..max)', 'req/s', 'p50 / p99 ms', 'CPU µs', 'RSS MiB', 'cold start ms'],
    rows,
  );
}

/** The goals with what was measured; nothing where there are none. */
export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ goal, wanted, measured, isMet }) => [
    goal,
    wanted,
    measured,
    isMet ? 'yes' : '**no**',
  ]);
  return rows.length === 0 ? '' : formatTable(['goal', 'wanted', 'measured', 'met'], rows);
}

/** Below this share of its core a bare server waits for the load generator, and is no limit. */
const fullCoreShare = 0.9;

function findWarnings(measured: readonly Measured[]): string[] {
  const idle = measured
    .filter(({ scenario, subject }) => subject === bare.name && scenario.connections > 1)
    .filter(({ coreShare }) => coreShare !== null && coreShare < fullCoreShare)
    .map(({ scenario, coreShare }) => `${scenario.title} (${coreShare?.toFixed(2)})`);
  if (idle.length === 0) return [];
  return [
    `Beware: the bare server did not use the whole of its core in: ${idle.join(', ')}. The load generator or other work on the machine held it back, so the ratios there flatter the others.`,
  ];
}

/** A Markdown table. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = headings.map(() => '---');
  return [headings, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

export function formatSpread({ median, min, max }: Spread): string {
  return `${formatRatio(median)} (${formatRatio(min)}..${formatRatio(max)})`;
}

/** Two digits behind the point, three of a small number, one of a large one. */
export function formatRatio(ratio: number): string {
  const digits = ratio < 0.095 ? 3 : ratio < 9.95 ? 2 : 1;
  return ratio.toFixed(digits);
}

function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0);
}
