import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deprecationHeaders, getPetDates } from '../src/http/deprecation.ts';
import { toLines } from '../src/http/head.ts';
import { createReadyAnswerMaker, createReadyAnswers, type ReadyAnswer } from '../src/http/ready-answers.ts';
import type { Stamp } from '../src/pets/stamps.ts';

/**
 * Measures what an answer that is kept ready holds, in bytes of the heap: `node bench/ready-memory.ts`. Each is of a state of
 * the store of its own, as where an animal is added before each.
 */
const count = 50_000;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const dates = deprecationHeaders({ ...getPetDates, successor: '/v1/pets' });
const makePetAnswer = createReadyAnswerMaker('getPet', dates);
const makePageAnswer = createReadyAnswerMaker('listPets');

function makeAnimal(id: number): ReadyAnswer {
  const body = `{"id":${id},"name":"Animal ${id}","categoryId":${id % 50},"status":"available"}`;
  return makePetAnswer(body);
}

function makePage(id: number): ReadyAnswer {
  const link = `<https://animals.example/v1/pets?limit=1&cursor=${id.toString(36).padStart(44, '0')}>; rel="next"`;
  return makePageAnswer(`[${makeAnimal(id).body}]`, toLines({ link }));
}

interface Kind {
  readonly what: string;
  readonly path: string;
  readonly make: (id: number) => ReadyAnswer;
}

function measure({ what, path, make }: Kind): void {
  let stamp: Stamp | null = null;
  const ready = createReadyAnswers(() => stamp, Date.now);
  collect();
  const before = process.memoryUsage().heapUsed;
  let textBytes = 0;
  for (let id = 1; id <= count; id += 1) {
    const answer = make(id);
    const target = `${path}${id}`;
    textBytes += target.length + answer.body.length + answer.lines.length;
    stamp = { newestId: BigInt(id), edits: BigInt(count) };
    ready.keep(target, answer, { until: 'edited' }, stamp);
  }
  collect();
  const held = process.memoryUsage().heapUsed - before;
  const areAllKept = ready.find(`${path}1`) !== null;
  process.stdout.write(
    `${what}: ${Math.round(held / count)} bytes, ${Math.round((held - textBytes) / count)} of them besides its texts; ` +
      `${areAllKept ? 'all are kept' : 'the first is dropped'}\n`,
  );
}

measure({ what: 'an animal', path: '/v1/pets/', make: makeAnimal });
measure({ what: 'a page', path: '/v1/pets?limit=1&cursor=', make: makePage });
