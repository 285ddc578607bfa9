import type { DescribedOperation, Header } from './description.ts';

/** Returns the headers that every response of every operation has, by name. */
export function findCommonHeaders(operations: readonly DescribedOperation[]): ReadonlyMap<string, Header> {
  const all = operations.flatMap(({ responses }) => responses.map(({ headers }) => headers));
  const [first = {}, ...others] = all;
  return new Map(Object.entries(first).filter(([name]) => others.every((headers) => name in headers)));
}

/** Returns all headers by name. A name has several entries if its description differs between operations. */
export function listHeaders(
  operations: readonly DescribedOperation[],
): ReadonlyMap<string, readonly Header[]> {
  const found = new Map<string, Header[]>();
  for (const { responses } of operations)
    for (const { headers } of responses)
      for (const [name, header] of Object.entries(headers)) {
        const known = found.get(name) ?? [];
        if (!known.includes(header)) found.set(name, [...known, header]);
      }
  return found;
}
