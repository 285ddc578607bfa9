import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const actions = new Set<() => void>();

/** Runs an action when the process ends, except by SIGKILL. Returns a function that cancels the action. */
export function atExit(action: () => void): () => void {
  if (actions.size === 0) listen();
  actions.add(action);
  return () => actions.delete(action);
}

/** Creates a folder that is removed when the process ends. */
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
