import { type Call, findOperation, isStrict, type KeyKind } from './call.ts';

const lackedScope: Partial<Record<KeyKind, string>> = { reader: 'createPet', writer: 'listPets getPet' };
const parameters: Readonly<Record<string, readonly string[]>> = {
  listPets: ['limit', 'status', 'categoryId', 'id', 'cursor'],
};
const fields = ['name', 'categoryId', 'status'];

/**
 * Returns the statuses that the description allows for a call. If a call has several faults, the service may report
 * any of them. A call without a fault must succeed.
 */
export function foresee(call: Call): readonly number[] {
  const byKey = judgeKey(call);
  if (byKey !== null) return byKey;
  if (call.place.kind === 'malformed') return [400];
  if (call.place.kind === 'elsewhere') return [404];
  const operation = findOperation(call);
  if (operation === null) return isForManagers(call) ? [403] : [405];
  if (lackedScope[call.key]?.includes(operation)) return [403];
  const faults = listFaults(call, operation);
  return faults.length > 0 ? faults : foreseeSuccess(call, operation);
}

/** True for a change or deletion of an animal. It needs a scope that none of the keys has. */
function isForManagers({ method, place }: Call): boolean {
  return place.kind !== 'collection' && ['PATCH', 'DELETE'].includes(method);
}

/**
 * Returns the statuses for a key that is not accepted, or null for a valid key. A request without a valid key gets 401,
 * or 429 if the address has exceeded its limit.
 */
function judgeKey({ key, place }: Call): readonly number[] | null {
  if (key === 'exhausted') return [429];
  if (key === 'ample' || key === 'reader' || key === 'writer') return null;
  const isOutside = place.kind === 'elsewhere' && place.text.startsWith('/../');
  return isOutside ? [401, 404, 429] : [401, 429];
}

type Operation = NonNullable<ReturnType<typeof findOperation>>;

/**
 * Returns the statuses of a call without a fault:
 * - With an Idempotency-Key, a retry gets 409 while the first request runs, and another body gets 422.
 * - Only a conditional request may get 304.
 * - An animal that an earlier call added never gets 404.
 */
function foreseeSuccess({ headers, place }: Call, operation: Operation): number[] {
  const has = (header: string) => headers.some(({ name }) => name === header);
  if (operation === 'createPet') return has('Idempotency-Key') ? [201, 409, 422] : [201];
  const found = has('If-None-Match') ? [200, 304] : [200];
  return place.kind === 'id' ? [...found, 404] : found;
}

function listFaults(call: Call, operation: Operation): number[] {
  const { query, headers, body } = call;
  const known = parameters[operation] ?? [];
  const faults = [...query.filter(({ name }) => known.includes(name)), ...headers].map(({ fault }) => fault);
  if (isStrict(call) && query.some(({ name }) => !known.includes(name))) faults.push(400);
  if (operation === 'createPet') {
    if (body === null) faults.push(400, 415);
    else faults.push(body.fault, ...body.headers.map(({ fault }) => fault));
    if (isStrict(call) && body?.fields?.some(({ name }) => !fields.includes(name))) faults.push(400);
  }
  return faults.filter((fault) => fault !== null);
}
