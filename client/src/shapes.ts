import { shapes } from './generated.ts';

/** The value that `readShape` returns for a value of another shape. */
export const mismatch: unique symbol = Symbol('mismatch');

const primitives: Readonly<Record<string, (value: unknown) => unknown>> = {
  string: (value) => (typeof value === 'string' ? value : mismatch),
  boolean: (value) => (typeof value === 'boolean' ? value : mismatch),
  bigint: (value) => (typeof value === 'bigint' ? value : mismatch),
  number: (value) =>
    typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? value : mismatch,
  object: (value) => (typeof value === 'object' && value !== null ? value : mismatch),
  any: (value) => (typeof value === 'bigint' ? Number(value) : value),
};

/**
 * Checks a body that `parseExactJson` parsed against a kind in `shapes`, and returns it. Integers that no number rounds
 * become numbers. Unknown fields are kept, because a newer service may add some. Returns `mismatch` if the value has
 * another shape.
 */
export function readShape(kind: string, value: unknown): unknown {
  if (kind.endsWith('?')) return value == null ? value : readShape(kind.slice(0, -1), value);
  if (kind.endsWith('[]')) {
    if (!Array.isArray(value)) return mismatch;
    const items = value.map((item) => readShape(kind.slice(0, -2), item));
    return items.includes(mismatch) ? mismatch : items;
  }
  const primitive = primitives[kind];
  if (primitive !== undefined) return primitive(value);
  if (typeof value !== 'object' || value === null) return mismatch;
  const read: Record<string, unknown> = { ...value };
  for (const [field, fieldKind] of Object.entries<string>(shapes[kind as keyof typeof shapes])) {
    const member = readShape(fieldKind, read[field]);
    if (member === mismatch) return mismatch;
    if (field in read) read[field] = member;
  }
  return read;
}
