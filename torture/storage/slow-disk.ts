import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A disk with delayed syncs, for a process that is started with `settings`. */
export interface SlowDisk {
  readonly settings: Readonly<Record<string, string>>;
  /** Delays each sync from now on. */
  delay(ms: number): void;
  /** Makes each sync hang from now on, until the next call. */
  hold(): void;
  /** Resolves when a sync that began after the last `delay` or `hold` hangs or is delayed. */
  untilInSync(): Promise<void>;
}

/** Builds the library that delays syncs, or returns the reason why this machine cannot. */
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
