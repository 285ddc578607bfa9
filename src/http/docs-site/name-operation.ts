import type { Operation } from '../operation.ts';

/** Returns the name of an operation in URLs, such as `list-pets`. */
export function nameOperation({ id }: Pick<Operation, 'id'>): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
