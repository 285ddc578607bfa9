import type { DescribedOperation, Header } from './description.ts';

/** The headers of every answer of every operation, by name. */
export function findCommonHeaders(operations: readonly DescribedOperation[]): ReadonlyMap<string, Header> {
  const all = operations.flatMap(({ responses }) => responses.map(({ headers }) => headers));
  const [first = {}, ...others] = all;
  return new Map(Object.entries(first).filter(([name]) => others.every((headers) => name in headers)));
}

/** Every header by name with its different descriptions, in the order of the operations. */
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
