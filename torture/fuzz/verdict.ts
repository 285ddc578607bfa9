import { type Call, findOperation, isStrict, type KeyKind } from './call.ts';

const lackedScope: Partial<Record<KeyKind, string>> = { reader: 'createPet', writer: 'listPets getPet' };
const parameters: Readonly<Record<string, readonly string[]>> = {
  listPets: ['limit', 'status', 'categoryId', 'id', 'cursor'],
};
const fields = ['name', 'categoryId', 'status'];

/**
 * The statuses with which a call may be answered, by the description alone: of several faults any may be told, a call
 * without one must succeed.
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

/** Changing and deleting an animal asks for a scope that none of the keys has. */
function isForManagers({ method, place }: Call): boolean {
  return place.kind !== 'collection' && ['PATCH', 'DELETE'].includes(method);
}

/** Without a valid key: 401 wherever a key is needed, or 429 where the address has gone too far. */
function judgeKey({ key, place }: Call): readonly number[] | null {
  if (key === 'exhausted') return [429];
  if (key === 'ample' || key === 'reader' || key === 'writer') return null;
  const isOutside = place.kind === 'elsewhere' && place.text.startsWith('/../');
  return isOutside ? [401, 404, 429] : [401, 429];
}

type Operation = NonNullable<ReturnType<typeof findOperation>>;

/**
 * Under an Idempotency-Key a retry while the first is running is 409, another body 422. Nothing is 304 that was not
 * asked for with a condition; an animal that was added is there.
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
