import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSnapshot, startCpuProfile } from 'node:v8';
import Type from 'typebox';
import { secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { compileBody } from '../http/bind-operation.ts';
import { readToken } from '../http/request/gate.ts';
import { type Answer, listHeaders, makeAnswer } from '../http/response/answer.ts';
import { plainRoute, type Route } from '../http/route.ts';
import { enumField, wholeNumberField } from '../schema.ts';
import { type ProfileKind, profileKinds, profilePath, profileSecondsMax } from './session-changes.ts';
import type { Sessions } from './sessions.ts';

const fields = Type.Object({
  kind: enumField(profileKinds, 'What the profile is of.'),
  seconds: wholeNumberField('The length of a CPU profile.', { minimum: 1, maximum: profileSecondsMax }),
});

const isBusy = new AppError('not_done', 'this instance takes another profile: try again when it is done');
const badPass = new AppError(
  'token_invalid',
  'this pass was used before, has expired, or is for another store or another kind of profile',
);

/**
 * Creates the route from which the command `profile` reads. Only a command can make the pass for it, so it needs the shell
 * of the service: a heap snapshot has every secret of the process.
 */
export function createProfileRoute({ takePass }: Pick<Sessions, 'takePass'>): Route {
  let isRunning = false;
  return {
    ...plainRoute,
    method: 'POST',
    path: profilePath,
    access: 'operator',
    body: compileBody(fields),
    async run({ headers, body }) {
      const { kind, seconds } = body as { readonly kind: ProfileKind; readonly seconds: bigint | number };
      const pass = readToken(headers.authorization);
      if (pass === null || !(await takePass(kind, pass))) throw badPass;
      if (isRunning) throw isBusy;
      const end = () => {
        isRunning = false;
      };
      const answer = kind === 'heap' ? streamHeap(end) : profileCpu(Number(seconds)).finally(end);
      // Only now, because a snapshot that V8 refuses throws above, and no `close` follows.
      isRunning = true;
      return await answer;
    },
  };
}

/** Only of the main thread, on which all requests run. */
async function profileCpu(seconds: number): Promise<Answer> {
  const profile = startCpuProfile();
  await sleep(seconds * secondMs);
  return makeAnswer(200, profile.stop());
}

/** Nothing else runs in the process while V8 makes the snapshot. It may be too long for one text, so it is a stream. */
function streamHeap(onClose: () => void): Answer {
  const stream = getHeapSnapshot().once('close', onClose);
  const bodyHeaders = listHeaders({ 'content-type': 'application/json' });
  return { status: 200, headers: [], bodyHeaders, body: null, stream, etag: null };
}
