import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';

/**
 * Checks the Python files with Ruff, or formats them with `--write`. The files are those of the client and of its tests.
 * Ends with 1 if a file has a problem.
 */
const workspace = new Workspace(
  {
    'line-length': 99,
    'target-version': 'py311',
    lint: {
      select: ['E', 'W', 'F', 'I', 'N', 'UP', 'B', 'SIM', 'C4', 'RET', 'RUF', 'D2', 'D3', 'D4'],
      pydocstyle: { convention: 'pep257' },
    },
  },
  PositionEncoding.Utf16,
);
const isWriting = process.argv.includes('--write');
const problems: string[] = [];

for (const file of globSync('{*.py,*/*.py}', { cwd: import.meta.dirname }).sort()) {
  const path = `${import.meta.dirname}/${file}`;
  const source = readFileSync(path, 'utf8');
  const formatted = workspace.format(source);
  if (isWriting && formatted !== source) writeFileSync(path, formatted);
  else if (formatted !== source) problems.push(`${name(path)}: run "npm run format"`);
  for (const { code, message, start_location } of workspace.check(formatted))
    problems.push(`${name(path)}:${start_location.row}: ${code} ${message}`);
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function name(path: string): string {
  return relative(process.cwd(), path);
}
