import type { Comparison } from './comparison.ts';
import { floorOf, isGoalMet, type Verdict } from './goals.ts';
import type { Measured } from './rounds.ts';

/**
 * Formats the comparisons as a Markdown table with one row for each scenario. The last two columns are those of writes
 * (floorOf).
 */
export function formatComparisons(comparisons: readonly Comparison[]): string {
  const numbers = ['CPU µs', 'bare CPU µs', 'ratio', 'at most', 'SQLite CPU µs', 'of the floor', 'met'];
  return formatTable(
    ['scenario', '', ...numbers, 'req/s', 'p99 ms'],
    comparisons.map((comparison) => {
      const { own, base, sqliteUs } = comparison;
      return [
        own.scenario.name,
        own.scenario.title,
        own.cpuUs.toFixed(1),
        base.cpuUs.toFixed(1),
        own.ratio.toFixed(2),
        own.scenario.ratioMax?.toString() ?? '-',
        sqliteUs?.toFixed(1) ?? '-',
        floorOf(comparison)?.times.toFixed(2) ?? '-',
        formatMet(isGoalMet(comparison)),
        formatCount(own.requestsPerSecond),
        own.p99Ms.toFixed(1),
      ];
    }),
  );
}

/** Formats a Markdown table with one row for each subject in each scenario. */
export function formatSubjects(comparisons: readonly Comparison[]): string {
  return formatTable(
    ['scenario', 'server', 'CPU µs', 'ratio', 'req/s', 'p99 ms', 'RSS MiB', 'cold start ms'],
    comparisons.flatMap(({ base, own, others }) => [base, own, ...others].map(toSubjectRow)),
  );
}

/** Formats the comparisons that have more than two subjects. Returns an empty text if there are none. */
export function formatOthers(comparisons: readonly Comparison[]): string {
  const larger = comparisons.filter(({ others }) => others.length > 0);
  return larger.length === 0 ? '' : `\n${formatSubjects(larger)}`;
}

function toSubjectRow(measured: Measured): string[] {
  return [
    measured.scenario.title,
    measured.subject,
    measured.cpuUs.toFixed(1),
    measured.ratio.toFixed(2),
    formatCount(measured.requestsPerSecond),
    measured.p99Ms.toFixed(1),
    measured.memoryMib.toFixed(0),
    measured.coldStartMs.toFixed(0),
  ];
}

export function toJson(comparisons: readonly Comparison[]): object[] {
  return comparisons.map((comparison) => {
    const { own, base } = comparison;
    return {
      name: own.scenario.name,
      title: own.scenario.title,
      cpuUs: own.cpuUs,
      bareCpuUs: base.cpuUs,
      ratio: own.ratio,
      ratioMax: own.scenario.ratioMax,
      sqliteUs: comparison.sqliteUs,
      timesOfFloor: floorOf(comparison)?.times ?? null,
      isMet: isGoalMet(comparison),
      requestsPerSecond: own.requestsPerSecond,
      bareRequestsPerSecond: base.requestsPerSecond,
      p99Ms: own.p99Ms,
    };
  });
}

/** Formats the goals with the measured values as a Markdown table. */
export function formatVerdicts(verdicts: readonly Verdict[]): string {
  return formatTable(
    ['goal', 'wanted', 'measured', 'met'],
    verdicts.map(({ goal, wanted, measured, isMet }) => [goal, wanted, measured, formatMet(isMet)]),
  );
}

export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = headings.map(() => '---');
  return [headings, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

export function formatMet(isMet: boolean | null): string {
  if (isMet === null) return '-';
  return isMet ? 'yes' : '**no**';
}

function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}
