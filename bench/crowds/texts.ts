import { generateKey } from '../../src/accounts/api-key.ts';
import type { Request } from '../exchange.ts';

/** A part of a text that is a new number in each request. */
export const newNumber = '{number}';

/** Enough keys that few are asked for twice in a run. */
const strangers = 20_000;

/** Formats a request as it is sent. */
export function formatRequest({ method, path, body }: Request, key: string, idempotencyKey?: string): string {
  const lines = ['Host: 127.0.0.1', `Authorization: Bearer ${key}`];
  if (idempotencyKey !== undefined) lines.push(`Idempotency-Key: ${idempotencyKey}`);
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Returns a function that returns the texts in turn. The key of each stranger has a valid checksum and is unknown. */
export function createTexts(given: readonly string[] | 'strangers'): () => string {
  const texts = given === 'strangers' ? Array.from({ length: strangers }, writeStranger) : given;
  let sent = 0;
  return () => {
    const text = texts[sent % texts.length] ?? '';
    sent += 1;
    return text.replace(newNumber, String(sent));
  };
}

function writeStranger(): string {
  return formatRequest({ method: 'GET', path: '/v1/pets' }, generateKey('live'));
}
