import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Delays the disk syncs of each process that is started with `settings`. */
export interface SlowDisk {
  readonly settings: Readonly<Record<string, string>>;
  /** Delays each later sync. 0 ends the delay. */
  delay(ms: number): void;
  /** Makes each later sync hang until the next call of `delay`. */
  hold(): void;
  /** Resolves when a sync has begun after the last call of `delay` or `hold`. */
  untilInSync(): Promise<void>;
}

/** Compiles the library that delays syncs. Returns the problem if this machine cannot compile it. */
export function buildSlowDisk(folder: string): SlowDisk | { readonly problem: string } {
  const library = join(folder, 'slow-disk.so');
  const order = join(folder, 'slow-disk');
  const source = join(import.meta.dirname, 'slow-disk.c');
  const { status, stderr, error } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (status !== 0) return { problem: `no C compiler builds the slow disk: ${error?.message ?? stderr}` };
  const countEntered = () => (existsSync(`${order}.entered`) ? statSync(`${order}.entered`).size : 0);
  let enteredBefore = 0;

  function say(text: string): void {
    enteredBefore = countEntered();
    writeFileSync(order, text);
  }

  return {
    settings: { LD_PRELOAD: library, SLOW_DISK: order },
    delay: (ms) => say(ms === 0 ? '' : String(ms)),
    hold: () => say('hold'),
    async untilInSync() {
      while (countEntered() === enteredBefore) await pause(1);
    },
  };
}
