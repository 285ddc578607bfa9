/** `node bench/usage-note.ts` measures the CPU time for counting one request in the usage of its account. */
import { systemClock } from '../src/clock.ts';
import type { Database } from '../src/storage/database.ts';
import { createUsageCounts } from '../src/usage/usage.ts';

const accounts = 1_000;
const rounds = 9;
const notesPerRound = 2_000_000;

/** The database is null, because this program never flushes the counts. */
const counts = createUsageCounts(null as unknown as Database, systemClock);
const callers = Array.from({ length: accounts }, (_, index) => ({ accountId: BigInt(index + 1) }));
const [first = { accountId: 0n }] = callers;

function measure(): number {
  const { user, system } = process.cpuUsage();
  for (let note = 0; note < notesPerRound; note += 1)
    counts.note(callers[note % accounts] ?? first, note % 50 === 0 ? 429 : 200);
  const used = process.cpuUsage();
  return (used.user + used.system - user - system) / notesPerRound;
}

measure();
const microseconds = Array.from({ length: rounds }, measure).sort((one, other) => one - other);
const median = microseconds[Math.floor(rounds / 2)] ?? Number.NaN;
process.stdout.write(
  `a note takes ${median.toFixed(3)} us of CPU (${rounds} rounds of ${notesPerRound}, ${accounts} accounts)\n`,
);
