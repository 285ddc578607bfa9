import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from './stryker.ts';

const page = join(import.meta.dirname, '..', 'docs', 'mutation-testing.md');
const start = '<!-- mutation -->';
const end = '<!-- end of mutation -->';

export function writeVerdicts(verdicts: readonly Verdict[]): void {
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${page} has no ${start} … ${end}`);
  const tables = [formatScores(verdicts), formatSurvivors(verdicts)].join('\n\n');
  writeFileSync(page, `${text.slice(0, from)}${start}\n\n${tables}\n\n${text.slice(to)}`);
}

function formatScores(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(
    ({ target, mutants, killed }) =>
      `| \`${target.file}\` | ${mutants} | ${killed} | ${formatShare(killed, mutants)} | ${target.killedMin === null ? '' : `${target.killedMin} %`} |`,
  );
  return ['| File | Mutants | Killed | Share | At least |', '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

function formatSurvivors(verdicts: readonly Verdict[]): string {
  const rows = verdicts.flatMap(({ target, survivors }) =>
    survivors.map(
      ({ line, from, to }) => `| \`${target.file}\`, line ${line} | ${quote(from)} | ${quote(to)} |`,
    ),
  );
  return ['| Survivor | From | To |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Formats a share in percent, rounded down. */
export function formatShare(killed: number, mutants: number): string {
  return `${Math.floor((100 * killed) / Math.max(1, mutants))} %`;
}

const codeLengthMax = 70;

/** Formats code as one line for a table cell, with at most 70 characters. */
export function quote(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  const short = line.length > codeLengthMax ? `${line.slice(0, codeLengthMax)}…` : line;
  return `\`\`\` ${short.replaceAll('|', '\\|')} \`\`\``;
}
