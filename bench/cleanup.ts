import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const actions = new Set<() => void>();

/** Has something done when the process ends, however it ends but by SIGKILL; the result takes it back. */
export function atExit(action: () => void): () => void {
  if (actions.size === 0) listen();
  actions.add(action);
  return () => actions.delete(action);
}

/** A folder that is removed when the process ends. */
export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-bench-'));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let isListening = false;

function listen(): void {
  if (isListening) return;
  isListening = true;
  process.once('exit', () => {
    for (const action of [...actions].reverse()) action();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
}
