import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from './targets.ts';

/** The result of mutation testing for one target. */
export interface Verdict {
  readonly target: Target;
  /** Number of mutants, without ignored ones and those that do not compile. */
  readonly mutants: number;
  readonly killed: number;
  readonly survivors: readonly Survivor[];
}

/** A mutant that no test detected. */
export interface Survivor {
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

interface Report {
  readonly files: Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>;
}

interface Mutant {
  readonly status: string;
  readonly replacement: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

/** A position in a source file. The first line and the first column are 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

const program = join(import.meta.dirname, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const preload = join(import.meta.dirname, 'activate-in-threads.ts');
/** A timeout counts as killed, because the mutant may loop forever. The time is long enough for a busy machine. */
const timeoutMs = 30_000;

/** Runs the tests of a target on each mutant of its file. Throws if the tests fail on the unchanged file. */
export async function mutate(target: Target): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-mutation-'));
  try {
    const [config, report] = [join(folder, 'stryker.json'), join(folder, 'report.json')];
    await writeFile(config, JSON.stringify(configure(target, folder, report)));
    const child = spawn(process.execPath, [program, 'run', config], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = child.stdout.setEncoding('utf8').toArray();
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`Stryker ended with ${code}: ${(await said).join('')}`);
    return judge(target, JSON.parse(await readFile(report, 'utf8')));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function configure({ file, tests }: Target, folder: string, report: string) {
  const command = tests.map((test) => `"${process.execPath}" --import="${preload}" ${test}`).join(' && ');
  return {
    mutate: [file],
    testRunner: 'command',
    commandRunner: { command },
    coverageAnalysis: 'off',
    concurrency: 2,
    timeoutMS: timeoutMs,
    tempDirName: join(folder, 'copy'),
    ignorePatterns: ['**', '!src/**', '!test/**', '!package.json'],
    reporters: ['json'],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
  };
}

function judge(target: Target, report: Report): Verdict {
  const { source = '', mutants = [] } = report.files[target.file] ?? {};
  const counted = mutants.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError');
  const survived = counted.filter(({ status }) => status !== 'Killed' && status !== 'Timeout');
  return {
    target,
    mutants: counted.length,
    killed: counted.length - survived.length,
    survivors: survived.map(({ location, replacement }) => ({
      line: location.start.line,
      from: cut(source, location),
      to: replacement,
    })),
  };
}

function cut(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, at) => line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : undefined))
    .join('\n');
}
