import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from './scenario.ts';

/** A scenario that passed, with the options to repeat it. */
export interface Row {
  readonly name: string;
  readonly outcome: Outcome;
  readonly seed: number;
  readonly scale: number;
  readonly seconds: number;
  /** In the form 2027-01-02. */
  readonly day: string;
}

const page = join(import.meta.dirname, '..', 'docs', 'operations', 'fault-runs.md');
const start = '<!-- torture -->';
const end = '<!-- end of torture -->';
const head =
  '| What was done | What clients saw | What was lost | Recovered | Scenario |\n| --- | --- | --- | --- | --- |';

export function describeMachine(): string {
  return `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}

/** Writes rows into the fault table of docs/operations/fault-runs.md. A new row replaces the row with the same name. */
export function writeRows(rows: readonly Row[], order: readonly string[]): void {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`${page} has no ${start} … ${end}`);
  const table = mergeRows(text.slice(from, to), rows, order);
  const machine = `Run on ${describeMachine()}, Node ${process.version.slice(1)}.`;
  writeFileSync(page, `${text.slice(0, from)}${start}\n\n${machine}\n\n${table}\n\n${text.slice(to)}`);
}

/** Merges new rows into a Markdown table. `order` lists the names of the scenarios. */
export function mergeRows(table: string, rows: readonly Row[], order: readonly string[]): string {
  const lines = new Map<string, string>();
  for (const line of table.split('\n')) {
    const [, name] = /\| `([^`]+)`, seed [^|]+\|$/.exec(line) ?? [];
    if (name !== undefined) lines.set(name, line);
  }
  for (const row of rows) lines.set(row.name, formatRow(row));
  return [head, ...order.flatMap((name) => lines.get(name) ?? [])].join('\n');
}

function formatRow({ name, outcome: { done, seen, lost, well }, seed, scale, day, seconds }: Row): string {
  const cells = [
    done,
    seen,
    lost,
    well,
    `\`${name}\`, seed ${seed}${scale === 1 ? '' : `, scale ${scale}`}, ${day}, ${Math.round(seconds)} s`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
