import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deprecationHeaders, getPetDates } from '../src/http/deprecation.ts';
import { createReadyAnswers, makeReadyAnswer } from '../src/http/ready-answers.ts';

/** Measures what an answer that is kept ready holds, in bytes of the heap: `node bench/ready-memory.ts`. */
const count = 100_000;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const stamp = { newestId: BigInt(count), edits: 0n };
const ready = createReadyAnswers(() => stamp, Date.now);
const headers = deprecationHeaders({ ...getPetDates, successor: '/v1/pets' });

collect();
const before = process.memoryUsage().heapUsed;
let textBytes = 0;
for (let id = 1; id <= count; id += 1) {
  const body = `{"id":${id},"name":"Animal ${id}","categoryId":${id % 50},"status":"available"}`;
  const target = `/v1/pets/${id}`;
  const answer = makeReadyAnswer('getPet', body, headers);
  textBytes += target.length + body.length + answer.lines.length;
  ready.keep(target, answer, { until: 'edited', endsAtMs: getPetDates.removedAtMs }, stamp);
}
collect();
const held = process.memoryUsage().heapUsed - before;
process.stdout.write(
  `${Math.round(held / count)} bytes an answer, ${Math.round((held - textBytes) / count)} of them besides its texts; ` +
    `${ready.find('/v1/pets/1') === null ? 'the first is dropped' : 'all are kept'}\n`,
);
